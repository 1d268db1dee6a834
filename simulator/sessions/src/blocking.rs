//! Blocking work, which must not run on the threads of the async runtime.

use tokio::task::{JoinError, spawn_blocking};

use super::problem::{Kind, Problem};

/// Runs work on a thread of its own.
///
/// # Errors
/// The work's own errors. [`Kind::Failed`] if it panics. [`Kind::Unavailable`] if the server ends before it
/// starts.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let failed = |error: JoinError| {
        if error.is_cancelled() {
            return Problem::new(Kind::Unavailable, "the server is ending, so nothing was done").retry_in(1);
        }
        Problem::new(Kind::Failed, "the server failed to answer this request")
    };
    spawn_blocking(work).await.map_err(failed)?
}
