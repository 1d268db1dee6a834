//! Owns a cache of values that are slow to load. Each is loaded once, even if several threads ask for it.

use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

/// Values by key. The cache keeps the last used ones.
pub(crate) struct LoadOnce<K, V> {
    slots: Mutex<LruCache<K, Slot<V>>>,
}

/// A value, or none before it is loaded.
type Slot<V> = Arc<Mutex<Option<V>>>;

impl<K: Hash + Eq, V: Clone> LoadOnce<K, V> {
    /// Makes an empty cache for `capacity` values.
    pub(crate) fn new(capacity: NonZeroUsize) -> Self {
        Self { slots: Mutex::new(LruCache::new(capacity)) }
    }

    /// Returns the value of a key, and loads it if necessary. Other threads that ask for it meanwhile wait.
    ///
    /// # Errors
    /// Returns the error of `load`. The next request for the value loads it again.
    pub(crate) fn get<E>(&self, key: K, load: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        // The block releases the lock on all slots before the load.
        let slot = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.get_or_insert(key, Slot::default))
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*slot {
            return Ok(value.clone());
        }
        let value = load()?;
        *slot = Some(value.clone());
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    #[test]
    fn threads_that_ask_at_the_same_time_load_a_value_once() {
        let (cache, loads) = (LoadOnce::new(NonZeroUsize::MIN.saturating_add(1)), AtomicU32::new(0));
        let get = |key: u32| {
            cache.get(key, || {
                loads.fetch_add(1, Relaxed);
                Ok::<_, ()>(key + 1)
            })
        };
        std::thread::scope(|scope| {
            let asked: Vec<_> = (0..8).map(|number| scope.spawn(move || get(number % 2))).collect();
            for (number, asked) in (0..8).zip(asked) {
                assert_eq!(asked.join().unwrap(), Ok(number % 2 + 1));
            }
        });
        assert_eq!(loads.load(Relaxed), 2);
    }

    #[test]
    fn a_failed_load_is_tried_again_and_the_value_used_longest_ago_gives_way() {
        let (cache, loads) = (LoadOnce::new(NonZeroUsize::MIN.saturating_add(1)), AtomicU32::new(0));
        let check = |key: u32, expect: u32| {
            let value = cache.get(key, || {
                loads.fetch_add(1, Relaxed);
                if key == 9 { Err("no value") } else { Ok(key) }
            });
            assert_eq!(value, if key == 9 { Err("no value") } else { Ok(key) });
            assert_eq!(loads.load(Relaxed), expect, "{key}");
        };
        check(9, 1);
        check(9, 2);
        check(1, 3);
        check(2, 4);
        check(1, 4);
        check(3, 5);
        check(1, 5);
        check(2, 6);
    }
}
