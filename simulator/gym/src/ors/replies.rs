//! Recent replies, for clients whose connection broke while they read one.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

/// Maximum number of stored replies.
const KEPT: NonZeroUsize = match NonZeroUsize::new(4_096) {
    Some(kept) => kept,
    None => NonZeroUsize::MIN,
};
/// Maximum bytes of all stored replies.
const MAX_BYTES: usize = 32 << 20;

/// The most recent replies, by name.
pub(super) struct RecentReplies(Mutex<ReplyCache>);

struct ReplyCache {
    replies: LruCache<String, Arc<str>>,
    bytes: usize,
}

impl Default for RecentReplies {
    fn default() -> Self {
        Self(Mutex::new(ReplyCache { replies: LruCache::new(KEPT), bytes: 0 }))
    }
}

impl RecentReplies {
    fn held(&self) -> MutexGuard<'_, ReplyCache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<str>> {
        self.held().replies.get(name).cloned()
    }

    /// Stores a reply. Drops the oldest ones if a limit is exceeded.
    pub(super) fn put(&self, name: String, reply: String) {
        let mut held = self.held();
        held.bytes += reply.len();
        if let Some((_, gone)) = held.replies.push(name, reply.into()) {
            held.bytes -= gone.len();
        }
        while held.bytes > MAX_BYTES
            && let Some((_, gone)) = held.replies.pop_lru()
        {
            held.bytes -= gone.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_replies_go_first() {
        let replies = RecentReplies::default();
        let large = "x".repeat(MAX_BYTES / 2);
        for name in ["a", "b", "c"] {
            replies.put(name.to_owned(), large.clone());
        }
        assert!(replies.get("a").is_none() && replies.get("b").is_some() && replies.get("c").is_some());
        assert_eq!(replies.held().bytes, MAX_BYTES);
    }
}
