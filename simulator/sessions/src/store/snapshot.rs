//! Snapshots: states of sessions after some of their events, so that a restart need not replay these.
//!
//! The events remain authoritative. A snapshot is checked before use: its hash, its versions, its world, its
//! events, and the digest of its records. One that fails is ignored, and all calls are replayed.

use serde::{Deserialize, Serialize};

use super::Store;
use super::entry::{Head, key, snapshot_of};
use super::error::{StoreError, json};
use super::opened::OpenStore;
use crate::live::Live;
use crate::replies::GradeReply;
use diorama_engine::ENGINE_VERSION;
use diorama_engine::session::KeptSession;
use diorama_user::conversation::Conversation;

/// The version of the snapshot format.
const FORMAT: u32 = 1;

/// The state of a session.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Snapshot {
    format: u32,
    engine: String,
    world_hash: String,
    /// Number of the session's own events that it includes. It also includes those of the prefix.
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

    /// Parses a snapshot. Returns none if its hash, its version or its world differs.
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
    /// Takes a snapshot of a session if one is due. Since the last one, there must be at least half as many
    /// events as changed records. So the bytes of snapshots grow linearly with the events, not quadratically.
    pub(super) fn snapshot_if_due(&self, live: &mut Live) {
        let since = live.next_event.saturating_sub(live.snapshot_event);
        // While a batch of calls runs, the session may be ahead of its stored events.
        let changed = live.session.state().changed() as u64;
        if since < self.snapshot_events || since < changed / 2 || !live.is_written_down() {
            return;
        }
        self.snapshot(live);
    }

    /// Takes a snapshot of a session if it has new events. A failure only makes the next restart slower.
    pub(crate) fn snapshot(&self, live: &mut Live) {
        if live.next_event == live.snapshot_event || !live.is_written_down() {
            return;
        }
        let events = live.next_event;
        let written = Snapshot::text(live, events).and_then(|text| {
            let insert = |opened: &OpenStore| Ok(opened.snapshots.insert(live.id.as_str(), text.as_str())?);
            self.write(|_| Ok(vec![snapshot_of(&live.id)]), insert)
        });
        match written {
            Ok(()) => live.snapshot_event = events,
            Err(error) => tracing::warn!(%error, "a snapshot could not be written"),
        }
    }
}

impl OpenStore {
    /// Returns the valid snapshot of a session, if there is one.
    pub(super) fn latest(&self, id: &str, head: &Head) -> Result<Option<Snapshot>, StoreError> {
        let Some(snapshot) = self.snapshots.get(id)?.and_then(|bytes| Snapshot::read(&bytes, head)) else {
            return Ok(None);
        };
        Ok(self.has_event(id, snapshot.events)?.then_some(snapshot))
    }

    /// Returns true if the store has at least this many own events of a session.
    fn has_event(&self, id: &str, count: u64) -> Result<bool, StoreError> {
        let Some(last) = count.checked_sub(1) else { return Ok(true) };
        Ok(self.events.contains_key(key(id, last))?)
    }
}
