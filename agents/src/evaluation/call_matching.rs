//! Owns the matching of an episode's calls with the reference calls.
//!
//! A session makes values of its own: tokens, and keys of new records. The recorded session and an
//! episode have different ones for the same object, so arguments are compared up to renaming. Two values
//! denote the same object if they have the same position in the replies to the same call.

use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::tools::is_of_solution;
use diorama_engine::{Body, Origin};
use diorama_seeds::model::{BehaviourKind, ResourceId, World};
use diorama_seeds::task::{ArgumentSource, Call, GoldCall};
use diorama_seeds::value::Value;
use serde_json::Value as Json;

/// Counts the reference calls, without searches, that an episode made with the same arguments up to
/// renaming. `replies` are the recorded replies to the reference calls, as JSON text.
pub(super) fn count_matched_calls(
    world: &World,
    gold: &[GoldCall],
    replies: &[String],
    log: &[Arc<LogEntry>],
) -> u64 {
    let changes = log.iter().flat_map(|entry| &entry.changes);
    let created = changes.filter(|change| change.before.is_none());
    let new_keys = created.map(|change| (change.resource, &change.key)).collect();
    let mut reader = ReplyReader { world, new_keys, renames: Renames::default() };
    let mut matched = 0;
    for (number, reference) in gold.iter().enumerate() {
        let api = world.api_named(&reference.api).map(|id| world.api(id));
        let default = |name: &str| {
            let api = api?;
            let parameter = &api.parameters[api.parameter_named(name)?.index()];
            parameter.default.as_ref().map(|value| value.to_json(&world.zone))
        };
        let same = |entry: &&Arc<LogEntry>| reader.renames.is_same_call(reference, &entry.call, default);
        let made: Vec<&Arc<LogEntry>> = log.iter().filter(same).collect();
        matched += u64::from(!made.is_empty() && is_of_solution(reference));
        let recorded = replies.get(number).and_then(|reply| serde_json::from_str(reply).ok());
        let recorded: Json = recorded.unwrap_or_default();
        for entry in made {
            reader.read(entry, &entry.reply.body, &recorded);
        }
    }
    matched
}

/// Reader of the values that a session made, from its replies.
struct ReplyReader<'a> {
    world: &'a World,
    /// Records that the episode created.
    new_keys: Vec<(ResourceId, &'a Value)>,
    renames: Renames,
}

