//! Errors of writing a dataset.

use std::path::PathBuf;

use crate::disk::DiskError;
use crate::manifest::MetadataError;
use crate::rows::WriteError;

/// The folder of a run that has not ended.
pub const PROGRESS: &str = ".progress";

/// Why a dataset cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// A step on the disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Metadata in the folder cannot be used.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// The folder has something in it.
    #[error("{} is not empty (it holds `{found}`); choose a new folder, or go on with an interrupted run by --resume", folder.display())]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
        /// One of the things in it.
        found: String,
    },
    /// There is nothing to go on with.
    #[error("{} holds `{found}` but no interrupted run, so there is nothing to resume; choose a new folder", folder.display())]
    NothingToResume {
        /// The folder.
        folder: PathBuf,
        /// One of the things in it.
        found: String,
    },
    /// The output path is something else than a folder.
    #[error("{} is a file, expected a folder", .0.display())]
    NotAFolder(PathBuf),
    /// Another process writes the folder.
    #[error("another process is writing {}; wait for it, or choose another folder", .0.display())]
    Locked(PathBuf),
    /// The folder holds another run.
    #[error("{} holds a run with another {difference}; use the same settings, or choose a new folder", folder.display())]
    OtherRun {
        /// The folder.
        folder: PathBuf,
        /// The key that differs, with both values.
        difference: String,
    },
    /// Rows could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Rows {
        /// The file.
        path: PathBuf,
        /// Why.
        source: WriteError,
    },
    /// A batch's rows are not those of the plan.
    #[error("batch {batch} of {file}: {what}")]
    Batch {
        /// The file.
        file: String,
        /// The batch.
        batch: u64,
        /// What is wrong.
        what: String,
    },
    /// A world cannot be stored.
    #[error("world `{world}`: {what}")]
    World {
        /// The world's id.
        world: String,
        /// What is wrong.
        what: String,
    },
    /// Files of the plan were not made.
    #[error("{missing} of the run's files are not made yet, the first is {first}")]
    Unfinished {
        /// How many.
        missing: usize,
        /// The first.
        first: String,
    },
}
