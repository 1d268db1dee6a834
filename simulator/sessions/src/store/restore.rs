//! Restores sessions from their heads, snapshots and events. The engine replays the calls since the snapshot,
//! and each must have the same status as before.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use diorama_seeds::task::Call;
use diorama_seeds::value::Instant;
use serde::Serialize;

use super::Store;
use super::entry::{Event, FORMAT, Head};
use super::error::{StoreError, damaged, json, parse, short};
use super::losses::{check_counted, events_of, guarded};
use super::opened::OpenStore;
use crate::live::Live;
use crate::tasks::{TaskSource, TaskSpec};
use crate::weight::{Scale, Weight};
use crate::worlds::{Ready, Worlds};
use diorama_engine::ENGINE_VERSION;
use diorama_engine::fault::Faults;
use diorama_engine::session::{Session, SessionOptions};
use diorama_engine::tools::SearchVersion;

/// A session of the state folder that this server cannot continue. It stays in the folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The short id.
    pub id: String,
    /// The reason for which it cannot continue.
    pub why: String,
    #[serde(skip)]
    key: String,
    /// Number of its own events.
    #[serde(skip)]
    events: u64,
}

/// The restored sessions of a store.
pub(crate) struct RestoredSessions {
    /// The sessions that continue, in the order of their ids.
    pub(crate) live: Vec<Live>,
    /// The sessions that this server cannot continue.
    pub(crate) left_out: Vec<LeftOut>,
}

/// Restores all sessions of a store. A session that is unreadable or was recorded with another version is
/// left out and stays in the store.
///
/// # Errors
/// Returns an error if the store is unreadable, or if it lacks data that was written.
pub(crate) fn restored(
    store: &Store,
    worlds: &Worlds,
    tasks: Option<&dyn TaskSource>,
    scale: &Arc<Scale>,
) -> Result<RestoredSessions, StoreError> {
    let all = guarded(|| store.read(|opened| restore_all(store, opened, worlds, tasks, scale)));
    let all = all.map_err(|error| match error {
        StoreError::Store(error) => StoreError::of_opening(&store.path, &error),
        other => other,
    })?;
    let live = all.live.iter().map(|live| (live.id.as_str(), live.next_event));
    let left_out = all.left_out.iter().map(|session| (session.key.as_str(), session.events));
    let counted = store.counts.restart(live.chain(left_out));
    counted.map_err(|error| StoreError::opening(&store.path, &error))?;
    Ok(all)
}

fn restore_all(
    store: &Store,
    opened: &OpenStore,
    worlds: &Worlds,
    tasks: Option<&dyn TaskSource>,
    scale: &Arc<Scale>,
) -> Result<RestoredSessions, StoreError> {
    let mut heads = Vec::new();
    for entry in opened.heads.iter() {
        let (id, text) = entry.into_inner()?;
        let id = String::from_utf8_lossy(&id).into_owned();
        heads.push((parse::<Head>(&text, &id), id));
    }
    if !store.accept_loss {
        let known = heads.iter().map(|(_, id)| id.as_str()).collect();
        check_counted(&store.path, &store.counts, opened, &known)?;
    }
    let mut roots = Roots { opened, worlds, tasks, scale, known: HashMap::new() };
    let mut all = RestoredSessions { live: Vec::with_capacity(heads.len()), left_out: Vec::new() };
    for (head, id) in heads {
        match head.and_then(|head| guarded(|| restore(&mut roots, &id, head))) {
            Ok(live) => all.live.push(live),
            Err(error) => {
                let events = guarded(|| events_of(opened, &id)).unwrap_or(0);
                all.left_out.push(LeftOut { id: short(&id), why: error.to_string(), key: id, events });
            }
        }
    }
    tidy(opened, &all)?;
    Ok(all)
}

