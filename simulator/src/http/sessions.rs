//! The live sessions of a server, by ids that cannot be guessed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

use serde_json::Value as Json;

use super::auth::Holder;
use super::creation::{Creation, Creations, SessionKey};
use super::incoming::Incoming;
use super::node::{Node, new_id, node_of};
use super::problem::Problem;
use super::random::unguessable;
use super::settings::Settings;
use super::tasks::TaskSpec;
use super::weight::{Scale, Weight};
use super::worlds::Ready;
use crate::conversation::Conversation;
use diorama_engine::session::Session;

/// A session that is served.
pub(super) struct Live {
    pub(super) id: String,
    /// The request that made it, where that had a key.
    pub(super) creation: Option<Arc<Creation>>,
    /// Opens the admin API for this session alone.
    pub(super) token: String,
    pub(super) world: Arc<Ready>,
    pub(super) session: Session,
    pub(super) task: Option<Arc<TaskSpec>>,
    /// The messages of assistant and user.
    pub(super) said: Conversation,
    /// The result, once the episode has ended.
    pub(super) grade: Option<Json>,
    /// How long it lives when nobody asks for it; 0 is for ever.
    pub(super) lease_ms: u64,
    /// The name of the events in the store that it shares with the sessions it parted from.
    pub(super) prefix: Option<String>,
    /// The number of its next event in the store.
    pub(super) next_event: u64,
    /// The number of the next event when the last snapshot was taken.
    pub(super) snapshot_event: u64,
    /// How many of the session's calls are written down, where there is a store.
    pub(super) calls_written: usize,
    /// Bytes that it holds in memory.
    weight: Weight,
    /// How much of that was said.
    said_bytes: u64,
    /// True if it was deleted while a request waited for it.
    pub(super) gone: bool,
    /// The second of the last call, and the calls in it.
    window: (u64, u32),
}

impl Live {
    pub(super) fn new(
        world: Arc<Ready>,
        session: Session,
        task: Option<Arc<TaskSpec>>,
        lease_ms: u64,
        weight: Weight,
    ) -> Result<Self, Problem> {
        Ok(Self {
            weight,
            said_bytes: 0,
            calls_written: session.calls(),
            id: new_id(None).map_err(Problem::no_random)?,
            creation: None,
            token: unguessable().map_err(Problem::no_random)?,
            world,
            session,
            task,
            said: Conversation::default(),
            grade: None,
            lease_ms,
            prefix: None,
            next_event: 0,
            snapshot_event: 0,
            gone: false,
            window: (0, 0),
        })
    }

    /// The same session with an id of this node.
    pub(super) fn on_node(mut self, node: Option<&str>) -> Result<Self, Problem> {
        self.id = new_id(node).map_err(Problem::no_random)?;
        Ok(self)
    }

    /// Another live session that starts where this one is, or where it was after so many calls.
    pub(super) fn fork(&mut self, at: Option<usize>) -> Result<Self, Problem> {
        let calls = self.session.calls();
        let at = at.unwrap_or(calls);
        if at > calls {
            return Err(Problem::about("at", &format!("a number of calls from 0 to {calls}"), at));
        }
        let session = self.session.fork_at(at);
        let weight = if at == calls { self.weight.part() } else { self.weight.apart() };
        let (world, task) = (Arc::clone(&self.world), self.task.clone());
        let fork = Self::new(world, session, task, self.lease_ms, weight)?;
        let mut fork = fork.on_node(node_of(&self.id))?;
        fork.said = self.said.clone();
        fork.said.cut(at);
        fork.weigh_all();
        fork.grade = self.grade.clone().filter(|_| at == calls);
        Ok(fork)
    }

