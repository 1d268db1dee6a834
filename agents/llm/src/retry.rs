//! The layer that asks again: waits that grow and scatter, and no more requests at once than the server bears.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::chat::{ChatModel, ChatReply, ChatRequest, Identity, Place, Soon};
use crate::error::{Again, ChatError};
use crate::ledger::Ledger;
use crate::limiter::Limiter;

/// How often one request may change its response format: twice to get to the poorest, and once more beside other requests.
const FORMAT_CHANGES: u32 = 3;

/// How often and how soon a request is sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most attempts of one request, the first counted.
    pub attempts: u32,
    /// The shortest wait.
    pub shortest: Duration,
    /// The longest wait of our own choosing.
    pub longest: Duration,
    /// The longest wait that a server may ask for; one that asks for more is asked again after this.
    pub longest_asked: Duration,
    /// Where the scatter of waits comes from.
    pub seed: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 8,
            shortest: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            longest_asked: Duration::from_secs(120),
            seed: 0,
        }
    }
}

/// Lets time pass. Injected, so that tests need none.
pub trait Clock: Send + Sync {
    /// Waits.
    fn sleep(&self, time: Duration) -> Soon<'_, ()>;
}

/// The machine's own time, by tokio's timer.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock;

impl Clock for MachineClock {
    fn sleep(&self, time: Duration) -> Soon<'_, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// A model that is asked again where that can help.
pub struct Retrying<M> {
    inner: M,
    policy: RetryPolicy,
    limiter: Limiter,
    ledger: Arc<Ledger>,
    clock: Arc<dyn Clock>,
}

impl<M: ChatModel> Retrying<M> {
    /// Puts a policy and a limit around a model. Retries are entered into the ledger.
    pub fn new(inner: M, policy: RetryPolicy, limiter: Limiter, ledger: Arc<Ledger>) -> Self {
        Self { inner, policy, limiter, ledger, clock: Arc::new(MachineClock) }
    }

    /// Replaces the machine's time.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// The model inside.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    async fn send(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let mut waits = Waits::new(&self.policy, &request.place);
        let (mut attempts, mut format_changes) = (0, 0);
        loop {
            // The turn ends before the wait: who waits takes no place.
            let permit = self.limiter.acquire().await;
            let result = self.inner.chat(request).await;
            let error = match result {
                Ok(reply) => {
                    permit.answered();
                    return Ok(reply);
                }
                Err(error) => error,
            };
            if matches!(error, ChatError::Busy { .. }) {
                permit.refused();
            } else {
                drop(permit);
            }
            match error.again() {
                Again::Never => return Err(error),
                Again::AtOnce if format_changes < FORMAT_CHANGES => format_changes += 1,
                again => {
                    attempts += 1;
                    if attempts >= self.policy.attempts {
                        return Err(ChatError::GaveUp { attempts, last: Box::new(error) });
                    }
                    let asked = if let Again::Later(asked) = again { asked } else { None };
                    self.clock.sleep(waits.next(asked)).await;
                }
            }
            self.ledger.note(&request.place.stage, |account| account.retries += 1);
        }
    }
}

impl<M: ChatModel> ChatModel for Retrying<M> {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>> {
        Box::pin(self.send(request))
    }
}

impl<M: fmt::Debug> fmt::Debug for Retrying<M> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Retrying");
        shown.field("inner", &self.inner).field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// The waits of one request: decorrelated jitter, each drawn from the shortest to three times the last.
///
/// After "Exponential Backoff and Jitter", AWS Architecture Blog, 2015. They follow from the seed and the place, so that they
/// do not depend on which request was sent first.
struct Waits<'a> {
    policy: &'a RetryPolicy,
    draws: blake3::OutputReader,
    last: Duration,
}

impl<'a> Waits<'a> {
    fn new(policy: &'a RetryPolicy, place: &Place) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&policy.seed.to_le_bytes());
        hasher.update(place.to_string().as_bytes());
        Self { policy, draws: hasher.finalize_xof(), last: policy.shortest }
    }

    fn next(&mut self, asked: Option<Duration>) -> Duration {
        let mut bytes = [0; 8];
        self.draws.fill(&mut bytes);
        let share = (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64;
        let Some(asked) = asked else {
            let span = (self.last * 3).saturating_sub(self.policy.shortest);
            self.last = (self.policy.shortest + span.mul_f64(share)).min(self.policy.longest);
            return self.last;
        };
        // Scattered a little, so that all that were told the same do not come back as one.
        asked.min(self.policy.longest_asked) + self.policy.shortest.mul_f64(share)
    }
}
