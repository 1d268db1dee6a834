//! Work that takes longer than a thread of the runtime may be held.

use tokio::task::spawn_blocking;

use super::problem::{Kind, Problem};

/// Does work on a thread of its own.
///
/// # Errors
/// The work's own, and [`Kind::Failed`] where it panics.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let failed = |_| Problem::new(Kind::Failed, "the server failed to answer this request");
    spawn_blocking(work).await.map_err(failed)?
}
