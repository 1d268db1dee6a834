//! Sessions from their heads, snapshots and events: the engine makes the calls since the snapshot again, and each must
//! end as it did.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_seeds::task::Call;
use diorama_seeds::value::Instant;

use super::{Event, FORMAT, Head, Store, StoreError, damaged, parse};
use crate::conversation::Conversation;
use crate::engine::ENGINE_VERSION;
use crate::engine::tools::SearchVersion;
use crate::fault::Faults;
use crate::http::sessions::Live;
use crate::http::tasks::{TaskSource, TaskSpec};
use crate::http::worlds::{Ready, Worlds};
use crate::session::{Session, SessionOptions};

/// All sessions of a store, in the order of their ids.
pub(in crate::http) fn restored(
    store: &Store,
    worlds: &Worlds,
    tasks: Option<&dyn TaskSource>,
) -> Result<Vec<Live>, StoreError> {
    let mut all = Vec::new();
    let (mut prefixes, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for entry in store.heads.iter() {
        let (id, text) = entry.into_inner()?;
        let id = String::from_utf8_lossy(&id).into_owned();
        let head: Head = parse(&text, &id)?;
        prefixes.extend(head.prefix.clone());
        shared.extend(head.shared_name()?);
        all.push(restore(store, worlds, tasks, &id, head)?);
    }
    // Prefixes that no session needs any more.
    for entry in store.prefixes.iter() {
        let hash = entry.key()?;
        if !prefixes.contains(&*String::from_utf8_lossy(&hash)) {
            store.prefixes.remove(hash)?;
        }
    }
    for entry in store.snapshots.iter() {
        let name = entry.key()?;
        let text = String::from_utf8_lossy(&name).into_owned();
        if !shared.contains(&text) && !store.heads.contains_key(&name)? {
            store.snapshots.remove(name)?;
        }
    }
    Ok(all)
}

fn restore(
    store: &Store,
    worlds: &Worlds,
    tasks: Option<&dyn TaskSource>,
    id: &str,
    head: Head,
) -> Result<Live, StoreError> {
    let snapshot = store.latest(id, &head)?;
    same(id, "format", &head.format.to_string(), &FORMAT.to_string())?;
    same(id, "engine version", &head.engine, ENGINE_VERSION)?;
    let search = SearchVersion::named(&head.search);
    let ours = search.unwrap_or_default().name();
    same(id, "search version", &head.search, ours)?;
    let (world, task) = setting(worlds, tasks, id, &head)?;
    same(id, &format!("world `{}` of hash", head.world), &head.world_hash, &world.hash)?;
    let options = SessionOptions {
        seed: head.seed,
        clock: Some(Instant(head.clock)),
        visible: task.as_ref().map(|task| task.visible.clone()),
        search,
    };
    let faults = Faults::new(head.faults).map_err(|error| damaged(id, &error.to_string()))?;
    let session = Session::new(Arc::clone(&world.base), options).with_faults(faults).with_brief_log();
    let mut live = Live::new(world, session, task, head.lease_ms)
        .map_err(|_| damaged(id, "the machine gives no random bytes"))?;
    live.id = id.to_owned();
    live.token = head.token;
    live.said = Conversation::new(head.answers);
    let resumed = snapshot.and_then(|snapshot| Some((live.session.resumed(&snapshot.session)?, snapshot)));
    let events = match resumed {
        Some((session, snapshot)) => {
            (live.session, live.said, live.grade) =
                (session, snapshot.said.with_answers(head.answers), snapshot.grade);
            live.snapshot_event = snapshot.events;
            store.events_from(id, snapshot.events)?
        }
        None => store.events(id)?,
    };
    for event in events {
        replay(&mut live, event)?;
    }
    live.calls_written = live.session.calls();
    let last = store.events.prefix(id).next_back();
    live.next_event = match last {
        Some(entry) => number(&entry.key()?, id)? + 1,
        None => 0,
    };
    Ok(live)
}

/// Has a session that went on from a snapshot know its calls: they are made again.
pub(in crate::http) fn recall(store: &Store, live: &mut Live) -> Result<(), StoreError> {
    if live.session.knows_its_calls() {
        return Ok(());
    }
    let mut session = live.session.fork();
    session.reset();
    for event in store.events(&live.id)? {
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

/// Makes a call again, which must end as it did.
fn again(session: &mut Session, id: &str, call: &Call, status: u16) -> Result<(), StoreError> {
    let entry = session.call(call);
    let what = format!("call {}, {}, of status", session.calls(), call.api);
    same(id, &what, &status.to_string(), &entry.reply.status.to_string())
}

fn replay(live: &mut Live, event: Event) -> Result<(), StoreError> {
    match event {
        Event::Call(call, status) => again(&mut live.session, &live.id, &call, status)?,
        Event::Clock(clock) => live.session.set_clock(Instant(clock)),
        Event::Said(exchange) => live.said.push(exchange),
        Event::Graded(grade) => live.grade = Some(grade),
    }
    Ok(())
}

/// The world and the task that a session needs.
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

/// A session was recorded with something else than what is here.
fn other(id: &str, expected: String, found: &str) -> StoreError {
    StoreError::Other {
        id: id.chars().take(8).collect(),
        expected,
        found: found.to_owned(),
        hint: "serve what it was recorded with, or start with another --state folder",
    }
}

/// The number of an event, from its key.
fn number(key: &[u8], id: &str) -> Result<u64, StoreError> {
    let bytes = key.get(id.len()..).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
    bytes.map(u64::from_be_bytes).ok_or_else(|| damaged(id, "an event has no number"))
}
