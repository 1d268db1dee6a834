//! Owns the entries of the database and their keys: heads of sessions, and events.

use diorama_seeds::task::Call;
use serde::{Deserialize, Serialize};

use crate::creation::Creation;
use crate::live::Live;
use crate::replies::GradeReply;
use diorama_engine::ENGINE_VERSION;
use diorama_engine::fault::Rule;
use diorama_user::conversation::Exchange;

/// The version of the format.
pub(super) const FORMAT: u32 = 3;

/// The head of a session: everything that defines its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    pub(super) format: u32,
    pub(super) engine: String,
    pub(super) search: String,
    pub(super) world: String,
    pub(super) world_hash: String,
    pub(super) seed: u64,
    pub(super) clock: i64,
    pub(super) task: Option<String>,
    pub(super) faults: Vec<Rule>,
    pub(super) token: String,
    /// The request that made it, if it had a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) creation: Option<Creation>,
    pub(super) lease_ms: u64,
    /// The name of the events that it shares with other forks.
    pub(super) prefix: Option<String>,
}

/// An accepted event of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// A call, with the status of its reply.
    Call(Call, u16),
    /// The clock was set.
    Clock(i64),
    /// A message of the assistant, with the user's answer.
    Said(Exchange),
    /// The grade that ended the episode.
    Graded(GradeReply),
}

/// Events that several sessions share, stored under the hash of their text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredEvents")]
pub(super) struct Prefix {
    /// The name of the previous prefix.
    pub(super) parent: Option<String>,
    pub(super) events: Vec<Event>,
}

/// Serialised prefixes, in the present form and in the older one without parents.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredEvents {
    Alone(Vec<Event>),
    Linked { parent: Option<String>, events: Vec<Event> },
}

impl From<StoredEvents> for Prefix {
    fn from(kept: StoredEvents) -> Self {
        match kept {
            StoredEvents::Alone(events) => Self { parent: None, events },
            StoredEvents::Linked { parent, events } => Self { parent, events },
        }
    }
}

impl Head {
    pub(super) fn of(live: &Live) -> Self {
        Self {
            format: FORMAT,
            engine: ENGINE_VERSION.to_owned(),
            search: live.session.initial().search().name().to_owned(),
            world: live.world.id.clone(),
            world_hash: live.world.hash.clone(),
            seed: live.session.seed(),
            clock: live.session.initial().clock().0,
            task: live.task.as_ref().map(|task| task.id.clone()),
            faults: live.session.faults().map(|faults| faults.rules().to_vec()).unwrap_or_default(),
            token: live.token.clone(),
            creation: live.creation.as_deref().cloned(),
            lease_ms: live.lease_ms,
            prefix: live.prefix.clone(),
        }
    }
}

/// Returns the events up to the given number of calls. Messages of the user that follow the last kept call
/// are kept, too.
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

pub(super) fn key(id: &str, number: u64) -> Vec<u8> {
    [id.as_bytes(), &number.to_be_bytes()].concat()
}

pub(super) fn snapshot_of(id: &str) -> (Space, Vec<u8>) {
    (Space::Snapshots, id.as_bytes().to_vec())
}

/// A keyspace whose changes can be undone.
#[derive(Clone, Copy, Debug)]
pub(super) enum Space {
    Heads,
    Events,
    Snapshots,
}
