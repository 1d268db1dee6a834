//! Adversaries: agents that must not succeed. They test the checks of a dataset.

use diorama_seeds::model::{Api, ApiId, BehaviourKind, ParameterId};
use diorama_seeds::task::{Call, Outcome};
use diorama_seeds::value::Value;
use diorama_simulator::engine::Origin;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use serde_json::Value as Json;

use super::{Agent, Ended, Live, oracle};
use crate::synthesis::world::refers_to;

/// Does and says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOp;

/// Refuses everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysRefuse;

/// Asks back, whatever the user says.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysAsk;

/// Calls every read it can and answers with every value it saw.
#[derive(Clone, Copy, Debug, Default)]
pub struct DumpAll;

/// Solves the task, and besides makes a change nobody asked for and undoes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteUndo;

/// Says the request back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repeat;

/// Questions that `always-ask` asks before it gives up on being answered.
const QUESTIONS: usize = 5;

impl Agent for NoOp {
    fn name(&self) -> &'static str {
        "noop"
    }

    fn act(&self, _: &mut Live<'_>) -> Ended {
        Ended { answer: String::new(), outcome: None }
    }
}

impl Agent for AlwaysRefuse {
    fn name(&self) -> &'static str {
        "always-refuse"
    }

    fn act(&self, _: &mut Live<'_>) -> Ended {
        Ended { answer: "I'm sorry, but I can't help with that.".into(), outcome: Some(Outcome::Refused) }
    }
}

impl Agent for AlwaysAsk {
    fn name(&self) -> &'static str {
        "always-ask"
    }

    fn act(&self, live: &mut Live<'_>) -> Ended {
        let question = "Could you give me more details, please?";
        for _ in 0..QUESTIONS {
            live.say(question);
        }
        Ended { answer: question.into(), outcome: Some(Outcome::NeedInput) }
    }
}

impl Agent for Repeat {
    fn name(&self) -> &'static str {
        "repeat"
    }

    fn act(&self, live: &mut Live<'_>) -> Ended {
        while live.say("Is there anything else?").is_some() {}
        Ended { answer: live.said().join(" "), outcome: Some(Outcome::Done) }
    }
}

impl Agent for DumpAll {
    fn name(&self) -> &'static str {
        "dump-all"
    }

    fn act(&self, live: &mut Live<'_>) -> Ended {
        while live.say("Is there anything else?").is_some() {}
        let request = live.said().join(" ");
        if live.task.episode.visible.is_empty() {
            for word in request.split_whitespace().take(40) {
                search(live, word);
            }
        }
        let world = live.world.base.world();
        let zone = &world.zone;
        let reads: Vec<ApiId> = live.session.visible().filter(|id| is_read(world.api(*id))).collect();
        // Lists first: their replies hold the keys and names that the other reads take.
        for id in &reads {
            let api = world.api(*id);
            if api.parameters.iter().all(|parameter| !parameter.required) {
                live.call(&Call { api: api.name.to_string(), arguments: serde_json::Map::new() });
            }
        }
        for id in &reads {
            let api = world.api(*id);
            for arguments in arguments_from_replies(live, api, &request) {
                live.call(&Call { api: api.name.to_string(), arguments });
            }
        }
        let mut answer = String::new();
        for entry in live.session.log() {
            for (path, value, _) in entry.reply.body.leaves() {
                answer.push_str(&format!("{path}: {}\n", value.to_text(zone)));
            }
        }
        Ended { answer, outcome: Some(Outcome::Done) }
    }
}

impl Agent for WriteUndo {
    fn name(&self) -> &'static str {
        "write-undo"
    }

    fn act(&self, live: &mut Live<'_>) -> Ended {
        // Where nothing can be changed and changed back, the rest would be the reference solution.
        if !write_and_undo(live) {
            return Ended { answer: String::new(), outcome: None };
        }
        match oracle::solve(live) {
            Some((_, answer)) => Ended { answer, outcome: Some(live.task.episode.outcome) },
            None => Ended { answer: String::new(), outcome: None },
        }
    }
}

