//! How many requests are in flight: more while the server answers, half when it says that they are too many.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The share of the ceiling that a run starts with: it doubles with each round of replies, so the ceiling is two rounds away.
const START: usize = 4;

/// Bounds the requests in flight by additive increase and multiplicative decrease, as TCP does.
///
/// Until the first cut every reply makes room for one more; after it, one round of replies does. A refusal halves the
/// limit, once for all requests that were sent before the cut: they say nothing about what came after.
#[derive(Clone, Debug)]
pub struct Limiter {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ceiling: usize,
    semaphore: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    limit: usize,
    /// Replies since the limit last grew.
    replies: usize,
    /// Permits to take out of use as they come back, after a cut below what is in flight.
    owed: usize,
    /// How many cuts there were.
    cuts: u64,
}

impl Limiter {
    /// Makes a limiter that starts at a quarter of the ceiling.
    pub fn new(ceiling: NonZeroUsize) -> Self {
        let ceiling = ceiling.get().min(Semaphore::MAX_PERMITS);
        let limit = ceiling.div_ceil(START);
        let state = State { limit, replies: 0, owed: 0, cuts: 0 };
        let semaphore = Arc::new(Semaphore::new(limit));
        Self { shared: Arc::new(Shared { ceiling, semaphore, state: Mutex::new(state) }) }
    }

    /// Waits for a turn, in the order of asking.
    pub async fn acquire(&self) -> Permit {
        // The semaphore is never closed; were it, requests would go unbounded rather than nowhere.
        let turn = Arc::clone(&self.shared.semaphore).acquire_owned().await.ok();
        let sent_after = self.shared.state().cuts;
        Permit { shared: Arc::clone(&self.shared), turn, sent_after }
    }

    /// Says how many requests may be in flight now.
    pub fn limit(&self) -> usize {
        self.shared.state().limit
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn to send one request; it ends when this is dropped.
#[derive(Debug)]
pub struct Permit {
    shared: Arc<Shared>,
    turn: Option<OwnedSemaphorePermit>,
    sent_after: u64,
}

impl Permit {
    /// Notes that the server answered.
    pub fn answered(self) {
        let mut state = self.shared.state();
        state.replies += 1;
        let round = if state.cuts == 0 { 1 } else { state.limit };
        if state.limit < self.shared.ceiling && state.replies >= round {
            state.limit += 1;
            state.replies = 0;
            if state.owed > 0 {
                state.owed -= 1;
            } else {
                self.shared.semaphore.add_permits(1);
            }
        }
    }

    /// Notes that the server has too much to do.
    pub fn refused(self) {
        let mut state = self.shared.state();
        if self.sent_after < state.cuts {
            return;
        }
        let limit = (state.limit / 2).max(1);
        state.owed += state.limit - limit;
        state.owed -= self.shared.semaphore.forget_permits(state.owed);
        state.limit = limit;
        state.replies = 0;
        state.cuts += 1;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        if state.owed > 0
            && let Some(turn) = self.turn.take()
        {
            turn.forget();
            state.owed -= 1;
        }
    }
}
