//! Owns concurrent work on many items, with results in their order.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::run_error::RunError;

/// Works on all items, at most `concurrency` at a time, and returns the results in the order of the
/// items.
///
/// # Errors
/// Returns the first error of a worker, and drops the other items.
pub fn at_once<T, R, F, W>(items: Vec<T>, concurrency: NonZeroUsize, work: W) -> Result<Vec<R>, RunError>
where
    T: Send + 'static,
    R: Send + 'static,
    F: Future<Output = Result<R, RunError>> + Send + 'static,
    W: Fn(usize, T) -> F + Send + Sync + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (permits, work) = (Arc::new(Semaphore::new(concurrency.get())), Arc::new(work));
    runtime.block_on(async {
        let mut running = JoinSet::new();
        for (number, item) in items.into_iter().enumerate() {
            let (permits, work) = (Arc::clone(&permits), Arc::clone(&work));
            running.spawn(async move {
                // No code closes the semaphore, so that this always succeeds.
                let _permit = permits.acquire_owned().await.ok();
                (number, work(number, item).await)
            });
        }
        let mut done = BTreeMap::new();
        while let Some(joined) = running.join_next().await {
            let (number, result) = joined.map_err(|_| RunError::Worker)?;
            done.insert(number, result?);
        }
        Ok(done.into_values().collect())
    })
}
