//! Owns the layer that sends a request within the budget, bounds the requests in flight, and retries failures
//! that may pass.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use tokio::sync::Semaphore;

use crate::budget::RunBudget;
use crate::chat::{ChatReply, ChatRequest, Identity};
use crate::error::ChatError;
use crate::model::{BoxFuture, ChatModel};

/// Maximum wait that a server can ask for. If it asks for more, the request is sent again after this time.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(120);

/// Number and spacing of the attempts at one request.
#[derive(Clone, Copy, Debug)]
pub struct RetrySettings {
    /// Number of attempts, the first included.
    pub attempts: u32,
    /// First wait. Each further wait is twice as long. Each is lengthened by a random part of up to its own
    /// length.
    pub min_delay: Duration,
    /// Maximum wait before the random part is added.
    pub max_delay: Duration,
    /// Called with the first failure after which a request is sent again, once for each model.
    pub on_first_failure: Option<fn(&ChatError)>,
}

impl Default for RetrySettings {
    fn default() -> Self {
        let (min_delay, max_delay) = (Duration::from_millis(500), Duration::from_secs(30));
        Self { attempts: 8, min_delay, max_delay, on_first_failure: None }
    }
}

/// A model that bounds its requests in flight, counts them in a budget, and retries failures that may pass.
#[derive(Debug)]
pub struct RetryingModel<M> {
    inner: M,
    settings: RetrySettings,
    in_flight: Semaphore,
    has_failed: AtomicBool,
    budget: Arc<RunBudget>,
}

impl<M: ChatModel> RetryingModel<M> {
    /// Wraps a model. `max_in_flight` bounds the requests that wait for a reply at the same time.
    pub fn new(
        inner: M,
        settings: RetrySettings,
        max_in_flight: NonZeroUsize,
        budget: Arc<RunBudget>,
    ) -> Self {
        let in_flight = Semaphore::new(max_in_flight.get().min(Semaphore::MAX_PERMITS));
        Self { inner, settings, in_flight, has_failed: AtomicBool::new(false), budget }
    }

    async fn attempt(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        // The semaphore is never closed. If it were, requests would be unbounded rather than blocked. A
        // request that waits for its next attempt holds no permit.
        let _permit = self.in_flight.acquire().await.ok();
        self.budget.send(&self.inner, request).await
    }

    async fn send(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let mut attempts = 1;
        let delays = ExponentialBuilder::default()
            .with_min_delay(self.settings.min_delay)
            .with_max_delay(self.settings.max_delay)
            .with_max_times(self.settings.attempts.saturating_sub(1) as usize)
            .with_jitter();
        let result = (|| self.attempt(request))
            .retry(delays)
            .when(ChatError::is_retryable)
            .adjust(|error, delay| delay.map(|delay| lengthened(delay, error)))
            .notify(|error, _| {
                attempts += 1;
                if let Some(on_first_failure) = self.settings.on_first_failure
                    && !self.has_failed.swap(true, Relaxed)
                {
                    on_first_failure(error);
                }
                self.budget.count(&request.origin.step, |counts| counts.retries += 1);
            })
            .await;
        match result {
            Err(last) if last.is_retryable() => Err(ChatError::GaveUp { attempts, last: Box::new(last) }),
            result => result,
        }
    }
}

impl<M: ChatModel> ChatModel for RetryingModel<M> {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
        Box::pin(self.send(request))
    }
}

/// Adds the wait that a server asks for. Keeping the random delay spreads requests that got the same wait.
fn lengthened(delay: Duration, error: &ChatError) -> Duration {
    match error {
        ChatError::Failing { retry_after: Some(wait), .. } => delay + (*wait).min(MAX_RETRY_AFTER),
        _ => delay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_the_server_asks_for_is_kept_up_to_two_minutes() {
        let check = |retry_after: Option<u64>, seconds: u64| {
            let retry_after = retry_after.map(Duration::from_secs);
            let error = ChatError::Failing { status: 429, said: String::new(), advice: "", retry_after };
            assert_eq!(lengthened(Duration::from_secs(2), &error), Duration::from_secs(seconds));
        };
        check(None, 2);
        check(Some(0), 2);
        check(Some(7), 9);
        check(Some(86_400), 122);
        let broken = ChatError::LostReply { found: "reset".to_owned(), usage: None };
        assert_eq!(lengthened(Duration::from_secs(2), &broken), Duration::from_secs(2));
    }
}