fn search(live: &mut Live<'_>, keywords: &str) {
    let arguments = [("keywords".to_owned(), Json::from(keywords))].into_iter().collect();
    live.call(&Call { api: TOOL_SEARCHER.to_owned(), arguments });
}

fn is_read(api: &Api) -> bool {
    !api.writes() && !matches!(api.behaviour.kind, BehaviourKind::SignIn { .. } | BehaviourKind::SignOut)
}

/// Arguments for a read with one required parameter, from the replies so far and the request's words.
fn arguments_from_replies(live: &Live<'_>, api: &Api, request: &str) -> Vec<serde_json::Map<String, Json>> {
    let world = live.world.base.world();
    let required: Vec<&diorama_seeds::model::Parameter> =
        api.parameters.iter().filter(|parameter| parameter.required).collect();
    let [parameter] = required.as_slice() else { return Vec::new() };
    let mut found: Vec<Json> = Vec::new();
    let target = refers_to(&parameter.schema.kind);
    for entry in live.session.log() {
        for (_, value, origin) in entry.reply.body.leaves() {
            let Origin::Field { resource, field, .. } = origin else { continue };
            let fits = match target {
                Some(target) => *resource == target && *field == world.resource(target).key,
                None => parameter.field == Some((*resource, *field)),
            };
            let json = value.to_json(&world.zone);
            if fits && !found.contains(&json) {
                found.push(json);
            }
        }
    }
    // Names that the request holds.
    if let Some((resource, field)) = parameter.field {
        for record in &world.resource(resource).records {
            if let Some(text) = record.get(field.index()).and_then(Value::as_str)
                && request.contains(text)
                && !found.contains(&Json::from(text))
            {
                found.insert(0, Json::from(text));
            }
        }
    }
    found
        .into_iter()
        .take(25)
        .map(|value| serde_json::Map::from_iter([(parameter.name.to_string(), value)]))
        .collect()
}

/// Makes a change outside the task and takes it back: a patch there and back, or a deletion of a new record.
/// Reaches into the world's APIs directly, visible or not: an adversary may be better than any agent.
fn write_and_undo(live: &mut Live<'_>) -> bool {
    let base = live.world.base.clone();
    let world = base.world();
    for api in &world.apis {
        let BehaviourKind::Patch { resource, set, .. } = &api.behaviour.kind else { continue };
        let Some(key) = key_parameter(api, *resource) else { continue };
        if api
            .parameters
            .iter()
            .enumerate()
            .any(|(index, parameter)| parameter.required && ParameterId(index as u16) != key)
        {
            continue;
        }
        for (field, setter) in set {
            let diorama_seeds::model::Setter::Argument(parameter) = setter else { continue };
            let described = world.resource(*resource);
            let records: Vec<_> = live.session.state().iter(&base, *resource).cloned().collect();
            for record in records.iter().take(12) {
                let Some(identity) = record.get(described.key.index()).cloned() else { continue };
                let Some(old) = record.get(field.index()).filter(|value| !value.is_missing()).cloned() else {
                    continue;
                };
                let other = records
                    .iter()
                    .filter_map(|other| other.get(field.index()))
                    .find(|other| **other != old && !other.is_missing());
                let Some(other) = other.cloned() else { continue };
                let patch = |value: &Value| Call {
                    api: api.name.to_string(),
                    arguments: serde_json::Map::from_iter([
                        (api.parameters[key.index()].name.to_string(), identity.to_json(&world.zone)),
                        (api.parameters[parameter.index()].name.to_string(), value.to_json(&world.zone)),
                    ]),
                };
                let there = live.call(&patch(&other)).is_some_and(|entry| !entry.changes.is_empty());
                if there {
                    live.call(&patch(&old));
                    return true;
                }
            }
        }
    }
    false
}

fn key_parameter(api: &Api, resource: diorama_seeds::model::ResourceId) -> Option<ParameterId> {
    let index = api
        .parameters
        .iter()
        .position(|parameter| refers_to(&parameter.schema.kind) == Some(resource) && parameter.required)?;
    Some(ParameterId(index as u16))
}
