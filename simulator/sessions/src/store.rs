//! Sessions on disk: an append-only log of accepted events for each session, which the engine replays.
//!
//! A session's head (world, seed, faults, versions) is stored under its id, and each event under id and
//! number. A reset deletes its events. A fork turns the common events into a prefix that both sessions name.
//! A prefix may name a parent, so forks share their events on disk, also after a restart. Each change is one
//! atomic batch. A batch has left the process before its request is answered, so it survives the end of the
//! process. With `fsync` it also survives the end of the machine. One flush serves all waiting requests.
//!
//! Module `snapshot` writes the state of a session beside its events, from which a restart continues. Module
//! `counts` keeps the number of events of each session outside the database, so that losses are noticed.
//! Module `health` reopens a folder after failed writes.

mod counts;
mod entry;
mod error;
mod health;
mod losses;
mod opened;
mod owner;
mod private;
pub(crate) mod restore;
mod snapshot;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

pub(crate) use self::entry::Event;
pub use self::error::StoreError;

use self::counts::Counts;
use self::entry::{Head, Prefix, Space, key, snapshot_of, up_to};
use self::error::json;
use self::health::{Health, Undo, probe};
use self::opened::OpenStore;
use crate::after::PendingEvent;
use crate::live::Live;
use crate::node;
use crate::settings::StateFolder;

/// The journal of a server's sessions.
pub(crate) struct Store {
    path: PathBuf,
    fsync: bool,
    /// True if the server continues with the remains of a damaged folder.
    accept_loss: bool,
    /// Minimum number of events of a session between two snapshots.
    snapshot_events: u64,
    /// None if the folder cannot be reopened yet.
    opened: RwLock<Option<OpenStore>>,
    counts: Counts,
    health: Arc<Health>,
    /// The thread that reopens the folder holds it.
    recovering: Mutex<()>,
}

impl Store {
    /// Opens the store of a folder, or creates one for this node.
    pub(crate) fn open(folder: &StateFolder, node: Option<&str>) -> Result<Self, StoreError> {
        let StateFolder { path, fsync, accept_loss, snapshot_events } = folder.clone();
        let health = Arc::new(Health::default());
        private::make(&path).map_err(|error| StoreError::opening(&path, &error))?;
        let is_new = !OpenStore::is_at(&path);
        owner::check(&path, is_new, node)?;
        let counts = Counts::open(&path, is_new, fsync, node::prefix(node));
        let counts = counts.map_err(|error| StoreError::opening(&path, &error))?;
        let opened = OpenStore::new(&path, fsync.then_some(&health))?;
        if let Err(error) = private::close(&path) {
            tracing::warn!(%error, folder = %path.display(), "other users may be able to read the state folder");
        }
        let opened = RwLock::new(Some(opened));
        Ok(Self {
            path,
            fsync,
            accept_loss,
            snapshot_events,
            opened,
            counts,
            health,
            recovering: Mutex::default(),
        })
    }

    /// Returns the error that prevents writes now, if there is one.
    pub(crate) fn ailing(&self) -> Option<StoreError> {
        self.health.why().map(|why| self.refuse(why))
    }

    /// Returns the error of a change that was not made. The server continues after a full disk and ends after
    /// other failures.
    fn refuse(&self, why: String) -> StoreError {
        let path = self.path.clone();
        if self.health.is_lost() {
            StoreError::Unconfirmed { path, why }
        } else {
            StoreError::Unwritable { path, why }
        }
    }

    /// Returns a promise that all writes so far reach the disk, if `fsync` is set.
    pub(crate) fn saved(&self) -> Result<Option<PendingEvent>, StoreError> {
        self.read(|opened| Ok(opened.saved()))
    }

