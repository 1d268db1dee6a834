//! The work left once a response is made: wait, hang up, or see its event on the disk.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use tokio::sync::oneshot;

use super::problem::Problem;
use diorama_engine::fault::{Fired, Kind};

/// The steps of a response before it leaves.
#[derive(Clone, Default)]
pub(super) struct After {
    /// How long it is held back.
    pub(super) delay: Duration,
    /// True if the connection ends instead.
    pub(super) dropped: bool,
    retry_after: Option<u32>,
    /// The events that have to be on the disk first.
    pub(super) saved: Vec<Saved>,
}

/// An event on its way to the disk.
#[derive(Clone)]
pub(super) struct Saved(Arc<Mutex<Option<Told>>>);

/// The flusher's report of an event.
type Told = oneshot::Receiver<Persisted>;

/// The outcome of writing events to the disk: all that waited together fail together.
pub(super) type Persisted = Result<(), String>;

impl Saved {
    pub(super) fn new(told: Told) -> Self {
        Self(Arc::new(Mutex::new(Some(told))))
    }

    /// Waits until the event is on the disk.
    pub(super) async fn wait(self) -> Result<(), Problem> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(told) = told else { return Ok(()) };
        let failed = |why: &str| {
            let detail = format!(
                "what was asked for is done, but the disk has not confirmed it ({why}), so it may be lost"
            );
            Problem::new(500, detail).with("done", true)
        };
        told.await.map_err(|_| failed("the store is closed"))?.map_err(|why| failed(&why))
    }
}

impl After {
    /// The steps that faults ask for.
    pub(super) fn of(faults: &[Fired], saved: Option<Saved>) -> Self {
        Self {
            delay: Duration::from_millis(faults.iter().map(|fault| fault.delay_ms).max().unwrap_or(0)),
            dropped: faults.iter().any(|fault| fault.kind == Kind::Drop),
            retry_after: faults.iter().find_map(|fault| fault.retry_after),
            saved: saved.into_iter().collect(),
        }
    }

    /// The steps that only an event asks for.
    pub(super) fn saving(saved: Option<Saved>) -> Self {
        Self { saved: saved.into_iter().collect(), ..Self::default() }
    }

    /// Seconds after which to ask again.
    pub(super) const fn retry_after(&self) -> Option<u32> {
        self.retry_after
    }

    /// Adds what is to do for another call of the same response, which says itself when to ask again.
    pub(super) fn join(&mut self, other: Self) {
        self.delay = self.delay.max(other.delay);
        self.saved.extend(other.saved);
    }

    /// The response with what is to do about it.
    pub(super) fn on(self, mut response: Response<Body>) -> Response<Body> {
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        self.before(response)
    }

    /// The response with what is to do before it leaves.
    pub(super) fn before(self, mut response: Response<Body>) -> Response<Body> {
        if self.dropped || !self.saved.is_empty() || !self.delay.is_zero() {
            response.extensions_mut().insert(self);
        }
        response
    }
}