impl ReplyReader<'_> {
    /// Reads a reply together with the recorded reply to the same call.
    fn read(&mut self, entry: &LogEntry, body: &Body, recorded: &Json) {
        match (body, recorded) {
            (Body::Object(members), Json::Object(others)) => {
                for (name, member) in members {
                    if let Some(other) = others.get(&**name) {
                        self.read(entry, member, other);
                    }
                }
            }
            (Body::List(items), Json::Array(others)) => {
                items.iter().zip(others).for_each(|(item, other)| self.read(entry, item, other));
            }
            (Body::Leaf(value, origin), recorded) => {
                let own = value.to_json(&self.world.zone);
                match origin {
                    Origin::Computed if self.is_token(entry, value) => self.renames.add_token(recorded, own),
                    Origin::Field { resource, key, field }
                        if *field == self.world.resource(*resource).key
                            && self.new_keys.contains(&(*resource, key))
                            && !self.is_known_beforehand(*resource, recorded) =>
                    {
                        self.renames.add_key(recorded, own);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Returns true for the token of a sign-in, which is the only string that a sign-in computes.
    fn is_token(&self, entry: &LogEntry, value: &Value) -> bool {
        let signs_in = entry.api.map(|api| &self.world.api(api).behaviour.kind);
        matches!((signs_in, value), (Some(BehaviourKind::SignIn { .. }), Value::String(_)))
    }

    /// Returns true for the key of a record of the world, which is the same in every session.
    fn is_known_beforehand(&self, resource: ResourceId, key: &Json) -> bool {
        let described = self.world.resource(resource);
        let keys = described.records.iter().filter_map(|record| record.get(described.key.index()));
        keys.map(|key| key.to_json(&self.world.zone)).any(|known| known == *key)
    }
}

/// Values of the recorded session, each with the values that replace it in an episode.
#[derive(Debug, Default)]
struct Renames {
    pairs: Vec<(Json, Vec<Json>)>,
}

impl Renames {
    /// Adds the key of a new record. Each key has one counterpart, and the first one stays.
    fn add_key(&mut self, recorded: &Json, own: Json) {
        let is_taken = |(other, owns): &(Json, Vec<Json>)| other == recorded || owns.contains(&own);
        if !self.pairs.iter().any(is_taken) {
            self.pairs.push((recorded.clone(), vec![own]));
        }
    }

    /// Adds a token. All tokens of the same sign-in are equivalent, because a new one replaces an expired
    /// one.
    fn add_token(&mut self, recorded: &Json, own: Json) {
        match self.pairs.iter_mut().find(|(known, _)| known == recorded) {
            Some((_, owns)) => owns.push(own),
            None => self.pairs.push((recorded.clone(), vec![own])),
        }
    }

    /// Returns true if the arguments agree up to renaming. A missing argument equals its default.
    fn is_same_call(
        &self,
        reference: &GoldCall,
        call: &Call,
        default: impl Fn(&str) -> Option<Json>,
    ) -> bool {
        let is_same = |name: &String| {
            let is_from_reply = reference.sources.get(name).is_some_and(comes_from_reply);
            match (reference.arguments.get(name), call.arguments.get(name)) {
                (Some(value), Some(own)) if is_from_reply => self.is_same(value, own),
                (Some(value), Some(own)) => value == own,
                (Some(one), None) | (None, Some(one)) => default(name).as_ref() == Some(one),
                (None, None) => true,
            }
        };
        reference.api == call.api && reference.arguments.keys().chain(call.arguments.keys()).all(is_same)
    }

    fn is_same(&self, recorded: &Json, own: &Json) -> bool {
        match (recorded, own) {
            (Json::Array(items), Json::Array(owns)) => {
                items.len() == owns.len() && items.iter().zip(owns).all(|(item, own)| self.is_same(item, own))
            }
            _ => match self.pairs.iter().find(|(known, _)| known == recorded) {
                Some((_, owns)) => owns.contains(own),
                None => recorded == own,
            },
        }
    }
}

fn comes_from_reply(source: &ArgumentSource) -> bool {
    match source {
        ArgumentSource::Reply { .. } | ArgumentSource::Replies { .. } => true,
        ArgumentSource::Arithmetic { of, .. } => of.iter().any(comes_from_reply),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_a_session_made_are_compared_up_to_renaming() {
        let mut renames = Renames::default();
        renames.add_key(&json!("APT-1"), json!("APT-7"));
        renames.add_key(&json!("APT-2"), json!("APT-8"));
        // Each key has one counterpart, in both directions.
        renames.add_key(&json!("APT-1"), json!("APT-9"));
        renames.add_key(&json!("APT-3"), json!("APT-8"));
        renames.add_token(&json!("t1"), json!("u1"));
        renames.add_token(&json!("t1"), json!("u2"));
        let check = |recorded: Json, own: Json, expect: bool| {
            assert_eq!(renames.is_same(&recorded, &own), expect, "{recorded} as {own}");
        };
        check(json!("APT-1"), json!("APT-7"), true);
        check(json!("APT-1"), json!("APT-9"), false);
        check(json!("APT-1"), json!("APT-8"), false);
        // The recorded value does not exist in this session.
        check(json!("APT-1"), json!("APT-1"), false);
        check(json!("APT-3"), json!("APT-8"), false);
        check(json!(["APT-1", "APT-2", 5]), json!(["APT-7", "APT-8", 5]), true);
        check(json!(["APT-1", "APT-2"]), json!(["APT-8", "APT-7"]), false);
        check(json!("t1"), json!("u1"), true);
        check(json!("t1"), json!("u2"), true);
        check(json!("t1"), json!("u3"), false);
        check(json!("Ana"), json!("Ana"), true);
    }

    #[test]
    fn only_arguments_that_come_from_replies_are_renamed() {
        let mut renames = Renames::default();
        renames.add_key(&json!(4302), json!(7809));
        let reply = || ArgumentSource::Reply { call: 0, path: "id".to_owned() };
        let call = |id: i64, amount: i64| {
            let arguments = json!({"id": id, "amount": amount}).as_object().unwrap().clone();
            Call { api: "Pay".to_owned(), arguments }
        };
        let Call { api, arguments } = call(4302, 4302);
        let sources =
            BTreeMap::from([("id".to_owned(), reply()), ("amount".to_owned(), ArgumentSource::Default)]);
        let reference =
            GoldCall { api, source_api: None, arguments, sources, turn: 0, mistake: false, care: false };
        let check = |call: &Call, expect: bool| {
            let default = |name: &str| (name == "page").then(|| json!(1));
            assert_eq!(renames.is_same_call(&reference, call, default), expect, "{call:?}");
        };
        check(&call(7809, 4302), true);
        check(&call(4302, 4302), false);
        check(&call(7809, 7809), false);
        // A default makes no difference.
        let mut paged = call(7809, 4302);
        paged.arguments.insert("page".to_owned(), json!(1));
        check(&paged, true);
        paged.arguments.insert("page".to_owned(), json!(2));
        check(&paged, false);
        paged.arguments.remove("amount");
        check(&paged, false);
    }
}
