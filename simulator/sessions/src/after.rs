//! The steps between a reply and its sending: wait for the disk, wait as a fault demands, or lose the reply.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::problem::{Kind, Problem};
use diorama_engine::fault::{FiredFault, Kind as FaultKind};

/// The steps before a reply is sent.
#[derive(Clone, Default)]
pub struct PendingSteps {
    /// The delay that faults demand.
    delay: Duration,
    /// True if a fault loses the reply.
    dropped: bool,
    retry_after: Option<u32>,
    /// The events that must reach the disk first.
    saved: Vec<PendingEvent>,
}

/// An event on its way to the disk.
#[derive(Clone)]
pub(crate) struct PendingEvent(Arc<Mutex<Option<FlushReport>>>);

/// Receives the flusher's report of an event.
type FlushReport = oneshot::Receiver<FlushResult>;

/// The result of writing events to the disk. All events of one flush fail together.
pub(crate) type FlushResult = Result<(), String>;

impl PendingEvent {
    pub(crate) fn new(told: FlushReport) -> Self {
        Self(Arc::new(Mutex::new(Some(told))))
    }

    /// Waits until the event is on the disk.
    async fn wait(self) -> Result<(), Problem> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(told) = told else { return Ok(()) };
        let failed = |why: &str| {
            let detail = format!(
                "what was asked for is done, but the disk has not confirmed it ({why}), so it may be lost"
            );
            Problem::new(Kind::Failed, detail).with("done", true)
        };
        told.await.map_err(|_| failed("the store is closed"))?.map_err(|why| failed(&why))
    }
}

impl PendingSteps {
    /// Returns the steps that faults and an event require.
    pub(crate) fn of(faults: &[FiredFault], saved: Option<PendingEvent>) -> Self {
        Self {
            delay: Duration::from_millis(faults.iter().map(|fault| fault.delay_ms).max().unwrap_or(0)),
            dropped: faults.iter().any(|fault| fault.kind == FaultKind::Drop),
            retry_after: faults.iter().find_map(|fault| fault.retry_after),
            saved: saved.into_iter().collect(),
        }
    }

    /// Returns the steps that an event requires.
    pub(crate) fn saving(saved: Option<PendingEvent>) -> Self {
        Self { saved: saved.into_iter().collect(), ..Self::default() }
    }

    /// Returns true if the reply can be sent at once.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !self.dropped && self.saved.is_empty() && self.delay.is_zero()
    }

    /// Returns the seconds after which the caller should retry.
    #[must_use]
    pub const fn retry_after(&self) -> Option<u32> {
        self.retry_after
    }

    /// Returns true if a fault loses the reply, and clears that step.
    #[must_use]
    pub const fn take_dropped(&mut self) -> bool {
        std::mem::replace(&mut self.dropped, false)
    }

    /// Adds the steps of another call with the same reply. Its `retry_after` is left out, because the body
    /// has it.
    pub fn join(&mut self, other: Self) {
        self.delay = self.delay.max(other.delay);
        self.saved.extend(other.saved);
    }

    /// Waits until the reply can be sent.
    ///
    /// # Errors
    /// [`Kind::Failed`] if the disk does not confirm an event. [`Kind::ReplyLost`] if a fault loses the
    /// reply.
    pub async fn settle(self) -> Result<(), Problem> {
        for saved in self.saved {
            saved.wait().await?;
        }
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        if self.dropped {
            let detail = "the reply was lost on its way; whether the call was made is not known";
            return Err(Problem::new(Kind::ReplyLost, detail));
        }
        Ok(())
    }
}
