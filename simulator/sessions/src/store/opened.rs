//! The database of a state folder while it is open.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use tokio::sync::oneshot;

use super::entry::{Event, Prefix, Space, key};
use super::error::{StoreError, damaged, is_full, parse, told};
use super::health::{Health, Undo};
use crate::after::{Persisted, Saved};

/// Bytes of what was last written that are held in memory, for each of four keyspaces.
const MEMTABLE_BYTES: u64 = 8 << 20;

/// The database and its keyspaces.
pub(super) struct Opened {
    pub(super) heads: Keyspace,
    pub(super) events: Keyspace,
    pub(super) prefixes: Keyspace,
    pub(super) snapshots: Keyspace,
    pub(super) database: Database,
    flusher: Option<Flusher>,
}

/// Flushes for all who wait.
struct Flusher {
    ask: Option<Sender<Waiting>>,
    thread: Option<JoinHandle<()>>,
}

/// A request that waits for a flush.
type Waiting = oneshot::Sender<Persisted>;

/// The files that the database makes in a folder.
const KEYSPACES: &str = "keyspaces";

impl Opened {
    /// Returns true if a folder has a database.
    pub(super) fn is_at(path: &Path) -> bool {
        path.join(KEYSPACES).exists()
    }

    /// Opens the database of a folder, or makes one; with a flusher where writes are to reach the disk.
    pub(super) fn new(path: &Path, flushed: Option<&Arc<Health>>) -> Result<Self, StoreError> {
        // A damaged file makes the database's own reader panic at places.
        let opened = std::panic::catch_unwind(|| {
            // Two threads serve the compaction of a few small keyspaces; the cache is for reads, which only restarts make.
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

    /// Puts things back as they were.
    pub(super) fn put_back(&self, undo: &[Undo]) -> Result<(), StoreError> {
        let mut batch = self.database.batch();
        // The first to fail knew best how things were.
        for Undo { space, key, value } in undo.iter().rev() {
            match value {
                Some(value) => batch.insert(self.space(*space), key.as_slice(), value.as_slice()),
                None => batch.remove(self.space(*space), key.as_slice()),
            }
        }
        batch.commit()?;
        Ok(self.database.persist(PersistMode::SyncData)?)
    }

    /// The events of a session's own from the one of this number on.
    pub(super) fn events_from(&self, id: &str, first: u64) -> Result<Vec<Event>, StoreError> {
        let entries = self.events.range(key(id, first)..=key(id, u64::MAX));
        entries.map(|entry| parse(&entry.value()?, id)).collect()
    }

    /// A prefix.
    pub(super) fn prefix(&self, name: &str, id: &str) -> Result<Prefix, StoreError> {
        let text = self.prefixes.get(name)?;
        parse(&text.ok_or_else(|| damaged(id, "events that it shares with others are missing"))?, id)
    }

    /// A prefix and all before it with their names, oldest first.
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

    /// The promise that what was just written reaches the disk, where that was asked for.
    pub(super) fn saved(&self) -> Option<Saved> {
        let ask = self.flusher.as_ref()?.ask.as_ref()?;
        let (tell, told) = oneshot::channel();
        // A flusher that is gone leaves the promise unkept, and the waiting request fails.
        let _ = ask.send(tell);
        Some(Saved::new(told))
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
    /// Ends the thread, which keeps the database open.
    fn drop(&mut self) {
        self.ask = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Flushes for all who wait, until nobody can ask any more.
fn flush(database: &Database, health: &Health, asked: &Receiver<Waiting>) {
    while let Ok(first) = asked.recv() {
        let waiting: Vec<_> = std::iter::once(first).chain(asked.try_iter()).collect();
        let done = database.persist(PersistMode::SyncData).map_err(|error| {
            let why = told(&error);
            match &error {
                // An earlier write failed, for a reason of which its own caller learns.
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
