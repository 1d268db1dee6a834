//! Sessions, records and changes as JSON.

use diorama_seeds::model::{Record, Resource, World};
use diorama_seeds::value::{Instant, Value, Zone};
use serde_json::{Map, Value as Json, json};

use super::auth;
use super::rest::holder;
use super::sessions::Live;
use crate::engine::RecordChange;
use crate::fault::Faults;
use crate::session::LogEntry;

/// A session in short.
pub(super) fn session(live: &Live, base_url: &str) -> Json {
    let zone = &live.world.world().zone;
    json!({
        "id": live.id,
        "base_url": base_url,
        "world": live.world.id,
        "world_hash": live.world.hash,
        "seed": live.session.seed(),
        "clock": clock(live.session.state().clock(), zone),
        "zone": zone.name(),
        "search": live.session.initial().search().name(),
        "task": live.task.as_ref().map(|task| &task.id),
        "answers": live.said.answers(),
        "calls": live.session.calls(),
        "state_hash": live.session.digest().to_string(),
        "graded": live.grade.is_some(),
        "credentials": auth::credentials(&holder(live), base_url),
        "faults": live.session.faults().map(Faults::rules).unwrap_or_default(),
        "lease_seconds": live.lease_ms / 1_000,
    })
}

/// A moment in the world's zone.
pub(super) fn clock(instant: Instant, zone: &Zone) -> String {
    let mut text = String::new();
    zone.write_instant(instant, &mut text);
    text
}

/// The records of a state, of one resource or of all.
pub(super) fn state(live: &Live, only: Option<&str>) -> Json {
    let base = &live.world.base;
    let world = base.world();
    let state = live.session.state();
    let mut resources = Map::new();
    for declared in &world.resources {
        if only.is_some_and(|only| only != &*declared.qualified) {
            continue;
        }
        if let Some(id) = world.resource_named(&declared.qualified) {
            let records = state.iter(base, id).map(|found| record(declared, found, &world.zone)).collect();
            resources.insert(declared.qualified.to_string(), Json::Array(records));
        }
    }
    json!({
        "clock": clock(state.clock(), &world.zone),
        "state_hash": state.digest().to_string(),
        "resources": resources,
    })
}

/// Changes of records.
pub(super) fn changes(world: &World, changes: &[RecordChange]) -> Json {
    let change = |change: &RecordChange| {
        let declared = world.resource(change.resource);
        let shown = |found: &Option<Record>| found.as_ref().map(|found| record(declared, found, &world.zone));
        let kind = match (&change.before, &change.after) {
            (None, _) => "created",
            (_, None) => "deleted",
            _ => "updated",
        };
        json!({
            "resource": &*declared.qualified,
            "kind": kind,
            "key": change.key.to_json(&world.zone),
            "before": shown(&change.before),
            "after": shown(&change.after),
        })
    };
    Json::Array(changes.iter().map(change).collect())
}

/// A call of the log.
pub(super) fn entry(world: &World, position: usize, entry: &LogEntry) -> Json {
    json!({
        "n": position,
        "api": entry.call.api,
        "arguments": entry.call.arguments,
        "clock": clock(entry.clock, &world.zone),
        "status": entry.reply.status,
        "body": entry.reply.json_tree(&world.zone),
        "changes": changes(world, &entry.changes),
        "faults": entry.faults,
    })
}

fn record(declared: &Resource, record: &Record, zone: &Zone) -> Json {
    let pairs = declared.fields.iter().zip(record.iter());
    let present = pairs.filter(|(_, value)| !matches!(value, Value::Absent));
    Json::Object(present.map(|(field, value)| (field.name.to_string(), value.to_json(zone))).collect())
}
