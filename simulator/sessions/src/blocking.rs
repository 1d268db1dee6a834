//! Work that takes longer than a thread of the runtime may be held.

use tokio::task::{JoinError, spawn_blocking};

use super::problem::{Kind, Problem};

/// Does work on a thread of its own.
///
/// # Errors
/// The work's own, [`Kind::Failed`] where it panics, and [`Kind::Unavailable`] where the server ends before it has begun.
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