    /// The session, as far as its keys follow from it.
    pub(super) fn holder(&self) -> Holder<'_> {
        Holder {
            world: self.world.world(),
            world_hash: &self.world.hash,
            seed: self.session.seed(),
            clock: self.session.state().clock(),
        }
    }

    pub(super) fn reset(&mut self) {
        self.session.reset();
        self.said.clear();
        self.said_bytes = 0;
        self.weight.clear();
        self.grade = None;
        self.prefix = None;
        (self.next_event, self.snapshot_event, self.calls_written) = (0, 0, 0);
    }

    /// Returns true if the events in the store lead to where the session stands.
    pub(super) fn is_written_down(&self) -> bool {
        self.calls_written == self.session.calls()
    }

    /// Refuses a session that was deleted while a request waited for it.
    pub(super) fn check_present(&self) -> Result<(), Problem> {
        if self.gone { Err(no_session(&self.id)) } else { Ok(()) }
    }

    /// Refuses what an episode that has ended, or a session with too long a log, does not take.
    pub(super) fn takes_calls(&self, settings: &Settings, scale: &Scale) -> Result<(), Problem> {
        self.check_present()?;
        if self.grade.is_some() {
            return Err(Problem::new(
                409,
                "the episode has been graded and has ended; reset the session or create another",
            )
            .with("done", true));
        }
        if self.said.is_over() {
            return Err(Problem::new(
                409,
                "the user has nothing more to say, so the episode has ended and nothing more is done; grade it, reset \
                 the session or create another",
            )
            .with("done", true));
        }
        let (bytes, most) = (self.weight.bytes(), settings.max_session_bytes);
        if bytes >= most {
            let detail = format!(
                "the session holds {bytes} bytes of records, calls and messages, expected fewer than {most} \
                 (--max-session-bytes); reset it or create another"
            );
            return Err(Problem::new(429, detail).with("limit", most));
        }
        let (bytes, most) = (scale.held(), settings.max_bytes);
        if bytes >= most {
            let detail = format!(
                "all sessions hold {bytes} bytes, expected fewer than {most} (--max-bytes); delete or reset some"
            );
            return Err(Problem::new(429, detail).with("limit", most));
        }
        let most = settings.max_calls;
        if self.session.calls() >= most {
            let detail =
                format!("the session has had {most} calls, expected fewer; reset it or create another");
            return Err(Problem::new(429, detail).with("limit", most as u64));
        }
        Ok(())
    }

    /// Weighs the session again, after a call.
    pub(super) fn weigh(&mut self) {
        self.weight.set(self.session.bytes() + self.said_bytes);
    }

    /// Weighs the session again, after something was said.
    pub(super) fn weigh_all(&mut self) {
        self.said_bytes = self.said.bytes();
        self.weigh();
    }

    /// Refuses a call that comes too soon after others.
    pub(super) fn takes_one_now(&mut self, settings: &Settings, now_ms: u64) -> Result<(), Problem> {
        let Some(most) = settings.max_calls_per_s else { return Ok(()) };
        let second = now_ms / 1_000;
        let count = if self.window.0 == second { self.window.1.saturating_add(1) } else { 1 };
        if count > most {
            let detail =
                format!("the session has had {most} calls in this second, expected no more; wait one");
            return Err(Problem::new(429, detail).with("limit", most).retry_after(1));
        }
        self.window = (second, count);
        Ok(())
    }
}

/// How often a session that is in use is looked at again, for some tens of microseconds.
const SPINS: usize = 1_000;

/// A session's place among the live ones: what is known of it without its lock.
pub(super) struct Slot {
    live: Mutex<Live>,
    pub(super) world: Arc<Ready>,
    /// The session's own token.
    pub(super) token: String,
    /// True if it shows all APIs of its world.
    pub(super) shows_all: bool,
    /// Sessions are numbered as they are made.
    pub(super) number: u64,
    creation: Option<Arc<Creation>>,
    lease_ms: AtomicU64,
    touched_ms: AtomicU64,
}

impl Slot {
    fn is_over(&self, now_ms: u64) -> bool {
        let lease = self.lease_ms.load(Relaxed);
        lease > 0 && now_ms.saturating_sub(self.touched_ms.load(Relaxed)) > lease
    }

    /// The session behind its lock. A request in haste is postponed where others are at it.
    pub(super) fn enter(&self, request: &Incoming<'_>) -> Result<MutexGuard<'_, Live>, Problem> {
        if request.in_haste { self.lock_soon().ok_or_else(Problem::postponed) } else { Ok(lock(self)) }
    }

    /// The session behind its lock, where it is free within some tens of microseconds: to hand the request to another thread takes longer.
    pub(super) fn lock_soon(&self) -> Option<MutexGuard<'_, Live>> {
        (0..SPINS).find_map(|_| match self.live.try_lock() {
            Ok(live) => Some(live),
            Err(TryLockError::Poisoned(live)) => Some(live.into_inner()),
            Err(TryLockError::WouldBlock) => {
                std::hint::spin_loop();
                None
            }
        })
    }

    pub(super) fn touch(&self, now_ms: u64) {
        self.touched_ms.store(now_ms, Relaxed);
    }

    pub(super) fn set_lease(&self, lease_ms: u64) {
        self.lease_ms.store(lease_ms, Relaxed);
    }
}

/// All live sessions.
pub(super) struct Sessions {
    known: RwLock<Known>,
    made: AtomicU64,
    most: usize,
    /// The name of this server among several.
    node: Option<Node>,
}

#[derive(Default)]
struct Known {
    live: HashMap<String, Arc<Slot>>,
    /// Places of sessions that are being made.
    reserved: usize,
    /// The sessions by the keys of the requests that made them.
    creations: Creations,
}

/// Places for sessions that are being made. Those that are not taken are free again once this is dropped.
pub(super) struct Places<'a> {
    sessions: &'a Sessions,
    left: usize,
    creation: Option<&'a Creation>,
}

/// The answer to a request for places.
pub(super) enum Reserved<'a> {
    Free(Places<'a>),
    /// An earlier request of the same key made these sessions.
    Made(Vec<Arc<Slot>>),
}

impl Places<'_> {
    /// Adds the sessions that the places were reserved for.
    pub(super) fn take(mut self, new: Vec<Live>, now_ms: u64) -> Vec<Arc<Slot>> {
        let mut known = self.sessions.write();
        self.left = self.left.saturating_sub(new.len());
        known.reserved = known.reserved.saturating_sub(new.len());
        self.sessions.insert(&mut known, new, now_ms)
    }
}

