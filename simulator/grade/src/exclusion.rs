//! Whether an episode says nothing of its agent, because a call that the task needs could not be made in it.
//!
//! Reads the log alone. No agent can exclude itself: a call that was answered as often as it is needed, in whatever way, excludes
//! nothing.

use std::sync::Arc;

use diorama_engine::Base;
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::model::{ParameterId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{ArgumentSource, GoldCall};
use diorama_seeds::value::Value;
use serde_json::{Map, Value as Json};

use crate::evidence::{has_all, parsed};

/// Tries of a needed call that must all have failed.
const MIN_TRIES: usize = 3;

/// A call that the reference solution needs: its API, and those of its arguments that are the same in every session.
#[derive(Clone, Debug, PartialEq)]
pub struct NeededCall {
    api: String,
    arguments: Map<String, Json>,
}

/// The reason for which a call could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Injected faults.
    Fault,
    /// The world could not compute a reply.
    World,
}

impl NeededCall {
    /// Collects the calls that a reference solution needs: all but its avoidable errors, and any search where it searches.
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

    /// Returns true if each call that this one can stand for, the other one can stand for, too.
    fn covers(&self, other: &Self) -> bool {
        let has = |(name, value): (&String, &Json)| other.arguments.get(name) == Some(value);
        self.api == other.api && self.arguments.iter().all(has)
    }

    /// The cause for which the last tries of the call failed, of which there were at least three, where fewer tries were answered
    /// before than `needed` calls of the kind.
    fn hindered(&self, needed: usize, log: &[Arc<LogEntry>], world: &World) -> Option<Cause> {
        let arguments: Vec<(ParameterId, Value)> = parsed(&self.api, &self.arguments, world);
        // An outage of the task is the agent's to deal with: such a try is no answer and excuses nothing.
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

/// Returns true if an argument is the key of a record that is there in every session.
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
    /// Returns the reason for which a call was not answered; none where it was.
    fn find(entry: &LogEntry) -> Option<Self> {
        if entry.faults.iter().any(|fault| fault.kind.hinders()) {
            return Some(Self::Fault);
        }
        (entry.faults.is_empty() && entry.reply.status == 500).then_some(Self::World)
    }
}

/// Returns the cause for which a failed episode is excluded: one of the needed calls was tried three times at least, and
/// each try met an injected fault or an error of the world. Calls that only replies tell apart count together: where two of a kind are
/// needed, one answer excludes nothing, and three tries that failed after it exclude the episode.
#[must_use]
pub fn exclusion(needed: &[NeededCall], log: &[Arc<LogEntry>], world: &World) -> Option<Cause> {
    needed.iter().find_map(|call| {
        let of_kind = needed.iter().filter(|other| call.covers(other)).count();
        call.hindered(of_kind, log, world)
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
        // Calls are made until a fault strikes at the number, and then for good.
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
        // Each of two dentists has to be looked up by a name that a reply gave.
        check(&["A", "B"], &["A", "B", "B", "B"], 1, Some(Cause::Fault));
        check(&["A", "B"], &["A", "B", "B"], 1, None);
        check(&["A", "B"], &["A", "B", "B", "B", "B"], 2, None);
        check(&["A"], &["A", "A", "A", "A"], 1, None);
        check(&["A"], &["A", "A", "A"], 0, Some(Cause::Fault));
    }
}
