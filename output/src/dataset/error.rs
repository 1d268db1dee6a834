//! Errors of writing a dataset.

use crate::manifest::MetadataError;
use crate::rows::WriteError;
use crate::storage::StorageError;

/// The folder of a run that is not complete.
pub const PROGRESS: &str = ".progress";

/// The reason for which a dataset cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Metadata at the location cannot be used.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// The location is not empty.
    #[error(
        "{place} is not empty (it holds `{found}`); choose a new one, or go on with an interrupted run by --resume"
    )]
    NotEmpty {
        /// The location.
        place: String,
        /// One of the things in it.
        found: String,
    },
    /// The location has no interrupted run.
    #[error(
        "{place} holds `{found}` but no interrupted run, so there is nothing to resume; choose a new one"
    )]
    NothingToResume {
        /// The location.
        place: String,
        /// One of the things in it.
        found: String,
    },
    /// The output path is not a folder.
    #[error("{0} is a file, expected a folder")]
    NotAFolder(String),
    /// Another process is writing to the location.
    #[error("another process is writing {0}; wait for it, or choose another location")]
    Locked(String),
    /// The record that was just written cannot be read back.
    #[error("{0} was written and is not there; run the same command again")]
    Unreadable(String),
    /// The location holds another run.
    #[error("{place} holds a run with another {difference}; use the same settings, or choose a new place")]
    OtherRun {
        /// The location.
        place: String,
        /// The key that differs, with both values.
        difference: String,
    },
    /// Rows could not be written.
    #[error("cannot write {file}: {source}")]
    Rows {
        /// The file.
        file: String,
        /// The reason.
        source: WriteError,
    },
    /// The rows of a batch do not fit the plan.
    #[error("batch {batch} of {file}: {what}")]
    Batch {
        /// The file.
        file: String,
        /// The batch.
        batch: u64,
        /// A description of the error.
        what: String,
    },
    /// A world cannot be stored.
    #[error("world `{world}`: {what}")]
    World {
        /// The world's id.
        world: String,
        /// A description of the error.
        what: String,
    },
    /// The run has not made all files of the plan.
    #[error("{missing} of the run's files are not made yet, the first is {first}")]
    Unfinished {
        /// Number of missing files.
        missing: usize,
        /// The first missing file.
        first: String,
    },
    /// The location has a file that the run did not make, or that has changed.
    #[error("{file}: {what}")]
    Changed {
        /// The file.
        file: String,
        /// A description of the difference, and the remedy.
        what: String,
    },
}

impl DatasetError {
    /// Returns true if only another command line can help.
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NotEmpty { .. }
                | Self::NothingToResume { .. }
                | Self::NotAFolder(_)
                | Self::OtherRun { .. }
        )
    }
}