impl Drop for Places<'_> {
    fn drop(&mut self) {
        if self.left > 0 {
            let mut known = self.sessions.write();
            known.reserved = known.reserved.saturating_sub(self.left);
            if let Some(creation) = self.creation {
                known.creations.give_up(creation);
            }
        }
    }
}

impl Sessions {
    pub(super) fn new(node: Option<Node>, most: usize, earlier: Vec<Live>) -> Self {
        let sessions = Self { known: RwLock::default(), made: AtomicU64::new(0), most, node };
        sessions.insert(&mut sessions.write(), earlier, 0);
        sessions
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves places, before anything is written down of the sessions that are to take them. The sessions are returned
    /// instead where an earlier request of the same key made them.
    ///
    /// # Errors
    /// When so many do not fit beside those that are there or being made, or the key is another request's.
    pub(super) fn reserve<'a>(
        &'a self,
        more: usize,
        creation: Option<&'a Creation>,
    ) -> Result<Reserved<'a>, Problem> {
        let mut known = self.write();
        if let Some(creation) = creation {
            let made = known.creations.begin(creation)?;
            if !made.is_empty() {
                return Ok(Reserved::Made(
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
            return Err(Problem::new(429, detail).with("limit", most as u64));
        }
        known.reserved += more;
        Ok(Reserved::Free(Places { sessions: self, left: more, creation }))
    }

    fn insert(&self, known: &mut Known, new: Vec<Live>, now_ms: u64) -> Vec<Arc<Slot>> {
        let insert = |new: Live| {
            let id = new.id.clone();
            let slot = Arc::new(Slot {
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

    /// A session, whose lease begins anew.
    pub(super) fn get(&self, id: &str, now_ms: u64) -> Result<Arc<Slot>, Problem> {
        let Some(slot) = self.peek(id).filter(|slot| !slot.is_over(now_ms)) else {
            self.is_here(id)?;
            return Err(no_session(id));
        };
        slot.touch(now_ms);
        Ok(slot)
    }

    /// Refuses the id of a session of another node (RFC 9110, 15.5.20).
    pub(super) fn is_here(&self, id: &str) -> Result<(), Problem> {
        match node_of(id) {
            Some(node) if self.node.as_ref().is_none_or(|own| own.as_str() != node) => {
                Err(self.misdirected(node, "the session is on"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a request that is for another node.
    pub(super) fn misdirected(&self, node: &str, why: &str) -> Problem {
        let own = self.node.as_ref().map(Node::as_str);
        let here =
            own.map_or_else(|| "a server without a node's name".to_owned(), |own| format!("node `{own}`"));
        let detail =
            format!("{why} node `{node}`, found {here}; nothing was done: send the request to that node");
        Problem::new(421, detail).with("node", own).with("expected_node", node)
    }

    /// The id of the session that a caller's key names.
    pub(super) fn named(&self, key: &SessionKey) -> Option<String> {
        self.read().creations.session(key).map(str::to_owned)
    }

    /// A session as it is, whether or not its lease is over.
    pub(super) fn peek(&self, id: &str) -> Option<Arc<Slot>> {
        self.read().live.get(id).cloned()
    }

    pub(super) fn remove(&self, id: &str) -> Result<Arc<Slot>, Problem> {
        let mut known = self.write();
        let slot = known.live.remove(id).ok_or_else(|| no_session(id))?;
        if let Some(creation) = &slot.creation {
            known.creations.remove(creation);
        }
        Ok(slot)
    }

    /// The sessions whose leases are over.
    pub(super) fn over(&self, now_ms: u64) -> Vec<Arc<Slot>> {
        self.read().live.values().filter(|slot| slot.is_over(now_ms)).cloned().collect()
    }

    /// All sessions in the order they were made.
    pub(super) fn all(&self) -> Vec<Arc<Slot>> {
        let mut all: Vec<_> = self.read().live.values().cloned().collect();
        all.sort_unstable_by_key(|slot| slot.number);
        all
    }

    pub(super) fn count(&self) -> usize {
        self.read().live.len()
    }

    /// How many sessions there may be.
    pub(super) fn most(&self) -> usize {
        self.most
    }
}

/// The session behind its lock, unless it was deleted while others waited for it.
///
/// # Errors
/// When it is gone.
pub(super) fn held(slot: &Slot) -> Result<MutexGuard<'_, Live>, Problem> {
    let live = lock(slot);
    live.check_present()?;
    Ok(live)
}

/// The session behind its lock. A call that panicked left it as it was before, or as it is after: states are replaced whole.
pub(super) fn lock(slot: &Slot) -> MutexGuard<'_, Live> {
    slot.lock_soon().unwrap_or_else(|| slot.live.lock().unwrap_or_else(PoisonError::into_inner))
}

fn no_session(id: &str) -> Problem {
    let shown: String = id.chars().take(60).collect();
    Problem::new(
        404,
        format!("no session has the id `{shown}`, or its lease is over; create one with POST /v1/sessions"),
    )
}
