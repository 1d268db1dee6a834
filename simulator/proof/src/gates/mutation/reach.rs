//! Whether the replies of a run reach what the reference solution rests on: from engine facts, without the grader.

use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin};
use diorama_grade::evidence::{derives, parsed, tells_beforehand};
use diorama_seeds::value::Value;
use serde_json::{Map, Value as Json};

use crate::answer::Asked;
use crate::binding::each;
use crate::gates::Trial;
use crate::ground::GroundedGoal;

/// Whether everything that a goal rests on is in the replies up to its end.
pub(super) fn reached(trial: &Trial<'_>, goal: &GroundedGoal, log: &[Arc<LogEntry>]) -> bool {
    let entries = &trial.grounded.entries;
    let facts = goal.asked.iter().all(|asked| {
        let Some(entry) = entries.get(asked.call()) else { return false };
        match asked {
            Asked::Leaf { path, .. } => {
                entry.reply.body.at(path).is_some_and(|leaf| shown(trial, leaf, entry, path, log))
            }
            Asked::Each { array, member, .. } => each(&entry.reply.body, array, member)
                .is_some_and(|items| items.iter().all(|leaf| shown(trial, leaf, entry, array, log))),
            Asked::Count { path, .. } => match entry.reply.body.at(path) {
                // So many records, each of which is shown somewhere.
                Some(Body::List(items)) if !items.is_empty() => items.iter().all(|item| {
                    let first = item.parts().find(|part| matches!(part, Body::Leaf(_, Origin::Field { .. })));
                    first.is_some_and(|leaf| shown(trial, leaf, entry, path, log))
                }),
                _ => counted(trial, entry, path, log),
            },
        }
    });
    facts && goal.refused_by.and_then(|call| entries.get(call)).is_none_or(|entry| refused(trial, entry, log))
}

/// Whether a reply shows the same value of the same field of the same record; of a new record, of any new one.
fn shown(trial: &Trial<'_>, leaf: &Body, entry: &LogEntry, path: &str, log: &[Arc<LogEntry>]) -> bool {
    let Body::Leaf(wanted, origin) = leaf else { return false };
    let mut successes = log.iter().filter(|entry| entry.reply.is_success());
    match origin {
        Origin::Field { resource, key, field } => {
            let new = is_new(trial, *resource, key);
            successes.flat_map(|entry| entry.reply.body.values()).any(|(value, from)| {
                let Origin::Field { resource: of, key: whose, field: shown } = from else { return false };
                let same_record = whose == key || new;
                let made_up = new && *field == trial.world().resource(*resource).key;
                (of, shown) == (resource, field) && same_record && (value == wanted || made_up)
            })
        }
        // What the world computes is the same when the same was asked.
        Origin::Computed | Origin::Constant => successes.any(|other| {
            (asks_the_same(trial, entry, other)
                && other.reply.body.at(path).and_then(Body::value) == Some(wanted))
                || wanted.as_f64().is_some_and(|wanted| follows(trial, entry, other, wanted))
        }),
    }
}

fn is_new(trial: &Trial<'_>, resource: diorama_seeds::model::ResourceId, key: &Value) -> bool {
    trial
        .expected
        .iter()
        .any(|change| change.before.is_none() && change.resource == resource && change.key == *key)
}

/// Whether the same was counted.
fn counted(trial: &Trial<'_>, entry: &LogEntry, path: &str, log: &[Arc<LogEntry>]) -> bool {
    log.iter().any(|other| {
        (asks_the_same(trial, entry, other) && other.reply.body.at(path) == entry.reply.body.at(path))
            || entry
                .reply
                .body
                .at(path)
                .and_then(Body::value)
                .and_then(Value::as_f64)
                .is_some_and(|wanted| follows(trial, entry, other, wanted))
    })
}

/// Whether a number that a reference call computes follows from another read.
fn follows(trial: &Trial<'_>, reference: &LogEntry, other: &LogEntry, wanted: f64) -> bool {
    let world = trial.world();
    let arguments = parsed(&reference.call.api, &arguments_of(trial, reference), world);
    let Some(computes) = reference.api.map(|id| world.api(id)) else { return false };
    derives(other, wanted, computes, &arguments, &trial.grounded.user_turns, world)
}

/// Whether a call asks for the same as a reference call: all of its arguments but those that choose the view.
fn asks_the_same(trial: &Trial<'_>, reference: &LogEntry, other: &LogEntry) -> bool {
    let same = |(name, json): (&String, &Json)| other.call.arguments.get(name) == Some(json);
    other.call.api == reference.call.api && arguments_of(trial, reference).iter().all(same)
}

fn arguments_of(trial: &Trial<'_>, reference: &LogEntry) -> Map<String, Json> {
    let gold = trial.grounded.entries.iter().position(|entry| std::ptr::eq(&**entry, reference));
    gold.map(|call| crate::checks::binding_arguments(trial, call)).unwrap_or_default()
}

/// Whether reads before a call told that it would be refused.
pub(super) fn is_told(trial: &Trial<'_>, entry: &LogEntry, log: &[Arc<LogEntry>]) -> bool {
    let world = trial.world();
    let Some(api) = entry.api.map(|id| world.api(id)).filter(|_| !entry.reply.is_success()) else {
        return false;
    };
    let arguments = parsed(&entry.call.api, &arguments_of(trial, entry), world);
    let said = &trial.grounded.user_turns;
    log.iter().any(|other| tells_beforehand(other, api, entry.reply.status, &arguments, said, world))
}

/// Whether the same was refused, or came back empty; the keys of new records and tokens aside.
fn refused(trial: &Trial<'_>, entry: &LogEntry, log: &[Arc<LogEntry>]) -> bool {
    if is_told(trial, entry, log) {
        return true;
    }
    log.iter().any(|other| other.reply.status == entry.reply.status && asks_the_same(trial, entry, other))
}