/// Deletes prefixes that no session needs, and snapshots of deleted sessions.
fn tidy(opened: &OpenStore, all: &RestoredSessions) -> Result<(), StoreError> {
    // The prefixes of unreadable sessions are unknown, so all prefixes are kept.
    if !all.left_out.is_empty() {
        return Ok(());
    }
    let mut needed = HashSet::new();
    for live in &all.live {
        let mut next = live.prefix.clone();
        while let Some(name) = next.filter(|name| !needed.contains(name)) {
            next = opened.prefix(&name, &live.id)?.parent;
            needed.insert(name);
        }
    }
    for entry in opened.prefixes.iter() {
        let name = entry.key()?;
        if !needed.contains(&*String::from_utf8_lossy(&name)) {
            opened.prefixes.remove(name)?;
        }
    }
    for entry in opened.snapshots.iter() {
        let name = entry.key()?;
        if !opened.heads.contains_key(&name)? {
            opened.snapshots.remove(name)?;
        }
    }
    Ok(())
}

/// Starting points of sessions: fresh ones of each kind, and those after each prefix. Each is made once for
/// all sessions that share it.
struct Roots<'a> {
    opened: &'a OpenStore,
    worlds: &'a Worlds,
    tasks: Option<&'a dyn TaskSource>,
    scale: &'a Arc<Scale>,
    known: HashMap<String, Live>,
}

impl Roots<'_> {
    /// Returns a session in the state before the head's own events.
    fn start(&mut self, id: &str, head: &Head) -> Result<Live, StoreError> {
        // Properties of a single session are cleared, so that sessions with the same start share a key.
        let named = |prefix: Option<String>| {
            json(
                &Head { token: String::new(), lease_ms: 0, creation: None, prefix, ..head.clone() },
                "a head",
            )
        };
        let mut waiting = Vec::new();
        let mut next = head.prefix.clone();
        while let Some(name) = next {
            let place = named(Some(name.clone()))?;
            if self.known.contains_key(&place) {
                next = Some(name);
                break;
            }
            let prefix = self.opened.prefix(&name, id)?;
            next = prefix.parent.clone();
            waiting.push((place, prefix.events));
        }
        let mut last = named(next)?;
        if !self.known.contains_key(&last) {
            let fresh = self.fresh(id, head)?;
            self.known.insert(last.clone(), fresh);
        }
        while let Some((place, events)) = waiting.pop() {
            let mut live = self.fork(id, &last)?;
            for event in events {
                replay(&mut live, id, event)?;
            }
            live.weigh_all();
            self.known.insert(place.clone(), live);
            last = place;
        }
        self.fork(id, &last)
    }

    fn fork(&mut self, id: &str, place: &str) -> Result<Live, StoreError> {
        let root = self.known.get_mut(place).ok_or_else(|| damaged(id, "it has no start"))?;
        root.fork(None).map_err(|problem| damaged(id, problem.detail()))
    }

    /// Returns a session without events.
    fn fresh(&self, id: &str, head: &Head) -> Result<Live, StoreError> {
        same(id, "format", &head.format.to_string(), &FORMAT.to_string())?;
        same(id, "engine version", &head.engine, ENGINE_VERSION)?;
        let search = SearchVersion::named(&head.search);
        let ours = search.unwrap_or_default().name();
        same(id, "search version", &head.search, ours)?;
        let (world, task) = setting(self.worlds, self.tasks, id, head)?;
        same(id, &format!("world `{}` of hash", head.world), &head.world_hash, &world.hash)?;
        let options = SessionOptions {
            seed: head.seed,
            clock: Some(Instant(head.clock)),
            visible: task.as_ref().map(|task| task.visible.clone()),
            search,
            outages: task.as_ref().map(|task| task.outages.clone()).unwrap_or_default(),
        };
        let faults = Faults::new(head.faults.clone()).map_err(|error| damaged(id, &error.to_string()))?;
        let session = Session::new(Arc::clone(&world.base), options).with_faults(faults).with_brief_log();
        Ok(Live::new(world, session, task, head.lease_ms, Weight::new(Arc::clone(self.scale))))
    }
}

