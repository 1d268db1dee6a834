//! Snapshots: where sessions stood after some of their events, so that what is before need not be made again.
//!
//! The events stay the truth. A snapshot is an aid that is checked before it is believed: its own hash, the versions
//! and the world it was made with, the events it stands for, and the digest of the records it holds. One that does not
//! hold is passed over, and all calls are made again.

use serde::{Deserialize, Serialize};

use super::Store;
use super::entry::{Head, key, snapshot_of};
use super::error::{StoreError, json};
use super::opened::Opened;
use crate::live::Live;
use crate::replies::GradeReply;
use diorama_engine::ENGINE_VERSION;
use diorama_engine::session::KeptSession;
use diorama_user::conversation::Conversation;

/// The version of snapshots.
const FORMAT: u32 = 1;

/// Where a session stood.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Snapshot {
    format: u32,
    engine: String,
    world_hash: String,
    /// How many events of the session's own there were; it stands for those of its prefix, too.
    pub(super) events: u64,
    pub(super) said: Conversation,
    pub(super) grade: Option<GradeReply>,
    pub(super) session: KeptSession,
}

impl Snapshot {
    fn text(live: &Live, events: u64) -> Result<String, StoreError> {
        let snapshot = Self {
            format: FORMAT,
            engine: ENGINE_VERSION.to_owned(),
            world_hash: live.world.hash.clone(),
            events,
            said: live.said.clone(),
            grade: live.grade.clone(),
            session: live.session.kept(),
        };
        let text = json(&snapshot, "a snapshot")?;
        Ok(format!("{}\n{text}", blake3::hash(text.as_bytes()).to_hex()))
    }

    /// A snapshot that is what was written, by this version for this world.
    fn read(bytes: &[u8], head: &Head) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (hash, text) = text.split_once('\n')?;
        if hash != blake3::hash(text.as_bytes()).to_hex().as_str() {
            return None;
        }
        let snapshot: Self = serde_json::from_str(text).ok()?;
        let fits = snapshot.format == FORMAT
            && snapshot.engine == ENGINE_VERSION
            && snapshot.world_hash == head.world_hash;
        fits.then_some(snapshot)
    }
}

impl Store {
    /// Takes a snapshot of a session where it is due. There are at least half as many events since the last as records that differ
    /// from the base, so that the bytes of snapshots grow with the events and not with their square.
    pub(super) fn snapshot_if_due(&self, live: &mut Live) {
        let since = live.next_event.saturating_sub(live.snapshot_event);
        // Where calls are made before the events of all of them are written down, the session is ahead of its events.
        let changed = live.session.state().changed() as u64;
        if since < self.snapshot_events || since < changed / 2 || !live.is_written_down() {
            return;
        }
        self.snapshot(live);
    }

    /// Takes a snapshot of a session where there were events since the last. What fails is only a slower restart.
    pub(crate) fn snapshot(&self, live: &mut Live) {
        if live.next_event == live.snapshot_event || !live.is_written_down() {
            return;
        }
        let events = live.next_event;
        let written = Snapshot::text(live, events).and_then(|text| {
            let insert = |opened: &Opened| Ok(opened.snapshots.insert(live.id.as_str(), text.as_str())?);
            self.write(|_| Ok(vec![snapshot_of(&live.id)]), insert)
        });
        match written {
            Ok(()) => live.snapshot_event = events,
            Err(error) => tracing::warn!(%error, "a snapshot could not be written"),
        }
    }
}

impl Opened {
    /// The snapshot of a session, if there is one that holds.
    pub(super) fn latest(&self, id: &str, head: &Head) -> Result<Option<Snapshot>, StoreError> {
        let Some(snapshot) = self.snapshots.get(id)?.and_then(|bytes| Snapshot::read(&bytes, head)) else {
            return Ok(None);
        };
        Ok(self.has_event(id, snapshot.events)?.then_some(snapshot))
    }

    /// Returns true if a session has had so many events.
    fn has_event(&self, id: &str, count: u64) -> Result<bool, StoreError> {
        let Some(last) = count.checked_sub(1) else { return Ok(true) };
        Ok(self.events.contains_key(key(id, last))?)
    }
}
