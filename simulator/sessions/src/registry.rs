//! Owns the registry of live sessions, by their ids.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

use super::blocking::run_blocking;
use super::creation::{Creation, Creations, SessionKey};
use super::live::{Live, no_session};
use super::node::{Node, node_of};
use super::problem::{Kind, Problem};
use super::worlds::Ready;

/// Tries to lock a busy session before giving up. They take some tens of microseconds.
const SPINS: usize = 1_000;

/// An entry of the registry: the properties of a session that need no lock.
pub struct Slot {
    id: String,
    live: Mutex<Live>,
    /// The world.
    pub world: Arc<Ready>,
    token: String,
    shows_all: bool,
    /// Sessions are numbered in the order of their creation.
    number: u64,
    creation: Option<Arc<Creation>>,
    lease_ms: AtomicU64,
    touched_ms: AtomicU64,
}

impl Slot {
    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the session's token, which opens the admin API for it only.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns true if the agent sees all APIs of the world.
    #[must_use]
    pub const fn shows_all(&self) -> bool {
        self.shows_all
    }

    fn is_over(&self, now_ms: u64) -> bool {
        let lease = self.lease_ms.load(Relaxed);
        lease > 0 && now_ms.saturating_sub(self.touched_ms.load(Relaxed)) > lease
    }

    /// Locks the session. A panic during a call leaves the state before or after it, because states are
    /// replaced as a whole.
    pub fn lock(&self) -> MutexGuard<'_, Live> {
        self.lock_soon().unwrap_or_else(|| self.live.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locks the session, unless it was deleted during the wait.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if the session is gone.
    pub fn enter(&self) -> Result<MutexGuard<'_, Live>, Problem> {
        let live = self.lock();
        live.check_present()?;
        Ok(live)
    }

    /// Locks the session if it is free within some tens of microseconds. Handing the request to another
    /// thread takes longer.
    #[must_use]
    pub fn lock_soon(&self) -> Option<MutexGuard<'_, Live>> {
        (0..SPINS).find_map(|_| match self.live.try_lock() {
            Ok(live) => Some(live),
            Err(TryLockError::Poisoned(live)) => Some(live.into_inner()),
            Err(TryLockError::WouldBlock) => {
                std::hint::spin_loop();
                None
            }
        })
    }

    /// Works on the session: on this thread if it is free and small, else on a thread of its own.
    ///
    /// # Errors
    /// The errors of the work.
    pub async fn work<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(MutexGuard<'_, Live>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        if let Some(live) = self.lock_soon()
            && live.holds_little()
        {
            return work(live);
        }
        run_blocking(move || work(self.lock())).await
    }

    pub(crate) fn touch(&self, now_ms: u64) {
        self.touched_ms.store(now_ms, Relaxed);
    }

    pub(crate) fn set_lease(&self, lease_ms: u64) {
        self.lease_ms.store(lease_ms, Relaxed);
    }
}

/// All live sessions of a server.
pub(crate) struct Registry {
    known: RwLock<SessionTable>,
    made: AtomicU64,
    most: usize,
    /// The name of this server in a cluster.
    node: Option<Node>,
}

#[derive(Default)]
struct SessionTable {
    live: HashMap<String, Arc<Slot>>,
    /// Number of places for sessions that are being made.
    reserved: usize,
    /// The sessions by the idempotency keys of their requests.
    creations: Creations,
}

/// Reservation places for new sessions. Dropping this frees the unused ones.
pub(crate) struct Places<'a> {
    registry: &'a Registry,
    left: usize,
    creation: Option<&'a Creation>,
}

/// The result of a reservation.
pub(crate) enum Reservation<'a> {
    Free(Places<'a>),
    /// An earlier request with the same key made these sessions.
    Made(Vec<Arc<Slot>>),
}

impl Places<'_> {
    /// Adds the sessions that the places were reserved for.
    pub(crate) fn take(mut self, new: Vec<Live>, now_ms: u64) -> Vec<Arc<Slot>> {
        let mut known = self.registry.write();
        self.left = self.left.saturating_sub(new.len());
        known.reserved = known.reserved.saturating_sub(new.len());
        self.registry.insert(&mut known, new, now_ms)
    }
}

impl Drop for Places<'_> {
    fn drop(&mut self) {
        if self.left > 0 {
            let mut known = self.registry.write();
            known.reserved = known.reserved.saturating_sub(self.left);
            if let Some(creation) = self.creation {
                known.creations.give_up(creation);
            }
        }
    }
}

impl Registry {
    pub(crate) fn new(node: Option<Node>, most: usize, earlier: Vec<Live>) -> Self {
        let registry = Self { known: RwLock::default(), made: AtomicU64::new(0), most, node };
        registry.insert(&mut registry.write(), earlier, 0);
        registry
    }

