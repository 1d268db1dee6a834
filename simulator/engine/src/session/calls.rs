//! Owns the session: an isolated copy of a world, and the calls on it.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_seeds::model::ApiId;
use diorama_seeds::task::{Call, Outage};
use diorama_seeds::value::Instant;
use rpds::{RedBlackTreeSetSync, VectorSync};

use super::entry::LogEntry;
use super::log::{Log, Mark};
use crate::fault::Faults;
use crate::refusal::Refusal;
use crate::tools::{SearchVersion, TOOL_SEARCHER};
use crate::{Base, CallResult, Digest, RecordChange, State, apply, broken_rule, diff, unknown_api};

/// The start of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// The seed of new keys and tokens.
    pub seed: u64,
    /// The time at the start. If none, the world's own.
    pub clock: Option<Instant>,
    /// The APIs that may be called from the start. If none, all. `ToolSearcher` is always allowed.
    pub visible: Option<Vec<ApiId>>,
    /// The version of the search in `ToolSearcher`, if not the default.
    pub search: Option<SearchVersion>,
    /// The outages that the first calls of APIs meet. Outages of unknown APIs are dropped.
    pub outages: Vec<Outage>,
}

/// An isolated copy of a world. A clone is a fork and copies no records.
///
/// ```
/// use diorama_seeds::task::Call;
/// use diorama_engine::Base;
/// use diorama_engine::session::{Session, SessionOptions};
///
/// let text = r#"
/// world: 1
/// name: rooms
/// materialised: 0
/// clock: 2026-03-02T09:00
/// domain: {name: rooms, title: Rooms}
/// resources:
///   room:
///     key: room_id
///     fields: {room_id: {type: integer}, free: {type: boolean}}
///     records: [{room_id: 12, free: true}]
/// apis:
///   - name: TakeRoom
///     method: POST
///     path: /rooms/{room_id}/take
///     description: Takes a free room.
///     parameters: {room_id: {ref: room}}
///     behaviour:
///       action: room
///       require: [{that: record.free, else: {status: 409, message: the room is taken}}]
///       also: [{update: room, key: args.room_id, set: {free: "false"}}]
/// "#;
/// let (_, world) = diorama_seeds::world::load("rooms.yaml", text.as_bytes())?;
/// let mut session = Session::new(Base::new(world)?, SessionOptions::default());
/// let mut fork = session.fork();
/// let take: Call = serde_json::from_str(r#"{"api": "TakeRoom", "arguments": {"room_id": 12}}"#)?;
/// assert_eq!(session.call(&take).reply.status, 200);
/// assert_eq!(session.call(&take).reply.status, 409);
/// assert_eq!(fork.call(&take).reply.status, 200, "the fork has its own room");
/// assert_eq!(session.digest(), fork.digest());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) base: Arc<Base>,
    pub(super) initial: State,
    pub(super) state: State,
    pub(super) visible: Option<RedBlackTreeSetSync<ApiId>>,
    pub(super) visible_at_first: Option<RedBlackTreeSetSync<ApiId>>,
    pub(super) log: Log,
    pub(super) faults: Option<Arc<Faults>>,
    /// The state before the last change, which stale reads return.
    pub(super) before: State,
}

impl Session {
    /// Makes a session at its start.
    #[must_use]
    pub fn new(base: Arc<Base>, options: SessionOptions) -> Self {
        let mut initial = State::initial(&base, options.seed);
        if let Some(clock) = options.clock {
            initial.set_clock(clock);
        }
        if let Some(version) = options.search {
            initial.set_search(version);
        }
        let outages = options.outages.iter();
        initial.set_outages(outages.filter_map(|outage| Some((base.api_named(&outage.api)?, outage.kind))));
        let visible = options.visible.map(|apis| {
            let mut set = RedBlackTreeSetSync::new_sync();
            apis.into_iter().for_each(|api| set.insert_mut(api));
            set
        });
        Self {
            base,
            state: initial.clone(),
            before: initial.clone(),
            initial,
            visible_at_first: visible.clone(),
            visible,
            log: Log::Whole(VectorSync::new_sync()),
            faults: None,
        }
    }

    /// Executes a call, updates the state and logs the call.
    pub fn call(&mut self, call: &Call) -> Arc<LogEntry> {
        self.call_owned(call.clone())
    }

    /// The same as [`Session::call`], without a copy of the call.
    pub fn call_owned(&mut self, call: Call) -> Arc<LogEntry> {
        let api = self.base.api_named(&call.api);
        if let Some(refusal) = self.refused(&call, api) {
            return self.refuse(call, api, refusal);
        }
        let (entry, state) = self.execute(call, api);
        self.take(entry, state)
    }

