//! Owns the JSON of sessions, records and changes.

use diorama_seeds::model::{DomainId, Record, Resource, World};
use diorama_seeds::value::{Instant, Value, Zone};
use diorama_sessions::Live;
use serde_json::{Map, Value as Json};

use super::app::App;
use super::reply_types::{Change, LoggedCall, SessionView, State};
use super::world::auth;
use diorama_engine::RecordChange;
use diorama_engine::fault::Faults;
use diorama_engine::session::LogEntry;

impl App {
    /// Returns the credentials of a client of a session's REST API, by the name of the security scheme.
    #[must_use]
    pub fn credentials(&self, live: &Live) -> Map<String, Json> {
        auth::credentials(&auth::holder(live), &self.base_url(&live.id))
    }
}

/// Returns the summary of a session.
pub(super) fn session(live: &Live, base_url: String) -> SessionView {
    let world = live.world.world();
    let zone = &world.zone;
    let domains = (0..world.domains.len()).map(|index| DomainId(index as u16));
    let given = domains.flat_map(|domain| world.given(domain));
    SessionView {
        given: given.map(|(name, value)| (name.to_string(), value.to_json(zone))).collect(),
        id: live.id.clone(),
        credentials: auth::credentials(&auth::holder(live), &base_url),
        base_url,
        world: live.world.id.clone(),
        world_hash: live.world.hash.clone(),
        seed: live.session.seed(),
        clock: clock(live.session.state().clock(), zone),
        zone: zone.name().to_owned(),
        search: live.session.initial().search().name(),
        task: live.task.as_ref().map(|task| task.id.clone()),
        calls: live.session.calls(),
        state_hash: live.session.digest().to_string(),
        graded: live.grade.is_some(),
        faults: live.session.faults().map(Faults::rules).unwrap_or_default().to_vec(),
        lease_seconds: live.lease_ms / 1_000,
    }
}

/// Formats a timestamp in the world's zone.
pub(super) fn clock(instant: Instant, zone: &Zone) -> String {
    let mut text = String::new();
    zone.write_instant(instant, &mut text);
    text
}

/// Returns the records of a state, of one resource or of all.
pub(super) fn state(live: &Live, only: Option<&str>) -> State {
    let base = &live.world.base;
    let world = base.world();
    let state = live.session.state();
    let mut resources = Map::new();
    for declared in &world.resources {
        if only.is_some_and(|only| only != &*declared.qualified) {
            continue;
        }
        if let Some(id) = world.resource_named(&declared.qualified) {
            let record = |found| Json::Object(record(declared, found, &world.zone));
            let records = state.iter(base, id).map(record).collect();
            resources.insert(declared.qualified.to_string(), Json::Array(records));
        }
    }
    State { clock: clock(state.clock(), &world.zone), state_hash: state.digest().to_string(), resources }
}

/// Returns changes of records.
pub(super) fn changes(world: &World, changes: &[RecordChange]) -> Vec<Change> {
    let change = |change: &RecordChange| {
        let declared = world.resource(change.resource);
        let shown = |found: &Option<Record>| found.as_ref().map(|found| record(declared, found, &world.zone));
        Change {
            resource: declared.qualified.to_string(),
            kind: match (&change.before, &change.after) {
                (None, _) => "created",
                (_, None) => "deleted",
                _ => "updated",
            },
            key: change.key.to_json(&world.zone),
            before: shown(&change.before),
            after: shown(&change.after),
        }
    };
    changes.iter().map(change).collect()
}

/// Returns a call of the log.
pub(super) fn entry(world: &World, position: usize, entry: &LogEntry) -> LoggedCall {
    LoggedCall {
        n: position,
        api: entry.call.api.clone(),
        arguments: entry.call.arguments.clone(),
        clock: clock(entry.clock, &world.zone),
        status: entry.reply.status,
        body: entry.reply.json_tree(&world.zone),
        changes: changes(world, &entry.changes),
        faults: entry.faults.clone(),
        broken: entry.broken.as_ref().map(ToString::to_string),
        needs: entry.needs.as_ref().map(|needed| needed.rule.to_string()),
    }
}

fn record(declared: &Resource, record: &Record, zone: &Zone) -> Map<String, Json> {
    let pairs = declared.fields.iter().zip(record.iter());
    let present = pairs.filter(|(_, value)| !matches!(value, Value::Absent));
    present.map(|(field, value)| (field.name.to_string(), value.to_json(zone))).collect()
}
