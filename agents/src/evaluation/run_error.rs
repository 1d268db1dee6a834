//! The error of runs over many episodes.

use super::stored::StoredError;
use crate::episode::EpisodeError;

/// Why a run over many episodes ends.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A row that cannot be used.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// A run that cannot be stored, or gone on with.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// Nothing can wait.
    #[error(transparent)]
    Runtime(#[from] std::io::Error),
    /// A thread that ended before its time.
    #[error("a thread ended before its work was done")]
    Worker,
}
