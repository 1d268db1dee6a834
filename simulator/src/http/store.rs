//! Sessions on disk: an append-only log of accepted events for each, from which the engine makes them again.
//!
//! A session's head (world, seed, faults, versions) stands under its id, its events under its id and a number. A reset
//! takes its events out again; a fork shares its parent's as one prefix, stored once under its hash. All of one change
//! is one atomic batch, and a batch has left the process before its request is answered: it survives the end of the
//! process. With `fsync` it survives the end of the machine: one flush serves all requests that wait for it.
//!
//! Now and then a snapshot of where a session stands is written beside its events (`snapshot`), from which a restart
//! goes on.

mod restore;
mod snapshot;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use diorama_seeds::ending::Answers;
use diorama_seeds::task::Call;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::sync::oneshot;

use super::after::{Persisted, Saved};
use super::sessions::Live;
use super::settings::StateFolder;
use crate::conversation::Exchange;
use crate::engine::ENGINE_VERSION;
use crate::fault::Rule;

pub(super) use self::restore::{recall, restored};

/// Bytes of what was last written that are held in memory, for each of four keyspaces.
const MEMTABLE_BYTES: u64 = 8 << 20;

/// The version of what is written.
const FORMAT: u32 = 2;

/// Why sessions cannot be written down or read again.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store itself.
    #[error("the state folder: {0}")]
    Store(#[from] fjall::Error),
    /// An entry that is not what this version writes.
    #[error("the state folder: {what} cannot be read: {found}; start with another --state folder")]
    Damaged {
        /// Which entry.
        what: String,
        /// What is wrong with it.
        found: String,
    },
    /// A session that this server cannot continue.
    #[error("session {id} of the state folder was recorded with {expected}, found {found}; {hint}")]
    Other {
        /// The session, in short.
        id: String,
        /// What it needs.
        expected: String,
        /// What there is.
        found: String,
        /// What to do.
        hint: &'static str,
    },
}

/// What a session starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    format: u32,
    engine: String,
    search: String,
    world: String,
    world_hash: String,
    seed: u64,
    clock: i64,
    task: Option<String>,
    #[serde(default)]
    answers: Answers,
    faults: Vec<Rule>,
    token: String,
    lease_ms: u64,
    /// The hash of the events it shares with the session it was forked from.
    prefix: Option<String>,
}

/// What happened to a session and was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    /// A call, and the status of its reply.
    Call(Call, u16),
    /// The clock was set.
    Clock(i64),
    /// The assistant said something, and the user answered.
    Said(Exchange),
    /// The episode ended with this result.
    Graded(Json),
}

/// Where sessions are written down.
pub(super) struct Store {
    database: Database,
    heads: Keyspace,
    events: Keyspace,
    prefixes: Keyspace,
    snapshots: Keyspace,
    sync: Option<Sender<oneshot::Sender<Persisted>>>,
}

impl Head {
    pub(super) fn of(live: &Live, prefix: Option<String>) -> Self {
        Self {
            format: FORMAT,
            engine: ENGINE_VERSION.to_owned(),
            search: live.session.initial().search().name().to_owned(),
            world: live.world.id.clone(),
            world_hash: live.world.hash.clone(),
            seed: live.session.seed(),
            clock: live.session.initial().clock().0,
            task: live.task.as_ref().map(|task| task.id.clone()),
            answers: live.said.answers(),
            faults: live.session.faults().map(|faults| faults.rules().to_vec()).unwrap_or_default(),
            token: live.token.clone(),
            lease_ms: live.lease_ms,
            prefix,
        }
    }
}

