//! Owns the error of runs over many episodes.

use super::stored::StoredError;
use crate::episode::EpisodeError;

/// Reasons for which a run over many episodes ends.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A row cannot be used.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// A run cannot be stored or resumed.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// The asynchronous runtime cannot start.
    #[error(transparent)]
    Runtime(#[from] std::io::Error),
    /// A thread panicked.
    #[error("a thread ended before its work was done")]
    Worker,
}