    /// Returns the log entry of a call and the state after it, without changing the session.
    pub(super) fn execute(&self, call: Call, api: Option<ApiId>) -> (Arc<LogEntry>, State) {
        let clock = self.state.clock();
        let (applied, faults) = match (api, &self.faults) {
            (Some(api), Some(rules)) => self.faulty(&call, api, rules),
            _ => (apply(&self.base, &self.state, &call), Vec::new()),
        };
        let CallResult { reply, state, changes, needs } = applied;
        let broken = api.filter(|_| reply.is_success());
        let broken = broken.and_then(|api| broken_rule(&self.base, &self.state, &call, api));
        (Arc::new(LogEntry { call, api, clock, reply, changes, faults, broken, needs }), state)
    }

    /// Sets the state after a call, and logs the call.
    pub(super) fn take(&mut self, entry: Arc<LogEntry>, state: State) -> Arc<LogEntry> {
        self.remember(&entry);
        let before = std::mem::replace(&mut self.state, state);
        if !entry.changes.is_empty() {
            self.before = before;
        }
        self.show_tools(&entry);
        entry
    }

    pub(super) fn refuse(&mut self, call: Call, api: Option<ApiId>, refusal: Refusal) -> Arc<LogEntry> {
        let clock = self.state.clock();
        let (reply, changes) = (refusal.into_reply(), Vec::new());
        let (faults, broken, needs) = (Vec::new(), None, None);
        let entry = Arc::new(LogEntry { call, api, clock, reply, changes, faults, broken, needs });
        self.remember(&entry);
        entry
    }

    /// Logs a call. The session must still be in the state before it.
    fn remember(&mut self, entry: &Arc<LogEntry>) {
        let mut log = std::mem::replace(&mut self.log, Log::Counted(0));
        log.push(entry, || self.mark());
        self.log = log;
    }

    fn mark(&self) -> Mark {
        Mark { state: self.state.clone(), before: self.before.clone(), visible: self.visible.clone() }
    }

    /// Returns a session that starts in the current state.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// Returns a session that starts in the state after `calls` calls. The calls are replayed.
    #[must_use]
    pub fn fork_at(&self, calls: usize) -> Self {
        let mut fork = self.fork();
        if calls < self.log.len() {
            fork.reset();
            for (clock, call) in self.asked().take(calls) {
                fork.repeat(clock, call);
            }
        }
        fork
    }

    /// Resets records, clock, tokens, visible APIs and log to the start.
    pub fn reset(&mut self) {
        self.state = self.initial.clone();
        self.before = self.initial.clone();
        self.visible = self.visible_at_first.clone();
        self.log = self.log.emptied();
    }

    /// Sets the clock. Calls do not change it.
    pub const fn set_clock(&mut self, clock: Instant) {
        self.state.set_clock(clock);
    }

    /// Returns the hash of the current records and tokens.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.state.digest()
    }

    /// Returns the differences from the start, sorted by resource and key.
    #[must_use]
    pub fn diff(&self) -> Vec<RecordChange> {
        diff(&self.base, &self.initial, &self.state)
    }

    /// Returns the frozen base.
    #[must_use]
    pub const fn base(&self) -> &Arc<Base> {
        &self.base
    }

    /// Returns the current state.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Returns the state at the start.
    #[must_use]
    pub const fn initial(&self) -> &State {
        &self.initial
    }

    /// Returns the seed of new keys and tokens.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.initial.seed()
    }

    /// Returns true if an API may be called now.
    #[must_use]
    pub fn is_visible(&self, api: ApiId) -> bool {
        self.visible.as_ref().is_none_or(|visible| visible.contains(&api))
    }

    /// Returns the APIs that may be called now, in the world's order.
    pub fn visible(&self) -> impl Iterator<Item = ApiId> {
        let count = u16::try_from(self.base.world().apis.len()).unwrap_or(u16::MAX);
        (0..count).map(ApiId).filter(|api| self.is_visible(*api))
    }

    /// Returns the APIs that may be called now, or none if all may.
    #[must_use]
    pub fn visible_if_limited(&self) -> Option<BTreeSet<ApiId>> {
        Some(self.visible.as_ref()?.iter().copied().collect())
    }

    /// Returns the refusal of a call to an API that the caller has not seen. It does not reveal hidden names.
    pub(super) fn refused(&self, call: &Call, api: Option<ApiId>) -> Option<Refusal> {
        self.visible.as_ref()?;
        let searches = self.visible_at_first.as_ref().is_none_or(RedBlackTreeSetSync::is_empty);
        match api {
            Some(api) if self.is_visible(api) => None,
            Some(_) if searches => {
                let name = &call.api;
                let detail =
                    format!("`{name}` has not been shown to you yet; find it with {TOOL_SEARCHER} first");
                Some(Refusal::new(403, detail))
            }
            None if call.api == TOOL_SEARCHER => None,
            _ => {
                let names = self.visible().map(|api| &*self.base.world().api(api).name);
                Some(unknown_api(&call.api, names, searches))
            }
        }
    }

    /// Makes the APIs of a search result visible.
    fn show_tools(&mut self, entry: &LogEntry) {
        let Some(visible) = &mut self.visible else { return };
        for api in entry.tools_found().filter_map(|name| self.base.api_named(name)) {
            visible.insert_mut(api);
        }
    }
}
