//! Many tasks, several at a time, in their order.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::run_error::RunError;

/// Works on every item, so many at a time, and gives what came of them in their order.
///
/// # Errors
/// The first that a worker ends with; the others are given up.
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
                // It is closed by nobody.
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