fn restore(roots: &mut Roots<'_>, id: &str, head: Head) -> Result<Live, StoreError> {
    let snapshot = roots.opened.latest(id, &head)?;
    let mut live = roots.start(id, &head)?;
    let resumed = snapshot.and_then(|snapshot| Some((live.session.resumed(&snapshot.session)?, snapshot)));
    let first = match resumed {
        Some((session, snapshot)) => {
            (live.session, live.said, live.grade) = (session, snapshot.said, snapshot.grade);
            live.snapshot_event = snapshot.events;
            snapshot.events
        }
        None => 0,
    };
    let events = roots.opened.events_from(id, first)?;
    live.next_event = first + events.len() as u64;
    for event in events {
        replay(&mut live, id, event)?;
    }
    live.calls_written = live.session.calls();
    live.weigh_all();
    (live.id, live.token, live.prefix, live.lease_ms) =
        (id.to_owned(), head.token, head.prefix, head.lease_ms);
    live.creation = head.creation.map(Arc::new);
    Ok(live)
}

/// Replays the calls of a session that was restored from a snapshot, so that its log is complete.
pub(crate) fn recall(store: &Store, live: &mut Live) -> Result<(), StoreError> {
    if live.session.knows_its_calls() {
        return Ok(());
    }
    let mut session = live.session.fork();
    session.reset();
    for event in store.events(live)? {
        match event {
            Event::Call(call, status) => again(&mut session, &live.id, &call, status)?,
            Event::Clock(clock) => session.set_clock(Instant(clock)),
            Event::Said(_) | Event::Graded(_) => {}
        }
    }
    let (expected, found) = (live.session.digest().to_string(), session.digest().to_string());
    same(&live.id, "a snapshot of records of hash", &expected, &found)?;
    live.session = session;
    Ok(())
}

/// Replays a call, whose reply must have the same status as before.
fn again(session: &mut Session, id: &str, call: &Call, status: u16) -> Result<(), StoreError> {
    let entry = session.call(call);
    let what = format!("call {}, {}, of status", session.calls(), call.api);
    same(id, &what, &status.to_string(), &entry.reply.status.to_string())
}

fn replay(live: &mut Live, id: &str, event: Event) -> Result<(), StoreError> {
    match event {
        Event::Call(call, status) => again(&mut live.session, id, &call, status)?,
        Event::Clock(clock) => live.session.set_clock(Instant(clock)),
        Event::Said(exchange) => live.said.push(exchange),
        Event::Graded(grade) => live.grade = Some(grade),
    }
    Ok(())
}

/// Returns the world and the task of a session.
fn setting(
    worlds: &Worlds,
    tasks: Option<&dyn TaskSource>,
    id: &str,
    head: &Head,
) -> Result<(Arc<Ready>, Option<Arc<TaskSpec>>), StoreError> {
    if let Some(task) = &head.task {
        let missing = || other(id, format!("task {task}"), "no such task");
        let found = tasks.ok_or_else(missing)?.task(task);
        let spec = Arc::new(found.map_err(|error| damaged(id, &error.0))?.ok_or_else(missing)?);
        return Ok((worlds.of_task(&spec), Some(spec)));
    }
    let served = worlds.named(&head.world);
    let served = served.map_err(|_| other(id, format!("world `{}`", head.world), "no world of this name"))?;
    let ready = served.ready().map_err(|_| damaged(id, "its world cannot be made"))?;
    Ok((ready, None))
}

fn same(id: &str, what: &str, expected: &str, found: &str) -> Result<(), StoreError> {
    if expected == found {
        return Ok(());
    }
    Err(other(id, format!("{what} {expected}"), found))
}

/// Makes the error of a session that was recorded with another version, world or task.
fn other(id: &str, expected: String, found: &str) -> StoreError {
    StoreError::Other {
        id: short(id),
        expected,
        found: found.to_owned(),
        hint: "serve what it was recorded with to continue it",
    }
}

impl Store {
    /// Deletes the sessions that were left out.
    pub(crate) fn remove(&self, left_out: &[LeftOut]) -> Result<(), StoreError> {
        left_out.iter().try_for_each(|session| self.without(&session.key, session.events, None).map(drop))
    }
}