    fn read(&self) -> RwLockReadGuard<'_, SessionTable> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, SessionTable> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves places before the store writes the new sessions. Returns the existing sessions instead if an
    /// earlier request had the same key.
    ///
    /// # Errors
    /// Returns a problem if the server is full, or if another request used the key.
    pub(crate) fn reserve<'a>(
        &'a self,
        more: usize,
        creation: Option<&'a Creation>,
    ) -> Result<Reservation<'a>, Problem> {
        let mut known = self.write();
        if let Some(creation) = creation {
            let made = known.creations.begin(creation)?;
            if !made.is_empty() {
                return Ok(Reservation::Made(
                    made.iter().filter_map(|id| known.live.get(id).cloned()).collect(),
                ));
            }
        }
        let (found, most) = (known.live.len().saturating_add(known.reserved), self.most);
        if found.saturating_add(more) > most {
            if let Some(creation) = creation {
                known.creations.give_up(creation);
            }
            let detail = format!(
                "found {found} sessions and {more} to add, expected at most {most}; delete some first"
            );
            return Err(Problem::new(Kind::TooMany, detail).with("limit", most as u64));
        }
        known.reserved += more;
        Ok(Reservation::Free(Places { registry: self, left: more, creation }))
    }

    fn insert(&self, known: &mut SessionTable, new: Vec<Live>, now_ms: u64) -> Vec<Arc<Slot>> {
        let insert = |new: Live| {
            let id = new.id.clone();
            let slot = Arc::new(Slot {
                id: id.clone(),
                number: self.made.fetch_add(1, Relaxed),
                creation: new.creation.clone(),
                lease_ms: AtomicU64::new(new.lease_ms),
                touched_ms: AtomicU64::new(now_ms),
                world: Arc::clone(&new.world),
                token: new.token.clone(),
                shows_all: new.session.visible_if_limited().is_none(),
                live: Mutex::new(new),
            });
            if let Some(creation) = &slot.creation {
                known.creations.add(creation, &id);
            }
            known.live.insert(id, Arc::clone(&slot));
            slot
        };
        new.into_iter().map(insert).collect()
    }

    /// Returns a session and renews its lease.
    pub(crate) fn get(&self, id: &str, now_ms: u64) -> Result<Arc<Slot>, Problem> {
        let Some(slot) = self.peek(id).filter(|slot| !slot.is_over(now_ms)) else {
            self.is_here(id)?;
            return Err(no_session(id));
        };
        slot.touch(now_ms);
        Ok(slot)
    }

    /// Refuses the id of a session on another node (RFC 9110, 15.5.20).
    pub(crate) fn is_here(&self, id: &str) -> Result<(), Problem> {
        match node_of(id) {
            Some(node) if self.node.as_ref().is_none_or(|own| own.as_str() != node) => {
                Err(self.misdirected(node, "the session is on"))
            }
            _ => Ok(()),
        }
    }

    /// Makes the problem of a request for another node.
    pub(crate) fn misdirected(&self, node: &str, why: &str) -> Problem {
        let own = self.node.as_ref().map(Node::as_str);
        let here =
            own.map_or_else(|| "a server without a node's name".to_owned(), |own| format!("node `{own}`"));
        let detail =
            format!("{why} node `{node}`, found {here}; nothing was done: send the request to that node");
        Problem::new(Kind::Misdirected, detail).with("node", own).with("expected_node", node)
    }

    /// Returns the id of the session with a caller's key.
    pub(crate) fn named(&self, key: &SessionKey) -> Option<String> {
        self.read().creations.session(key).map(str::to_owned)
    }

    /// Returns a session even if its lease has expired. Does not renew the lease.
    pub(crate) fn peek(&self, id: &str) -> Option<Arc<Slot>> {
        self.read().live.get(id).cloned()
    }

    pub(crate) fn remove(&self, id: &str) -> Result<Arc<Slot>, Problem> {
        let mut known = self.write();
        let slot = known.live.remove(id).ok_or_else(|| no_session(id))?;
        if let Some(creation) = &slot.creation {
            known.creations.remove(creation);
        }
        Ok(slot)
    }

    /// Returns the sessions with expired leases.
    pub(crate) fn over(&self, now_ms: u64) -> Vec<Arc<Slot>> {
        self.read().live.values().filter(|slot| slot.is_over(now_ms)).cloned().collect()
    }

    /// Returns all sessions in the order of their creation.
    pub(crate) fn all(&self) -> Vec<Arc<Slot>> {
        let mut all: Vec<_> = self.read().live.values().cloned().collect();
        all.sort_unstable_by_key(|slot| slot.number);
        all
    }

    pub(crate) fn count(&self) -> usize {
        self.read().live.len()
    }

    /// Returns the maximum number of sessions.
    pub(crate) const fn most(&self) -> usize {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_a_request_that_is_still_being_answered_is_a_conflict() {
        let registry = Registry::new(None, 9, Vec::new());
        let creation = Creation::new(None, "a", b"{}");
        let Ok(Reservation::Free(places)) = registry.reserve(1, Some(&creation)) else { panic!("no place") };
        let again = registry.reserve(1, Some(&creation)).err().map(|problem| problem.kind());
        assert_eq!(again, Some(Kind::Conflict));
        drop(places);
        assert!(matches!(registry.reserve(1, Some(&creation)), Ok(Reservation::Free(_))));
    }
}
