//! Owns the sessions of a server: creation, fork, reset and end.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard};
use std::time::Instant;

use diorama_seeds::value::Instant as Timestamp;
use serde_json::Value as Json;

use super::after::{PendingEvent, PendingSteps};
use super::creation::{Creation, SessionKey};
use super::live::Live;
use super::metrics::Metrics;
use super::problem::{Kind, Problem, quoted};
use super::registry::{Registry, Reservation, Slot};
use super::requests::{CreateRequest, ForkRequest, MAX_COPIES, MAX_LEASE_SECONDS};
use super::settings::Settings;
use super::store::restore::{LeftOut, RestoredSessions, restored};
use super::store::{Event, Store, StoreError};
use super::tasks::{TaskSource, TaskSpec};
use super::weight::{Scale, Weight};
use super::worlds::{Ready, SameName, WorldSource, Worlds};
use diorama_engine::fault::{Faults, Rule};
use diorama_engine::session::{Session, SessionOptions};
use diorama_engine::tools::SearchVersion;

/// Maximum number of characters that a problem quotes of a wrong value.
const MAX_QUOTED_CHARS: usize = 60;

/// A server's worlds, tasks and sessions.
pub struct Sessions {
    pub(crate) worlds: Worlds,
    pub(crate) tasks: Option<Box<dyn TaskSource>>,
    pub(crate) registry: Registry,
    /// The bytes that the sessions use.
    pub(crate) scale: Arc<Scale>,
    pub(crate) store: Option<Store>,
    left_out: Vec<LeftOut>,
    pub(crate) metrics: Metrics,
    pub(crate) settings: Settings,
    started: Instant,
    /// Milliseconds by which tests advance the clock.
    ahead_ms: AtomicU64,
}

