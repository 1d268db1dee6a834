//! Owns the open database of a state folder.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use tokio::sync::oneshot;

use super::entry::{Event, Prefix, Space, key};
use super::error::{StoreError, damaged, is_full, parse, told};
use super::health::{Health, Undo};
use crate::after::{FlushResult, PendingEvent};

/// Bytes of recent writes held in memory, for each of the four keyspaces.
const MEMTABLE_BYTES: u64 = 8 << 20;

/// The database and its keyspaces.
pub(super) struct OpenStore {
    pub(super) heads: Keyspace,
    pub(super) events: Keyspace,
    pub(super) prefixes: Keyspace,
    pub(super) snapshots: Keyspace,
    pub(super) database: Database,
    flusher: Option<Flusher>,
}

/// The thread that flushes for all waiting requests.
struct Flusher {
    ask: Option<Sender<Waiting>>,
    thread: Option<JoinHandle<()>>,
}

/// Sends the result of a flush to a waiting request.
type Waiting = oneshot::Sender<FlushResult>;

/// A folder that exists in every database.
const KEYSPACES: &str = "keyspaces";

impl OpenStore {
    /// Returns true if a folder contains a database.
    pub(super) fn is_at(path: &Path) -> bool {
        path.join(KEYSPACES).exists()
    }

    /// Opens the database of a folder, or creates one. With `flushed`, writes reach the disk.
    pub(super) fn new(path: &Path, flushed: Option<&Arc<Health>>) -> Result<Self, StoreError> {
        // The database's parser panics on some damaged files.
        let opened = std::panic::catch_unwind(|| {
            // Two threads suffice to compact a few small keyspaces. The cache is small because only restarts
            // read.
            let database = Database::builder(path).worker_threads(2).cache_size(8 << 20).open()?;
            let options = || KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE_BYTES);
            let keyspace = |name: &str| database.keyspace(name, options);
            let (heads, events, prefixes) = (keyspace("heads")?, keyspace("events")?, keyspace("prefixes")?);
            let snapshots = keyspace("snapshots")?;
            Ok(Self { heads, events, prefixes, snapshots, database, flusher: None })
        });
        let opened = opened.unwrap_or(Err(fjall::Error::Unrecoverable));
        let mut opened = opened.map_err(|error| StoreError::of_opening(path, &error))?;
        opened.flusher = flushed.map(|health| Flusher::new(&opened.database, health));
        Ok(opened)
    }

    pub(super) const fn space(&self, space: Space) -> &Keyspace {
        match space {
            Space::Heads => &self.heads,
            Space::Events => &self.events,
            Space::Snapshots => &self.snapshots,
        }
    }

    /// Restores previous values.
    pub(super) fn put_back(&self, undo: &[Undo]) -> Result<(), StoreError> {
        let mut batch = self.database.batch();
        // Undo entries are applied in reverse, so the oldest previous value wins.
        for Undo { space, key, value } in undo.iter().rev() {
            match value {
                Some(value) => batch.insert(self.space(*space), key.as_slice(), value.as_slice()),
                None => batch.remove(self.space(*space), key.as_slice()),
            }
        }
        batch.commit()?;
        Ok(self.database.persist(PersistMode::SyncData)?)
    }

    /// Returns a session's own events, from this number on.
    pub(super) fn events_from(&self, id: &str, first: u64) -> Result<Vec<Event>, StoreError> {
        let entries = self.events.range(key(id, first)..=key(id, u64::MAX));
        entries.map(|entry| parse(&entry.value()?, id)).collect()
    }

    /// Returns a prefix.
    pub(super) fn prefix(&self, name: &str, id: &str) -> Result<Prefix, StoreError> {
        let text = self.prefixes.get(name)?;
        parse(&text.ok_or_else(|| damaged(id, "events that it shares with others are missing"))?, id)
    }

    /// Returns a prefix and its ancestors with their names, oldest first.
    pub(super) fn prefixes_of(
        &self,
        name: Option<&str>,
        id: &str,
    ) -> Result<Vec<(String, Prefix)>, StoreError> {
        let mut found = Vec::new();
        let mut next = name.map(str::to_owned);
        while let Some(name) = next {
            let prefix = self.prefix(&name, id)?;
            next = prefix.parent.clone();
            found.push((name, prefix));
        }
        found.reverse();
        Ok(found)
    }

    /// Returns a promise that the last writes reach the disk, if `fsync` is set.
    pub(super) fn saved(&self) -> Option<PendingEvent> {
        let ask = self.flusher.as_ref()?.ask.as_ref()?;
        let (tell, told) = oneshot::channel();
        // If the flusher is gone, the promise stays unfulfilled and the waiting request fails.
        let _ = ask.send(tell);
        Some(PendingEvent::new(told))
    }
}

impl Flusher {
    fn new(database: &Database, health: &Arc<Health>) -> Self {
        let (ask, asked) = channel();
        let (database, health) = (database.clone(), Arc::clone(health));
        let thread = std::thread::spawn(move || flush(&database, &health, &asked));
        Self { ask: Some(ask), thread: Some(thread) }
    }
}

impl Drop for Flusher {
    /// Ends the thread, which would keep the database open.
    fn drop(&mut self) {
        self.ask = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Flushes for all waiting requests until all senders are dropped.
fn flush(database: &Database, health: &Health, asked: &Receiver<Waiting>) {
    while let Ok(first) = asked.recv() {
        let waiting: Vec<_> = std::iter::once(first).chain(asked.try_iter()).collect();
        let done = database.persist(PersistMode::SyncData).map_err(|error| {
            let why = told(&error);
            match &error {
                // An earlier write failed. Its own caller gets the reason.
                fjall::Error::Poisoned => {}
                error if is_full(error) => health.break_down(&why, Vec::new()),
                _ => health.lose(&why),
            }
            why
        });
        for tell in waiting {
            let _ = tell.send(done.clone());
        }
    }
}
