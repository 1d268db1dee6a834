//! Whether the replies of a run reach a piece of evidence: from engine facts, without the grader.

use std::sync::Arc;

use diorama_seeds::task::Evidence;
use diorama_simulator::engine::{Base, Body, Origin};
use diorama_simulator::session::LogEntry;

/// Whether one of the alternatives is in a reply of the log; no alternatives means nothing to reach.
pub(super) fn reached(alternatives: &[Evidence], log: &[Arc<LogEntry>], base: &Base) -> bool {
    alternatives.is_empty() || alternatives.iter().any(|evidence| one(evidence, log, base))
}

fn one(evidence: &Evidence, log: &[Arc<LogEntry>], base: &Base) -> bool {
    let world = base.world();
    let successes = || log.iter().filter(|entry| entry.reply.is_success());
    match evidence {
        Evidence::Leaf { resource, key, field } => successes().any(|entry| {
            entry.reply.body.leaves().any(|(_, _, origin)| match origin {
                Origin::Field { resource: of, key: whose, field: shown } => {
                    let described = world.resource(*of);
                    *described.qualified == **resource
                        && *described.field(*shown).name == **field
                        && whose.to_text(&world.zone) == *key
                }
                Origin::Computed | Origin::Constant => false,
            })
        }),
        Evidence::Computed { api, path, value } => successes().any(|entry| {
            entry.call.api == *api
                && entry
                    .reply
                    .body
                    .at(path)
                    .and_then(Body::value)
                    .is_some_and(|leaf| leaf.to_text(&world.zone) == *value)
        }),
        Evidence::Refused { api, status } => log
            .iter()
            .any(|entry| entry.call.api == *api && entry.api.is_some() && entry.reply.status == *status),
        Evidence::Empty { api } => successes().any(|entry| {
            entry.call.api == *api
                && !entry.reply.body.leaves().any(|(_, _, origin)| matches!(origin, Origin::Field { .. }))
        }),
        Evidence::All { of } => of.iter().all(|part| one(part, log, base)),
    }
}