/// The reason for which sessions cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Two worlds have the same name.
    #[error(transparent)]
    SameName(#[from] SameName),
    /// The server cannot continue the sessions of an earlier run.
    #[error(transparent)]
    State(#[from] StoreError),
}

impl Sessions {
    /// Opens a server's worlds and tasks, and restores the sessions of the state folder.
    ///
    /// # Errors
    /// Returns an error if two worlds have one name, or if the state folder is unreadable or incomplete.
    pub fn open(
        worlds: Vec<WorldSource>,
        tasks: Option<Box<dyn TaskSource>>,
        settings: Settings,
    ) -> Result<Arc<Self>, OpenError> {
        let worlds = Worlds::new(worlds)?;
        let store = settings.state.as_ref().map(|state| Store::open(state, settings.node())).transpose()?;
        let scale = Arc::new(Scale::default());
        let restored = store.as_ref().map(|store| restored(store, &worlds, tasks.as_deref(), &scale));
        let (earlier, left_out) = match restored.transpose()? {
            Some(RestoredSessions { live, left_out }) => (live, left_out),
            None => (Vec::new(), Vec::new()),
        };
        // RestoredSessions sessions are kept, even if the limit is lower now.
        let most = settings.max_sessions.max(earlier.len());
        let registry = Registry::new(settings.node.clone(), most, earlier);
        Ok(Arc::new(Self {
            worlds,
            tasks,
            registry,
            scale,
            store,
            left_out,
            metrics: Metrics::default(),
            settings,
            started: Instant::now(),
            ahead_ms: AtomicU64::new(0),
        }))
    }

    /// Returns the worlds that callers choose by name.
    #[must_use]
    pub const fn worlds(&self) -> &Worlds {
        &self.worlds
    }

    /// Returns the source of tasks.
    #[must_use]
    pub fn tasks(&self) -> Option<&dyn TaskSource> {
        self.tasks.as_deref()
    }

    /// Returns the counters.
    #[must_use]
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns the memory use of sessions and unsent replies.
    #[must_use]
    pub const fn scale(&self) -> &Arc<Scale> {
        &self.scale
    }

    /// Returns a session and renews its lease.
    ///
    /// # Errors
    /// [`Kind::NotFound`] without such a session. [`Kind::Misdirected`] if it is on another node.
    pub fn get(&self, id: &str) -> Result<Arc<Slot>, Problem> {
        self.registry.get(id, self.now_ms())
    }

    /// Returns a session even if its lease has expired. Does not renew the lease.
    #[must_use]
    pub fn peek(&self, id: &str) -> Option<Arc<Slot>> {
        self.registry.peek(id)
    }

    /// Returns all sessions in the order of their creation.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Slot>> {
        self.registry.all()
    }

    /// Returns the number of sessions.
    #[must_use]
    pub fn count(&self) -> usize {
        self.registry.count()
    }

    /// Returns the maximum number of sessions.
    #[must_use]
    pub const fn most(&self) -> usize {
        self.registry.most()
    }

    /// Refuses the id of a session on another node (RFC 9110, 15.5.20).
    ///
    /// # Errors
    /// [`Kind::Misdirected`].
    pub fn check_here(&self, id: &str) -> Result<(), Problem> {
        self.registry.is_here(id)
    }

    /// Refuses a request that names another node.
    ///
    /// # Errors
    /// [`Kind::Misdirected`].
    pub fn check_node(&self, named: &str) -> Result<(), Problem> {
        if self.settings.node() == Some(named) {
            return Ok(());
        }
        Err(self.registry.misdirected(named, "the header Diorama-Node names"))
    }

    /// Returns the sessions of the state folder that this server cannot continue. They stay in the folder.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Removes those sessions from the state folder.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub fn remove_left_out(&self) -> Result<(), StoreError> {
        self.store.as_ref().map_or(Ok(()), |store| store.remove(&self.left_out))
    }

    /// Returns the problem that prevents writes to the state folder, if there is one.
    #[must_use]
    pub fn ailing(&self) -> Option<Problem> {
        self.store.as_ref().and_then(Store::ailing).map(|error| error.problem())
    }

    /// Waits until the content of the state folder becomes unknown, and returns the reason. The server must
    /// then end.
    pub async fn lost(&self) -> StoreError {
        match &self.store {
            Some(store) => store.lost().await,
            None => std::future::pending().await,
        }
    }

    /// Returns the milliseconds since the start. Leases and limits per second use them; replies do not.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        elapsed.saturating_add(self.ahead_ms.load(Relaxed))
    }

    /// Advances the clock of leases and limits.
    pub fn advance(&self, ms: u64) {
        self.ahead_ms.fetch_add(ms, Relaxed);
    }

    /// Takes snapshots of all sessions, so that the next start need not replay calls.
    pub fn take_snapshots(&self) {
        let Some(store) = &self.store else { return };
        for slot in self.registry.all() {
            store.snapshot(&mut slot.lock());
        }
        store.close_to_others();
    }

    /// Ends sessions with expired leases. Reopens the state folder after a failed write, and removes the
    /// access of other users to its new files.
    pub fn sweep(&self) {
        if let Some(store) = &self.store {
            store.recover();
            store.close_to_others();
        }
        for slot in self.registry.over(self.now_ms()) {
            match self.close(&slot) {
                Ok(_) => self.metrics.expired(),
                Err(problem) => tracing::warn!(why = problem.detail(), "a session whose lease is over stays"),
            }
        }
    }

    /// Creates sessions, or returns those of an earlier request with the same key.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a wrong value. [`Kind::TooMany`] if the server is full. [`Kind::Unavailable`] if
    /// the state folder cannot be written.
    pub fn create(
        &self,
        request: CreateRequest,
        creation: Option<&Creation>,
    ) -> Result<(Vec<Arc<Slot>>, PendingSteps), Problem> {
        let copies = read_copies(request.n)?;
        let places = match self.registry.reserve(copies as usize, creation)? {
            Reservation::Free(places) => places,
            Reservation::Made(made) => return self.made_before(made),
        };
        let faults = read_faults(request.faults.unwrap_or_default())?;
        let search = request.search.as_deref().map(read_search_version).transpose()?;
        let usual = self.settings.lease.map_or(0, |lease| lease.as_millis().try_into().unwrap_or(u64::MAX));
        let lease_ms = read_lease_ms(request.lease_seconds)?.unwrap_or(usual);
        let (world, task) = self.choose_setting(request.task.as_deref(), request.world.as_deref())?;
        check_apis(&faults, &world)?;
        let clock = match &request.clock {
            Some(text) => Some(read_clock(&world, text)?),
            None => task.as_ref().map(|task| task.clock),
        };
        let options = SessionOptions {
            seed: request.seed.or_else(|| task.as_ref().map(|task| task.seed)).unwrap_or(0),
            clock,
            visible: task.as_ref().map(|task| task.visible.clone()),
            search: search.or_else(|| task.as_ref().map(|task| task.search)),
            outages: task.as_ref().map(|task| task.outages.clone()).unwrap_or_default(),
        };
        let session = Session::new(Arc::clone(&world.base), options).with_faults(faults).with_brief_log();
        let new = (0..copies).map(|_| {
            let weight = Weight::new(Arc::clone(&self.scale));
            let live = Live::new(Arc::clone(&world), session.fork(), task.clone(), lease_ms, weight);
            live.identified(self.settings.node())
        });
        let mut new = new.collect::<Result<Vec<_>, Problem>>()?;
        note_creation(&mut new, creation);
        let after = self.save(|store| store.create(&new))?;
        self.metrics.created(new.len());
        Ok((places.take(new, self.now_ms()), after))
    }

    /// Returns the world and the task of a new session.
    fn choose_setting(
        &self,
        task: Option<&str>,
        world: Option<&str>,
    ) -> Result<(Arc<Ready>, Option<Arc<TaskSpec>>), Problem> {
        let Some(id) = task else {
            let served = world.map_or_else(|| self.worlds.only(), |name| self.worlds.named(name))?;
            return Ok((served.ready()?, None));
        };
        let expected = "the id of a task that GET /v1/tasks lists";
        let unknown = || Problem::about("task", expected, quoted(id, MAX_QUOTED_CHARS));
        let tasks = self.tasks.as_ref().ok_or_else(unknown)?;
        let found =
            tasks.task(id).map_err(|error| Problem::new(Kind::Failed, format!("task {id}: {error}")))?;
        let task = found.ok_or_else(unknown)?;
        if let Some(world) = world
            && world != task.world
        {
            let expected = format!("`{}`, the task's, or nothing", task.world);
            return Err(Problem::about("world", &expected, quoted(world, MAX_QUOTED_CHARS)));
        }
        Ok((self.worlds.of_task(&task), Some(Arc::new(task))))
    }

    /// Returns the sessions of an earlier request with the same key. That request may still wait for the
    /// disk.
    fn made_before(&self, made: Vec<Arc<Slot>>) -> Result<(Vec<Arc<Slot>>, PendingSteps), Problem> {
        made.iter().for_each(|slot| slot.touch(self.now_ms()));
        Ok((made, self.save(Store::saved)?))
    }

    /// Forks a session, or returns the forks of an earlier request with the same key.
    ///
    /// # Errors
    /// As [`Sessions::create`]. [`Kind::NotFound`] if the session is gone.
    pub fn fork(
        &self,
        mut live: MutexGuard<'_, Live>,
        request: &ForkRequest,
        creation: Option<&Creation>,
    ) -> Result<(Vec<Arc<Slot>>, PendingSteps), Problem> {
        live.check_present()?;
        let copies = read_copies(request.n)?;
        let places = match self.registry.reserve(copies as usize, creation)? {
            Reservation::Free(places) => places,
            Reservation::Made(made) => return self.made_before(made),
        };
        if request.at.is_some() {
            self.recall(&mut live)?;
        }
        let node = self.settings.node();
        let mut first = live.fork(request.at)?.identified(node)?;
        let more = (1..copies).map(|_| first.fork(None)?.identified(node)).collect::<Result<Vec<_>, _>>()?;
        let mut forks: Vec<Live> = std::iter::once(first).chain(more).collect();
        note_creation(&mut forks, creation);
        let after = self.save(|store| store.fork(&mut live, request.at, &mut forks))?;
        drop(live);
        self.metrics.created(forks.len());
        Ok((places.take(forks, self.now_ms()), after))
    }

    /// Ends a session. A running request finishes first. Waiting requests find the session gone, and the
    /// store gets no further events.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if the session is gone. [`Kind::Unavailable`] if the state folder cannot be
    /// written.
    pub fn close(&self, slot: &Slot) -> Result<PendingSteps, Problem> {
        let mut live = slot.enter()?;
        let after = self.save(|store| store.forget(&live))?;
        live.gone = true;
        self.registry.remove(&live.id)?;
        Ok(after)
    }

    /// Resets a session to its start.
    ///
    /// # Errors
    /// As [`Sessions::close`].
    pub fn reset<'s>(
        &self,
        mut live: MutexGuard<'s, Live>,
    ) -> Result<(MutexGuard<'s, Live>, PendingSteps), Problem> {
        live.check_present()?;
        let after = self.save(|store| store.reset(&live))?;
        live.reset();
        Ok((live, after))
    }

    /// Sets a session's clock from a date-time in its world's zone.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a malformed date-time. [`Kind::Conflict`] after the episode has ended.
    pub fn set_clock<'s>(
        &self,
        slot: &'s Slot,
        clock: &str,
    ) -> Result<(MutexGuard<'s, Live>, PendingSteps), Problem> {
        let mut live = slot.lock();
        live.takes_calls(&self.settings, &self.scale)?;
        let clock = read_clock(&live.world, clock)?;
        let saved = self.note(&mut live, &Event::Clock(clock.0))?;
        live.session.set_clock(clock);
        Ok((live, PendingSteps::saving(saved)))
    }

    /// Sets the seconds without a request until a session is closed. 0 means never, and none keeps the
    /// present lease.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a lease that is too long.
    pub fn renew<'s>(
        &self,
        slot: &'s Slot,
        lease_seconds: Option<u64>,
    ) -> Result<(MutexGuard<'s, Live>, PendingSteps), Problem> {
        let mut live = slot.enter()?;
        let Some(lease_ms) = read_lease_ms(lease_seconds)? else {
            return Ok((live, PendingSteps::default()));
        };
        let before = std::mem::replace(&mut live.lease_ms, lease_ms);
        match self.save(|store| store.renew(&live)) {
            Ok(after) => {
                slot.set_lease(lease_ms);
                Ok((live, after))
            }
            Err(problem) => {
                live.lease_ms = before;
                Err(problem)
            }
        }
    }

    /// Writes to the state folder, if there is one. Returns the steps that wait for the disk.
    fn save(
        &self,
        write: impl FnOnce(&Store) -> Result<Option<PendingEvent>, StoreError>,
    ) -> Result<PendingSteps, Problem> {
        let saved = self.store.as_ref().map(write).transpose().map_err(|error| error.problem())?;
        Ok(PendingSteps::saving(saved.flatten()))
    }

    /// Returns the id of the session with a caller's name.
    pub(crate) fn named(&self, key: &SessionKey) -> Option<String> {
        self.registry.named(key)
    }
}

