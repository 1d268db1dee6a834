//! How many bytes sessions and unsent replies hold, what forks share counted once.
//!
//! A session's weight is what it holds beside its world. When sessions part, what they hold in common becomes a weight
//! of its own, which is taken off the scale with the last session that shares it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::problem::{Kind, Problem};

/// The bytes that a server holds for its clients.
#[derive(Debug, Default)]
pub struct Scale {
    sessions: AtomicU64,
    unsent: AtomicU64,
}

/// The part of the bytes that a server may hold which replies on their way out may always take: 1 of so many.
const UNSENT_SHARE: u64 = 16;

impl Scale {
    /// Bytes that all sessions hold.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.sessions.load(Relaxed)
    }

    /// Bytes of replies that wait to be written.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.unsent.load(Relaxed)
    }

    /// Refuses another reply where those that nobody has read yet, with the sessions, hold all there is.
    ///
    /// # Errors
    /// [`Kind::Unavailable`].
    pub fn takes_replies(&self, most: u64) -> Result<(), Problem> {
        let (sessions, unsent) = (self.held(), self.unsent());
        // Where the sessions hold it all, they can still be looked at and deleted.
        if unsent <= most / UNSENT_SHARE || sessions.saturating_add(unsent) < most {
            return Ok(());
        }
        let detail = format!(
            "sessions hold {sessions} bytes and replies that their callers have not read {unsent}, expected \
             fewer than {most} together (--max-bytes), so nothing was done; read replies, and try again"
        );
        Err(Problem::new(Kind::Unavailable, detail).with("limit", most).retry_in(1))
    }
}

/// A reply that waits to be written.
pub struct Unsent {
    scale: Arc<Scale>,
    bytes: u64,
}

impl Unsent {
    /// Counts so many bytes until it is dropped.
    #[must_use]
    pub fn new(scale: Arc<Scale>, bytes: u64) -> Self {
        scale.unsent.fetch_add(bytes, Relaxed);
        Self { scale, bytes }
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.scale.unsent.fetch_sub(self.bytes, Relaxed);
    }
}

/// The bytes of one session.
#[derive(Debug)]
pub(crate) struct Weight {
    scale: Arc<Scale>,
    /// The bytes that it shares with sessions that it was forked from.
    shared: Option<Arc<Shared>>,
    own: u64,
}

#[derive(Debug)]
struct Shared {
    scale: Arc<Scale>,
    below: Option<Arc<Self>>,
    own: u64,
    /// With all below.
    all: u64,
}

impl Weight {
    pub(crate) const fn new(scale: Arc<Scale>) -> Self {
        Self { scale, shared: None, own: 0 }
    }

    /// Bytes, shared ones too.
    pub(crate) fn bytes(&self) -> u64 {
        self.own + self.shared()
    }

    fn shared(&self) -> u64 {
        self.shared.as_ref().map_or(0, |shared| shared.all)
    }

    /// Says how many bytes the session holds now, shared ones too.
    pub(crate) fn set(&mut self, bytes: u64) {
        let own = bytes.saturating_sub(self.shared());
        // Where it holds less than before, the sum wraps around to less.
        self.scale.sessions.fetch_add(own.wrapping_sub(self.own), Relaxed);
        self.own = own;
    }

    /// The weight of a session that holds the same, and shares all of it.
    pub(crate) fn part(&mut self) -> Self {
        if self.own > 0 {
            let (own, all) = (self.own, self.bytes());
            let below = self.shared.take();
            self.shared = Some(Arc::new(Shared { scale: Arc::clone(&self.scale), below, own, all }));
            self.own = 0;
        }
        Self { scale: Arc::clone(&self.scale), shared: self.shared.clone(), own: 0 }
    }

    /// The weight of a session that shares nothing with this one.
    pub(crate) fn apart(&self) -> Self {
        Self::new(Arc::clone(&self.scale))
    }

    /// Lets go of everything, as a session that goes back to its start does.
    pub(crate) fn clear(&mut self) {
        self.set(0);
        self.shared = None;
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.scale.sessions.fetch_sub(self.own, Relaxed);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.scale.sessions.fetch_sub(self.own, Relaxed);
        // Forks of forks of forks are let go of one by one: as many calls within each other need a long stack.
        let mut below = self.below.take();
        while let Some(mut last) = below.and_then(Arc::into_inner) {
            below = last.below.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_counted_once_and_let_go_with_the_last() {
        let scale = Arc::new(Scale::default());
        let mut first = Weight::new(Arc::clone(&scale));
        first.set(1_000);
        let mut forks: Vec<Weight> = (0..50).map(|_| first.part()).collect();
        assert_eq!((scale.held(), forks[7].bytes()), (1_000, 1_000));
        for fork in &mut forks {
            fork.set(1_010);
        }
        assert_eq!(scale.held(), 1_500);
        let nested = forks[3].part();
        first.clear();
        assert_eq!((scale.held(), first.bytes(), nested.bytes()), (1_500, 0, 1_010));
        // A session that holds less than it shared shares it all the same.
        forks[4].set(5);
        assert_eq!((scale.held(), forks[4].bytes()), (1_490, 1_000));
        drop(forks);
        assert_eq!(scale.held(), 1_010, "of the nested one");
        drop(nested);
        assert_eq!(scale.held(), 0);
    }

    #[test]
    fn a_long_line_of_forks_ends() {
        let scale = Arc::new(Scale::default());
        let mut last = Weight::new(Arc::clone(&scale));
        for number in 1..=200_000 {
            last.set(number);
            last = last.part();
        }
        assert_eq!(scale.held(), 200_000);
        drop(last);
        assert_eq!(scale.held(), 0);
    }
}