    /// Reads the store.
    fn read<T>(&self, work: impl FnOnce(&OpenStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        match opened.as_ref() {
            Some(opened) => work(opened),
            None => Err(self.ailing().unwrap_or(StoreError::Closed)),
        }
    }

    /// Changes the store. After a failure, the entries in `touched` are restored before the store is used
    /// again, so the change has no effect.
    fn write<T>(
        &self,
        touched: impl FnOnce(&OpenStore) -> Result<Vec<(Space, Vec<u8>)>, StoreError>,
        work: impl FnOnce(&OpenStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Some(ailing) = self.ailing() {
            return Err(ailing);
        }
        self.read(|opened| match work(opened) {
            Err(StoreError::Store(error)) => {
                let as_before = |(space, key): (Space, Vec<u8>)| {
                    let value = opened.space(space).get(&key)?.map(|value| value.to_vec());
                    Ok(Undo { space, key, value })
                };
                let undo = touched(opened).and_then(|touched| touched.into_iter().map(as_before).collect());
                let undo = undo.unwrap_or_else(|error| {
                    tracing::error!(%error, "what a failed change touches cannot be read");
                    Vec::new()
                });
                let full = probe(&self.path).err();
                let why = full.as_ref().map_or_else(|| error::told(&error), ToString::to_string);
                self.health.break_down(&why, undo);
                // A thread of the database failed for a reason other than a full disk. Its writes may be
                // lost.
                if matches!(error, fjall::Error::Poisoned) && full.is_none() {
                    self.health.lose(&why);
                }
                Err(self.refuse(why))
            }
            done => done,
        })
    }

    /// Removes the access of other users to files made since the last call.
    pub(crate) fn close_to_others(&self) {
        if let Err(error) = private::close(&self.path) {
            tracing::debug!(%error, "other users may be able to read the state folder");
        }
    }

    /// Reopens the folder after failed writes, if it can be written again.
    pub(crate) fn recover(&self) {
        let Ok(_one) = self.recovering.try_lock() else { return };
        if self.health.why().is_none() || self.health.is_lost() || probe(&self.path).is_err() {
            return;
        }
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        // The database locks its files, so it is closed before it is reopened.
        drop(opened.take());
        let again = OpenStore::new(&self.path, self.fsync.then_some(&self.health)).and_then(|again| {
            self.health.undo(|undo| again.put_back(undo))?;
            // The store must have everything that was acknowledged.
            losses::check_all_counted(&self.path, &self.counts, &again)?;
            Ok(again)
        });
        match again {
            Ok(again) => {
                *opened = Some(again);
                self.health.recovered();
                tracing::warn!("the state folder can be written to again");
            }
            Err(error @ StoreError::Missing { .. }) => self.health.lose(&error.to_string()),
            Err(StoreError::Store(error)) if !error::is_full(&error) => {
                self.health.lose(&error::told(&error))
            }
            Err(error) => tracing::warn!(%error, "the state folder cannot be opened again yet"),
        }
    }

    /// Waits until the content of the folder becomes unknown, and returns the reason. The server may
    /// acknowledge nothing after that.
    pub(crate) async fn lost(&self) -> StoreError {
        StoreError::Unconfirmed { path: self.path.clone(), why: self.health.lost().await.to_owned() }
    }

    /// Reserves places in the counts file for new sessions.
    fn hold<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Result<(), StoreError> {
        self.counts.hold(ids).map_err(fjall::Error::Io)?;
        self.counts.sync().map_err(|error| {
            let why = error.to_string();
            self.health.lose(&why);
            self.refuse(why)
        })
    }

    /// Stores new sessions.
    pub(crate) fn create(&self, new: &[Live]) -> Result<Option<PendingEvent>, StoreError> {
        let done = self.write(
            |_| Ok(new.iter().map(|live| (Space::Heads, live.id.as_bytes().to_vec())).collect()),
            |opened| {
                let mut batch = opened.database.batch();
                for live in new {
                    let head = json(&Head::of(live), "a head")?;
                    batch.insert(&opened.heads, live.id.as_str(), head.as_str());
                }
                self.hold(new.iter().map(|live| live.id.as_str()))?;
                batch.commit()?;
                new.iter().for_each(|live| self.counts.set(&live.id, 0));
                Ok(opened.saved())
            },
        );
        if done.is_err() {
            new.iter().for_each(|live| self.counts.clear(&live.id));
        }
        done
    }

    /// Stores forks of a session, from its current state or after `at` calls. The shared events become a
    /// prefix. The session itself uses the prefix, too, if it contains all its events.
    pub(crate) fn fork(
        &self,
        live: &mut Live,
        at: Option<usize>,
        forks: &mut [Live],
    ) -> Result<Option<PendingEvent>, StoreError> {
        let here = at.is_none_or(|at| at == live.session.calls());
        let (shared, own) = self.read(|opened| self.shared(opened, live, at.filter(|_| !here)))?;
        let (name, text) = match &shared {
            Prefix { parent, events } if events.is_empty() => (parent.clone(), None),
            prefix => {
                let text = json(prefix, "events")?;
                (Some(blake3::hash(text.as_bytes()).to_hex().to_string()), Some(text))
            }
        };
        forks.iter_mut().for_each(|fork| fork.prefix.clone_from(&name));
        let rebased = here && text.is_some();
        let before = live.prefix.clone();
        if rebased {
            live.prefix.clone_from(&name);
        }
        let touched = |_: &OpenStore| {
            let heads = forks.iter().map(|fork| (Space::Heads, fork.id.as_bytes().to_vec()));
            let parent = [(Space::Heads, live.id.as_bytes().to_vec()), snapshot_of(&live.id)];
            Ok(heads.chain(parent).chain(own.iter().map(|key| (Space::Events, key.clone()))).collect())
        };
        let done = self.write(touched, |opened| {
            let mut batch = opened.database.batch();
            if let (Some(name), Some(text)) = (&name, &text) {
                batch.insert(&opened.prefixes, name.as_str(), text.as_str());
            }
            for live in forks.iter().chain(rebased.then_some(&*live)) {
                let head = json(&Head::of(live), "a head")?;
                batch.insert(&opened.heads, live.id.as_str(), head.as_str());
            }
            self.hold(forks.iter().map(|fork| fork.id.as_str()))?;
            if rebased {
                own.iter().for_each(|key| batch.remove(&opened.events, key.as_slice()));
                batch.remove(&opened.snapshots, live.id.as_str());
                // The count is lowered first, so that it never exceeds the stored events.
                self.counts.set(&live.id, 0);
            }
            batch.commit()?;
            forks.iter().for_each(|fork| self.counts.set(&fork.id, 0));
            Ok(opened.saved())
        });
        match &done {
            Ok(_) if rebased => (live.next_event, live.snapshot_event) = (0, 0),
            Ok(_) => {}
            Err(_) => {
                forks.iter().for_each(|fork| self.counts.clear(&fork.id));
                live.prefix = before;
                self.counts.set(&live.id, live.next_event);
            }
        }
        done
    }

    /// Returns the events that forks share with a session, all or up to `at` calls, and the keys of its own
    /// events.
    fn shared(
        &self,
        opened: &OpenStore,
        live: &Live,
        at: Option<usize>,
    ) -> Result<(Prefix, Vec<Vec<u8>>), StoreError> {
        let own = opened.events_from(&live.id, 0)?;
        let keys = (0..own.len() as u64).map(|number| key(&live.id, number)).collect();
        let Some(at) = at else { return Ok((Prefix { parent: live.prefix.clone(), events: own }, keys)) };
        let before = opened.prefixes_of(live.prefix.as_deref(), &live.id)?;
        let mut events: Vec<Event> = before.iter().flat_map(|(_, prefix)| prefix.events.clone()).collect();
        events.extend(own);
        let mut events = up_to(events, at);
        // Whole prefixes of the session are shared with its forks.
        let (mut parent, mut whole) = (None, 0);
        for (name, prefix) in before {
            let end = whole + prefix.events.len();
            if events.get(whole..end) != Some(prefix.events.as_slice()) {
                break;
            }
            (parent, whole) = (Some(name), end);
        }
        events.drain(..whole);
        Ok((Prefix { parent, events }, keys))
    }

    /// Stores a session's head again after its lease changed.
    pub(crate) fn renew(&self, live: &Live) -> Result<Option<PendingEvent>, StoreError> {
        self.write(
            |_| Ok(vec![(Space::Heads, live.id.as_bytes().to_vec())]),
            |opened| {
                let head = json(&Head::of(live), "a head")?;
                opened.heads.insert(live.id.as_str(), head.as_str())?;
                Ok(opened.saved())
            },
        )
    }

    /// Stores an event of a session.
    pub(crate) fn append(&self, live: &mut Live, event: &Event) -> Result<Option<PendingEvent>, StoreError> {
        let text = json(event, "an event")?;
        let (id, number) = (live.id.clone(), live.next_event);
        let saved = self.write(
            |_| Ok(vec![(Space::Events, key(&id, number))]),
            |opened| {
                opened.events.insert(key(&id, number), text.as_str())?;
                self.counts.set(&id, number + 1);
                Ok(opened.saved())
            },
        )?;
        live.next_event += 1;
        if matches!(event, Event::Call(..)) {
            live.calls_written += 1;
            self.snapshot_if_due(live);
        }
        Ok(saved)
    }

    /// Deletes all events of a session.
    pub(crate) fn reset(&self, live: &Live) -> Result<Option<PendingEvent>, StoreError> {
        self.without(&live.id, live.next_event, Some(&Head { prefix: None, ..Head::of(live) }))
    }

    /// Deletes a session.
    pub(crate) fn forget(&self, live: &Live) -> Result<Option<PendingEvent>, StoreError> {
        self.without(&live.id, live.next_event, None)
    }

    /// Deletes a session's events and replaces its head.
    fn without(
        &self,
        id: &str,
        events: u64,
        head: Option<&Head>,
    ) -> Result<Option<PendingEvent>, StoreError> {
        let done = self.write(
            |opened| {
                let mut touched = vec![(Space::Heads, id.as_bytes().to_vec()), snapshot_of(id)];
                for entry in opened.events.prefix(id) {
                    touched.push((Space::Events, entry.key()?.to_vec()));
                }
                Ok(touched)
            },
            |opened| {
                let mut batch = opened.database.batch();
                for entry in opened.events.prefix(id) {
                    batch.remove(&opened.events, entry.key()?);
                }
                batch.remove(&opened.snapshots, id);
                // The count is lowered first, so that it never exceeds the stored events.
                match head {
                    Some(head) => {
                        batch.insert(&opened.heads, id, json(head, "a head")?.as_str());
                        self.counts.set(id, 0);
                    }
                    None => {
                        batch.remove(&opened.heads, id);
                        self.counts.clear(id);
                    }
                }
                batch.commit()?;
                Ok(opened.saved())
            },
        );
        if done.is_err() {
            self.counts.set(id, events);
        }
        done
    }

    /// Returns the events of a session, oldest first.
    pub(crate) fn events(&self, live: &Live) -> Result<Vec<Event>, StoreError> {
        self.read(|opened| {
            let before = opened.prefixes_of(live.prefix.as_deref(), &live.id)?;
            let mut events: Vec<Event> = before.into_iter().flat_map(|(_, prefix)| prefix.events).collect();
            events.extend(opened.events_from(&live.id, 0)?);
            Ok(events)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_does_not_promise_to_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StateFolder::new(folder.path().join("state")), None).unwrap();
        let refusal = || store.ailing().unwrap().problem();
        store.health.break_down("no space left", Vec::new());
        assert!(refusal().detail().contains("goes on by itself"), "{}", refusal().detail());
        store.health.lose("input/output error");
        assert!(refusal().detail().contains("the server ends"), "{}", refusal().detail());
    }
}
