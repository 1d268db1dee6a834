//! The local folder in which a run with a model keeps replies and what its steps made.

use std::path::{Path, PathBuf};

use diorama_output::manifest::{Identity, MANIFEST, Manifest, QUALITY, STEPS};
use diorama_output::plan::{PlanSizes, Shard};
use diorama_output::storage::{Location, Storage};

use crate::cli::error::CliError;

/// The file that says why a dataset is smaller than it was asked for.
const STOPPED: &str = "stopped.txt";

/// The folder. Each shard has its own.
pub struct StepsFolder {
    path: PathBuf,
    shard: Shard,
}

impl StepsFolder {
    /// The folder that was named, or the one inside the dataset's.
    ///
    /// # Errors
    /// When the dataset goes to an object store and no folder is named.
    pub fn new(named: Option<&Path>, out: &Location, shard: Shard) -> Result<Self, CliError> {
        let whole = match (named, out.as_local()) {
            (Some(path), _) => path.to_owned(),
            (None, Some(folder)) => folder.join(STEPS),
            (None, None) => {
                let what =
                    format!("--out {out} is no local folder, expected --steps DIR for the model's replies");
                return Err(CliError::Usage(what));
            }
        };
        let path = match shard {
            Shard::WHOLE => whole,
            _ => whole.join(shard.file_stem()),
        };
        Ok(Self { path, shard })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes room for going on with a run that was stopped: its dataset is whole but smaller, and is made again from its
    /// replies. Another run's dataset is left alone.
    ///
    /// # Errors
    /// When files cannot be removed.
    pub fn reopen(&self, storage: &Storage, identity: &Identity, sizes: PlanSizes) -> Result<(), CliError> {
        let stopped = self.path.join(STOPPED);
        if !stopped.is_file() || storage.open_file(MANIFEST)?.is_none() {
            return Ok(());
        }
        let manifest = Manifest::read(storage)?;
        if manifest.identity() != *identity || manifest.plan != sizes {
            return Ok(());
        }
        // The manifest first: a place without one is no dataset.
        for name in std::iter::once(MANIFEST).chain(manifest.files.keys().map(String::as_str)) {
            storage.remove(name)?;
        }
        Ok(std::fs::remove_file(stopped)?)
    }

    /// Writes the report on the run: beside the dataset, or in the folder of a shard.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_quality(&self, storage: &Storage, text: &str) -> Result<(), CliError> {
        if self.shard == Shard::WHOLE {
            storage.write(QUALITY, text.as_bytes())?;
        } else {
            std::fs::write(self.path.join(QUALITY), text)?;
        }
        Ok(())
    }

    /// Writes why the dataset is smaller than it was asked for.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_stopped(&self, why: &str) -> Result<(), CliError> {
        Ok(std::fs::write(self.path.join(STOPPED), format!("{why}\n"))?)
    }
}