/// Records the request that made these sessions, if it had a key.
fn note_creation(new: &mut [Live], creation: Option<&Creation>) {
    let Some(creation) = creation else { return };
    for (live, position) in new.iter_mut().zip(0..) {
        live.creation = Some(Arc::new(creation.with_position(position)));
    }
}

fn read_copies(given: Option<u32>) -> Result<u32, Problem> {
    let copies = given.unwrap_or(1);
    if (1..=MAX_COPIES).contains(&copies) {
        return Ok(copies);
    }
    Err(Problem::about("n", &format!("a number from 1 to {MAX_COPIES}"), copies))
}

fn read_search_version(name: &str) -> Result<SearchVersion, Problem> {
    let expected = format!("one of {}", SearchVersion::ALL.map(SearchVersion::name).join(", "));
    SearchVersion::named(name)
        .ok_or_else(|| Problem::about("search", &expected, quoted(name, MAX_QUOTED_CHARS)))
}

fn read_lease_ms(given: Option<u64>) -> Result<Option<u64>, Problem> {
    match given {
        Some(seconds) if seconds > MAX_LEASE_SECONDS => {
            let expected = format!("seconds, 0 (for ever) to {MAX_LEASE_SECONDS}");
            Err(Problem::about("lease_seconds", &expected, seconds))
        }
        given => Ok(given.map(|seconds| seconds * 1_000)),
    }
}