impl Store {
    /// Opens the store of a folder, or makes one.
    pub(super) fn open(folder: &StateFolder) -> Result<Self, StoreError> {
        let database = open(&folder.path)?;
        let options = || KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE_BYTES);
        let keyspace = |name: &str| database.keyspace(name, options);
        let (heads, events, prefixes) = (keyspace("heads")?, keyspace("events")?, keyspace("prefixes")?);
        let snapshots = keyspace("snapshots")?;
        let sync = folder.fsync.then(|| {
            let (ask, asked) = channel();
            let database = database.clone();
            std::thread::spawn(move || flush(&database, &asked));
            ask
        });
        Ok(Self { database, heads, events, prefixes, snapshots, sync })
    }

    /// Writes new sessions down, which share the events of a parent.
    pub(super) fn create(&self, new: &[Live], shared: &[Event]) -> Result<Option<Saved>, StoreError> {
        let mut batch = self.database.batch();
        let mut prefix = None;
        if !shared.is_empty() {
            let text = json(&shared, "events")?;
            let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
            batch.insert(&self.prefixes, hash.as_str(), text.as_str());
            prefix = Some(hash);
        }
        // A long prefix is made again by none of the forks.
        if let (Some(first), true) = (new.first(), shared.len() as u64 >= snapshot::EVERY)
            && let Some((name, text)) = Self::shared_snapshot(&Head::of(first, prefix.clone()), first)?
        {
            batch.insert(&self.snapshots, name.as_str(), text.as_str());
        }
        for live in new {
            let head = json(&Head::of(live, prefix.clone()), "a head")?;
            batch.insert(&self.heads, live.id.as_str(), head.as_str());
        }
        batch.commit()?;
        Ok(self.saved())
    }

    /// Writes a session's head down again, as its lease is another.
    pub(super) fn renew(&self, live: &Live) -> Result<Option<Saved>, StoreError> {
        let prefix = self.head(&live.id)?.and_then(|head| head.prefix);
        let head = json(&Head::of(live, prefix), "a head")?;
        self.heads.insert(live.id.as_str(), head.as_str())?;
        Ok(self.saved())
    }

    /// Writes an event of a session down.
    pub(super) fn append(&self, live: &mut Live, event: &Event) -> Result<Option<Saved>, StoreError> {
        let text = json(event, "an event")?;
        self.events.insert(key(&live.id, live.next_event), text.as_str())?;
        live.next_event += 1;
        if matches!(event, Event::Call(..)) {
            live.calls_written += 1;
            self.snapshot_if_due(live);
        }
        Ok(self.saved())
    }

    /// Takes out all that happened to a session since it began.
    pub(super) fn reset(&self, live: &Live) -> Result<Option<Saved>, StoreError> {
        let mut batch = self.database.batch();
        for entry in self.events.prefix(live.id.as_str()) {
            batch.remove(&self.events, entry.key()?);
        }
        batch.remove(&self.snapshots, live.id.as_str());
        let head = json(&Head::of(live, None), "a head")?;
        batch.insert(&self.heads, live.id.as_str(), head.as_str());
        batch.commit()?;
        Ok(self.saved())
    }

    /// Takes a session out.
    pub(super) fn forget(&self, id: &str) -> Result<Option<Saved>, StoreError> {
        let mut batch = self.database.batch();
        for entry in self.events.prefix(id) {
            batch.remove(&self.events, entry.key()?);
        }
        batch.remove(&self.snapshots, id);
        batch.remove(&self.heads, id);
        batch.commit()?;
        Ok(self.saved())
    }

    /// What happened to a session, oldest first.
    pub(super) fn events(&self, id: &str) -> Result<Vec<Event>, StoreError> {
        let mut events: Vec<Event> = match self.head(id)?.and_then(|head| head.prefix) {
            Some(hash) => {
                let text = self.prefixes.get(&hash)?.ok_or_else(|| damaged(id, "its prefix is missing"))?;
                parse(&text, id)?
            }
            None => Vec::new(),
        };
        events.extend(self.events_from(id, 0)?);
        Ok(events)
    }

    /// The events of a session's own from the one of this number on.
    fn events_from(&self, id: &str, first: u64) -> Result<Vec<Event>, StoreError> {
        let entries = self.events.range(key(id, first)..=key(id, u64::MAX));
        entries.map(|entry| parse(&entry.value()?, id)).collect()
    }

    fn head(&self, id: &str) -> Result<Option<Head>, StoreError> {
        self.heads.get(id)?.map(|text| parse(&text, id)).transpose()
    }

    /// The promise that what was just written reaches the disk, where that was asked for.
    fn saved(&self) -> Option<Saved> {
        let ask = self.sync.as_ref()?;
        let (tell, told) = oneshot::channel();
        // A flusher that is gone leaves the promise unkept, and the waiting request fails.
        let _ = ask.send(tell);
        Some(Saved::new(told))
    }
}

/// The events up to and with so many calls. Of what follows the last call that is kept, turns of the user stay.
pub(super) fn up_to(events: Vec<Event>, calls: usize) -> Vec<Event> {
    let all = events.iter().filter(|event| matches!(event, Event::Call(..))).count();
    if calls >= all {
        return events;
    }
    let mut seen = 0;
    let mut kept = Vec::new();
    for event in events {
        match event {
            Event::Call(..) if seen == calls => break,
            Event::Call(..) => seen += 1,
            Event::Clock(_) | Event::Graded(_) if seen == calls => continue,
            _ => {}
        }
        kept.push(event);
    }
    kept
}

fn open(path: &Path) -> Result<Database, StoreError> {
    // Two threads serve the compaction of a few small keyspaces; the cache is for reads, which only restarts make.
    Ok(Database::builder(path).worker_threads(2).cache_size(8 << 20).open()?)
}

/// Flushes for all who wait, until nobody can ask any more.
fn flush(database: &Database, asked: &Receiver<oneshot::Sender<Persisted>>) {
    while let Ok(first) = asked.recv() {
        let waiting: Vec<_> = std::iter::once(first).chain(asked.try_iter()).collect();
        let done = database.persist(PersistMode::SyncData).map_err(Arc::new);
        for tell in waiting {
            let _ = tell.send(done.clone());
        }
    }
}

fn key(id: &str, number: u64) -> Vec<u8> {
    [id.as_bytes(), &number.to_be_bytes()].concat()
}

fn json(value: &impl Serialize, what: &str) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| damaged(what, &error.to_string()))
}

fn parse<T: serde::de::DeserializeOwned>(text: &[u8], id: &str) -> Result<T, StoreError> {
    serde_json::from_slice(text).map_err(|error| damaged(id, &error.to_string()))
}

fn damaged(what: &str, found: &str) -> StoreError {
    StoreError::Damaged { what: what.chars().take(8).collect(), found: found.to_owned() }
}
