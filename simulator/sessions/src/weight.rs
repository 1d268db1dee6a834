//! Memory accounting: the bytes that sessions and unsent replies use. Bytes that forks share count once.
//!
//! The weight of a session is what it uses beside its world. A fork turns the common bytes into a shared
//! weight. It is subtracted when its last session ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::problem::{Kind, Problem};

/// The bytes that a server uses for its clients.
#[derive(Debug, Default)]
pub struct Scale {
    sessions: AtomicU64,
    unsent: AtomicU64,
}

/// UnsentReply replies may always use this fraction of the limit: 1 / `UNSENT_SHARE`.
const UNSENT_SHARE: u64 = 16;

impl Scale {
    /// Returns the bytes of all sessions.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.sessions.load(Relaxed)
    }

    /// Returns the bytes of replies that wait to be sent.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.unsent.load(Relaxed)
    }

    /// Refuses another reply if sessions and unsent replies have reached the limit of `most` bytes.
    ///
    /// # Errors
    /// [`Kind::Unavailable`].
    pub fn takes_replies(&self, most: u64) -> Result<(), Problem> {
        let (sessions, unsent) = (self.held(), self.unsent());
        // If sessions alone use up the limit, callers can still read and delete them.
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

/// A reply that waits to be sent.
pub struct UnsentReply {
    scale: Arc<Scale>,
    bytes: u64,
}

impl UnsentReply {
    /// Counts the bytes until it is dropped.
    #[must_use]
    pub fn new(scale: Arc<Scale>, bytes: u64) -> Self {
        scale.unsent.fetch_add(bytes, Relaxed);
        Self { scale, bytes }
    }
}

impl Drop for UnsentReply {
    fn drop(&mut self) {
        self.scale.unsent.fetch_sub(self.bytes, Relaxed);
    }
}

/// The bytes of one session.
#[derive(Debug)]
pub(crate) struct Weight {
    scale: Arc<Scale>,
    /// The bytes that it shares with other forks.
    shared: Option<Arc<WeightNode>>,
    own: u64,
}

#[derive(Debug)]
struct WeightNode {
    scale: Arc<Scale>,
    below: Option<Arc<Self>>,
    own: u64,
    /// Bytes including all ancestors.
    all: u64,
}

impl Weight {
    pub(crate) const fn new(scale: Arc<Scale>) -> Self {
        Self { scale, shared: None, own: 0 }
    }

    /// Returns the bytes, including shared ones.
    pub(crate) fn bytes(&self) -> u64 {
        self.own + self.shared()
    }

    fn shared(&self) -> u64 {
        self.shared.as_ref().map_or(0, |shared| shared.all)
    }

    /// Sets the bytes that the session uses, including shared ones.
    pub(crate) fn set(&mut self, bytes: u64) {
        let own = bytes.saturating_sub(self.shared());
        // If the session shrinks, the difference wraps around and the sum becomes smaller.
        self.scale.sessions.fetch_add(own.wrapping_sub(self.own), Relaxed);
        self.own = own;
    }

    /// Returns the weight of a fork that shares all bytes of this session.
    pub(crate) fn part(&mut self) -> Self {
        if self.own > 0 {
            let (own, all) = (self.own, self.bytes());
            let below = self.shared.take();
            self.shared = Some(Arc::new(WeightNode { scale: Arc::clone(&self.scale), below, own, all }));
            self.own = 0;
        }
        Self { scale: Arc::clone(&self.scale), shared: self.shared.clone(), own: 0 }
    }

    /// Returns the weight of a session that shares nothing with this one.
    pub(crate) fn apart(&self) -> Self {
        Self::new(Arc::clone(&self.scale))
    }

    /// Releases all bytes, for a session that is reset.
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

impl Drop for WeightNode {
    fn drop(&mut self) {
        self.scale.sessions.fetch_sub(self.own, Relaxed);
        // Nested forks are released in a loop, because recursion would need a deep stack.
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
        // A session that shrinks below its shared bytes still shares them.
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