/// Parses rules one by one, so that an error names the wrong one.
fn read_faults(rules: Vec<Json>) -> Result<Faults, Problem> {
    let mut read: Vec<Rule> = Vec::with_capacity(rules.len());
    for (position, rule) in rules.into_iter().enumerate() {
        let rule = serde_json::from_value(rule);
        read.push(rule.map_err(|error| {
            Problem::new(Kind::Invalid, format!("`faults[{position}]`: {error}")).with("parameter", "faults")
        })?);
    }
    Faults::new(read)
        .map_err(|error| Problem::new(Kind::Invalid, error.to_string()).with("parameter", "faults"))
}

fn check_apis(faults: &Faults, world: &Ready) -> Result<(), Problem> {
    for (position, rule) in faults.rules().iter().enumerate() {
        let unknown = rule.apis.iter().flatten().find(|name| world.base.api_named(name).is_none());
        if let Some(name) = unknown {
            let expected = "names of the world's APIs; see GET /v1/worlds/{id}";
            return Err(Problem::about(
                &format!("faults[{position}].apis"),
                expected,
                quoted(name, MAX_QUOTED_CHARS),
            ));
        }
    }
    Ok(())
}

fn read_clock(world: &Ready, text: &str) -> Result<Timestamp, Problem> {
    let found = world.world().zone.parse_instant(text);
    found.ok_or_else(|| {
        Problem::about("clock", "a date-time such as 2026-03-02T09:00", quoted(text, MAX_QUOTED_CHARS))
    })
}
