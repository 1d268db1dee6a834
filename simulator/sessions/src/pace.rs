//! Pace: measures how long the calls of each API take, and finds the slow ones.
//!
//! A thread of the runtime serves many connections and must not block. Most calls take microseconds and run
//! on it. Calls of slow APIs run on threads of their own. The records decide which APIs are slow, so this is
//! measured.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

use diorama_seeds::model::ApiId;

/// Maximum time of a call on a thread that serves others.
const QUICK: Duration = Duration::from_millis(1);
/// Quick calls that cancel one slow call. A single slow call does not make an API slow, since its thread may
/// have waited for a processor.
const AMENDS: u8 = 32;
/// Maximum number of quick calls that an API can owe.
const MAX_OWED: u8 = 4 * AMENDS;

/// The pace of a world's APIs.
pub(crate) struct Pace {
    /// For each API, the quick calls that it owes for slow ones. The last entry is for calls of no API, such
    /// as searches.
    owed: Box<[AtomicU8]>,
}

impl Pace {
    /// Starts without measurements. The first call of each API counts as slow.
    pub(crate) fn new(apis: usize) -> Self {
        Self { owed: (0..=apis).map(|_| AtomicU8::new(AMENDS + 1)).collect() }
    }

    /// Returns true if a call should run on a thread of its own.
    pub(crate) fn is_slow(&self, api: Option<ApiId>) -> bool {
        self.owed(api).is_some_and(|owed| owed.load(Relaxed) > AMENDS)
    }

    /// Runs a call and records its time.
    pub(crate) fn time<T>(&self, api: Option<ApiId>, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = work();
        self.note(api, began.elapsed());
        done
    }

    fn note(&self, api: Option<ApiId>, took: Duration) {
        let Some(owed) = self.owed(api) else { return };
        match owed.load(Relaxed) {
            calls if took > QUICK => owed.store(calls.saturating_add(AMENDS).min(MAX_OWED), Relaxed),
            0 => {}
            calls => owed.store(calls - 1, Relaxed),
        }
    }

    fn owed(&self, api: Option<ApiId>) -> Option<&AtomicU8> {
        self.owed.get(api.map_or(self.owed.len() - 1, ApiId::index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_is_slow_until_it_has_been_quick_for_a_while() {
        let pace = Pace::new(2);
        let (one, other) = (Some(ApiId(0)), Some(ApiId(1)));
        let quick = |api, calls: u8| (0..calls).for_each(|_| pace.note(api, Duration::from_micros(5)));
        assert!(pace.is_slow(one) && pace.is_slow(None), "nothing is known of it");
        quick(one, 1);
        assert!(!pace.is_slow(one) && pace.is_slow(other));
        quick(one, AMENDS);
        let slow = || pace.note(one, Duration::from_millis(2));
        slow();
        assert!(!pace.is_slow(one), "once may be chance");
        quick(one, AMENDS - 1);
        slow();
        assert!(pace.is_slow(one));
        (0..10).for_each(|_| slow());
        quick(one, MAX_OWED - AMENDS - 1);
        assert!(pace.is_slow(one));
        quick(one, 1);
        assert!(!pace.is_slow(one) && pace.is_slow(None));
    }
}
