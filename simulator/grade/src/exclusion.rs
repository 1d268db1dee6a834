//! Exclusion: finds episodes that tell nothing about the agent, because the world failed a call that the task
//! needs.
//!
//! Reads the log alone. An agent cannot exclude its own episode: a call that was answered as often as the
//! task needs it excludes nothing.

use std::sync::Arc;

use diorama_engine::Base;
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::model::{ParameterId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{ArgumentSource, GoldCall};
use diorama_seeds::value::Value;
use serde_json::{Map, Value as Json};

use crate::evidence::{has_all, parse_arguments};

/// Number of tries of a needed call that must all have failed.
const MIN_TRIES: usize = 3;

/// A call that the reference solution needs: its API, and the arguments that are the same in every session.
#[derive(Clone, Debug, PartialEq)]
pub struct NeededCall {
    api: String,
    arguments: Map<String, Json>,
}

/// The reason for which a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An injected fault.
    Fault,
    /// The world could not calculate a reply.
    World,
}

impl NeededCall {
    /// Collects the calls of a reference solution, except its deliberate mistakes. A needed search counts
    /// with any keywords.
    #[must_use]
    pub fn collect(gold: &[GoldCall], base: &Base) -> Vec<Self> {
        let lasting = |call: &GoldCall, name: &str| {
            let is_reply = |source: &ArgumentSource| {
                matches!(source, ArgumentSource::Reply { .. } | ArgumentSource::Replies { .. })
            };
            call.sources.get(name).is_some_and(|source| !is_reply(source) || is_frozen_key(call, name, base))
        };
        let needed = gold.iter().filter(|call| !call.mistake).map(|call| Self {
            api: call.api.clone(),
            arguments: (call.arguments.iter())
                .filter(|(name, _)| call.api != TOOL_SEARCHER && lasting(call, name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        });
        needed.collect()
    }

    /// Returns true if every call that matches `other` also matches this one.
    fn covers(&self, other: &Self) -> bool {
        let has = |(name, value): (&String, &Json)| other.arguments.get(name) == Some(value);
        self.api == other.api && self.arguments.iter().all(has)
    }

    /// Returns the cause of the call's last failures, of which there must be at least [`MIN_TRIES`]. Returns
    /// none if `needed` tries were answered.
    fn find_failure_cause(&self, needed: usize, log: &[Arc<LogEntry>], world: &World) -> Option<Cause> {
        let arguments: Vec<(ParameterId, Value)> = parse_arguments(&self.api, &self.arguments, world);
        // The agent has to handle an outage that is part of the task. Such a try is neither an answer nor a
        // failure.
        let is_outage = |entry: &LogEntry| entry.faults.is_empty() && matches!(entry.reply.status, 429 | 503);
        let tries = log.iter().filter(|entry| {
            entry.call.api == self.api && !is_outage(entry) && has_all(entry, &arguments, world)
        });
        let tries: Vec<Option<Cause>> = tries.map(|entry| Cause::find(entry)).collect();
        let answered = tries.iter().filter(|cause| cause.is_none()).count();
        let last: Vec<Cause> = tries.iter().rev().map_while(|cause| *cause).collect();
        if answered >= needed || last.len() < MIN_TRIES {
            return None;
        }
        Some(if last.contains(&Cause::World) { Cause::World } else { Cause::Fault })
    }
}

/// Returns true if an argument is the key of a record that exists in every session.
fn is_frozen_key(call: &GoldCall, name: &str, base: &Base) -> bool {
    let world = base.world();
    let Some(api) = world.api_named(&call.api).map(|id| world.api(id)) else { return false };
    let parameter = api.parameter_named(name).and_then(|id| api.parameters.get(id.index()));
    let (Some(parameter), Some(json)) = (parameter, call.arguments.get(name)) else { return false };
    let Type::Reference { resource, .. } = parameter.schema.kind else { return false };
    let key = parameter.schema.parse_json(json, &world.zone);
    key.is_ok_and(|key| base.find(resource, &key).is_some())
}

impl Cause {
    /// Returns the reason for which a call was not answered, or none if it was.
    fn find(entry: &LogEntry) -> Option<Self> {
        if entry.faults.iter().any(|fault| fault.kind.hinders()) {
            return Some(Self::Fault);
        }
        (entry.faults.is_empty() && entry.reply.status == 500).then_some(Self::World)
    }
}

/// Returns the cause for which a failed episode is excluded. It needs three tries in a row of a needed call
/// that met an injected fault or an error of the world. Needed calls that differ only in values from replies
/// count together. If the task needs two of them, one answer does not prevent the exclusion.
#[must_use]
pub fn exclusion(needed: &[NeededCall], log: &[Arc<LogEntry>], world: &World) -> Option<Cause> {
    needed.iter().find_map(|call| {
        let of_kind = needed.iter().filter(|other| call.covers(other)).count();
        call.find_failure_cause(of_kind, log, world)
    })
}

#[cfg(test)]
mod tests {
    use diorama_engine::fault::Faults;
    use diorama_engine::session::Session;
    use serde_json::json;

    use super::{Cause, NeededCall, exclusion};
    use crate::tests::{clinic, shared::call};

    #[test]
    fn a_needed_call_that_no_try_gets_answered_excludes_although_its_like_was() {
        let base = clinic();
        let search = json!({"api": "ToolSearcher", "arguments": {"keywords": "dentist"}, "sources": {}});
        let find = |name: &str| {
            let source = json!({"from": "reply", "call": 0, "path": "name"});
            json!({"api": "FindDentist", "arguments": {"name": name}, "sources": {"name": source}})
        };
        // A fault strikes every call from number `from` on.
        let check = |needed: &[&str], made: &[&str], from: u64, expect: Option<Cause>| {
            let gold = needed.iter().map(|name| find(name)).chain([search.clone()]);
            let gold: Vec<_> = gold.map(|call| serde_json::from_value(call).unwrap()).collect();
            let needed: Vec<NeededCall> = NeededCall::collect(&gold, &base)
                .into_iter()
                .filter(|call| call.api == "FindDentist")
                .collect();
            let rules = json!([{"kind": "error", "status": 503, "from": from}]);
            let faults = Faults::new(serde_json::from_value(rules).unwrap()).unwrap();
            let mut session = Session::new(base.clone(), Default::default()).with_faults(faults);
            for name in made {
                session.call(&call(&format!(r#"FindDentist {{"name": "{name}"}}"#)));
            }
            let log: Vec<_> = session.log().collect();
            assert_eq!(exclusion(&needed, &log, base.world()), expect, "{made:?} from {from}");
        };
        // The task looks up two dentists by names that replies gave.
        check(&["A", "B"], &["A", "B", "B", "B"], 1, Some(Cause::Fault));
        check(&["A", "B"], &["A", "B", "B"], 1, None);
        check(&["A", "B"], &["A", "B", "B", "B", "B"], 2, None);
        check(&["A"], &["A", "A", "A", "A"], 1, None);
        check(&["A"], &["A", "A", "A"], 0, Some(Cause::Fault));
    }
}
