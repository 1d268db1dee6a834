//! Owns the local folder of a run with a model, for replies and the outputs of its steps.

use std::path::{Path, PathBuf};

use diorama_output::manifest::{Identity, MANIFEST, Manifest, QUALITY, STEPS};
use diorama_output::plan::{PlanSizes, Shard};
use diorama_output::storage::{Location, Storage};

use crate::cli::error::CliError;

/// File with the reason for which a dataset is smaller than requested.
const STOPPED: &str = "stopped.txt";

/// Folder of the steps. Each shard has its own.
pub struct StepsFolder {
    path: PathBuf,
    shard: Shard,
}

impl StepsFolder {
    /// Makes the named folder, or the one inside the dataset's folder.
    ///
    /// # Errors
    /// Returns an error if the dataset goes to an object store and no folder is named.
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

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Prepares to resume a stopped run. Its dataset is complete but smaller than requested, so it is removed
    /// and made again from its replies. The dataset of another run stays.
    ///
    /// # Errors
    /// Returns an error if files cannot be removed.
    pub fn reopen(&self, storage: &Storage, identity: &Identity, sizes: PlanSizes) -> Result<(), CliError> {
        let stopped = self.path.join(STOPPED);
        if !stopped.is_file() || storage.open_file(MANIFEST)?.is_none() {
            return Ok(());
        }
        let manifest = Manifest::read(storage)?;
        if manifest.identity() != *identity || manifest.plan != sizes {
            return Ok(());
        }
        // The manifest goes first, because a location without a manifest is not a dataset.
        for name in std::iter::once(MANIFEST).chain(manifest.files.keys().map(String::as_str)) {
            storage.remove(name)?;
        }
        Ok(std::fs::remove_file(stopped)?)
    }

    /// Writes the report on the run: beside the dataset, or in the folder of a shard.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write_quality(&self, storage: &Storage, text: &str) -> Result<(), CliError> {
        if self.shard == Shard::WHOLE {
            storage.write(QUALITY, text.as_bytes())?;
        } else {
            std::fs::write(self.path.join(QUALITY), text)?;
        }
        Ok(())
    }

    /// Writes the reason for which the dataset is smaller than requested.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write_stopped(&self, why: &str) -> Result<(), CliError> {
        Ok(std::fs::write(self.path.join(STOPPED), format!("{why}\n"))?)
    }
}
