//! Adversaries: agents that must not succeed. They test the checks of a dataset.

use std::collections::BTreeSet;

use diorama_proof::survey::{reads, refers_to};
use diorama_seeds::model::{Api, BehaviourKind, Parameter, ParameterId, ResourceId, Setter, World};
use diorama_seeds::task::{Call, Outcome, RefusalClass};
use diorama_seeds::value::Value;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use serde_json::{Map, Value as Json};

use super::environment::{Environment, EnvironmentError, Finish, Reply, Said, Soon};
use super::judge::Insider;
use super::{Agent, Insiders, oracle};

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
/// Stages that an adversary ends, at most: no conversation has more.
const STAGES: usize = 32;

macro_rules! insiders {
    ($($kind:ident => $name:literal;)*) => {
        $(impl Insiders for $kind {
            fn name(&self) -> &'static str {
                $name
            }

            fn agent<'a>(&'a self, insider: Insider<'a>) -> Box<dyn Agent + 'a> {
                Box::new(Adversary::<$kind> { kind: std::marker::PhantomData, insider })
            }
        })*
    };
}

insiders! {
    NoOp => "noop";
    AlwaysRefuse => "always-refuse";
    AlwaysAsk => "always-ask";
    DumpAll => "dump-all";
    WriteUndo => "write-undo";
    Repeat => "repeat";
}

/// An adversary with the task that it meets.
struct Adversary<'a, K> {
    kind: std::marker::PhantomData<K>,
    insider: Insider<'a>,
}

/// Ends every stage in the same way.
async fn end_all(
    environment: &mut dyn Environment,
    outcome: Outcome,
    reason: Option<RefusalClass>,
    mut words: impl FnMut(&dyn Environment) -> String + Send,
) -> Result<(), EnvironmentError> {
    for _ in 0..STAGES {
        let message = words(environment);
        if environment
            .finish(&Finish { outcome, reason, about: None, facts: Map::new(), message })
            .await?
            .over
        {
            break;
        }
    }
    Ok(())
}

impl Agent for Adversary<'_, NoOp> {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(end_all(environment, Outcome::Done, None, |_| String::new()))
    }
}

impl Agent for Adversary<'_, AlwaysRefuse> {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        let words = |_: &dyn Environment| "I'm sorry, but I can't help with that.".to_owned();
        Box::pin(end_all(environment, Outcome::Refused, Some(RefusalClass::NotFound), words))
    }
}

impl Agent for Adversary<'_, AlwaysAsk> {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            let question = "Could you give me more details, please?";
            for _ in 0..QUESTIONS {
                environment.say(question).await?;
            }
            let message = question.to_owned();
            let outcome = Outcome::NeedInput;
            let end = Finish { outcome, reason: None, about: None, facts: Map::new(), message };
            environment.finish(&end).await.map(|_| ())
        })
    }
}

impl Agent for Adversary<'_, Repeat> {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        let words =
            |environment: &dyn Environment| environment.view().user_turns().collect::<Vec<_>>().join(" ");
        Box::pin(end_all(environment, Outcome::Done, None, words))
    }
}

impl Agent for Adversary<'_, DumpAll> {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            read_everything(self.insider.world.base.world(), environment).await?;
            end_all(environment, Outcome::Done, None, |environment| {
                let mut words = String::new();
                for said in &environment.view().conversation {
                    if let Said::Call(_, reply) = said {
                        dump(&reply.body, "", &mut words);
                    }
                }
                words
            })
            .await
        })
    }
}

impl Agent for Adversary<'_, WriteUndo> {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            // Where nothing can be changed and changed back, the rest would be the reference solution.
            if write_and_undo(self.insider.world.base.world(), environment).await? {
                oracle::solve(self.insider, environment, None).await?;
            }
            Ok(())
        })
    }
}

/// Every value of a reply, with its place.
fn dump(body: &Json, place: &str, out: &mut String) {
    match body {
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| dump(item, &format!("{place}[{at}]"), out))
        }
        Json::Object(members) => {
            members.iter().for_each(|(name, member)| dump(member, &format!("{place}.{name}"), out));
        }
        Json::String(text) => out.push_str(&format!("{place}: {text}\n")),
        other => out.push_str(&format!("{place}: {other}\n")),
    }
}

/// Calls every read with the arguments that the request and the replies give.
async fn read_everything(world: &World, environment: &mut dyn Environment) -> Result<(), EnvironmentError> {
    let request: String = environment.view().user_turns().collect::<Vec<_>>().join(" ");
    let searches = environment.view().tools.iter().any(|tool| name_of(tool) == Some(TOOL_SEARCHER));
    if searches {
        for word in request.split_whitespace().take(40) {
            let arguments = [("keywords".to_owned(), Json::from(word))].into_iter().collect();
            environment.call(&Call { api: TOOL_SEARCHER.to_owned(), arguments }).await?;
        }
    }
    let names: BTreeSet<String> =
        environment.view().tools.iter().filter_map(name_of).map(str::to_owned).collect();
    let readers: Vec<&Api> =
        world.apis.iter().filter(|api| names.contains(&*api.name) && reads(api)).collect();
    // Lists first: their replies hold the keys and names that the other reads take.
    for api in &readers {
        if api.parameters.iter().all(|parameter| !parameter.required) {
            let call = Call { api: api.name.to_string(), arguments: serde_json::Map::new() };
            environment.call(&call).await?;
        }
    }
    for api in &readers {
        for arguments in arguments_from_replies(world, api, environment, &request) {
            environment.call(&Call { api: api.name.to_string(), arguments }).await?;
        }
    }
    Ok(())
}

fn name_of(tool: &Json) -> Option<&str> {
    tool.get("function")?.get("name")?.as_str()
}

/// Arguments for a read with one required parameter, from the replies so far and the request's words.
fn arguments_from_replies(
    world: &World,
    api: &Api,
    environment: &dyn Environment,
    request: &str,
) -> Vec<serde_json::Map<String, Json>> {
    let required: Vec<&Parameter> = api.parameters.iter().filter(|parameter| parameter.required).collect();
    let [parameter] = required.as_slice() else { return Vec::new() };
    let values = values_of(world, parameter);
    let mut found: Vec<&Value> = Vec::new();
    let shown: Vec<&Json> = environment
        .view()
        .conversation
        .iter()
        .filter_map(|said| match said {
            Said::Call(_, Reply { body, .. }) => Some(body),
            _ => None,
        })
        .collect();
    for value in &values {
        let json = value.to_json(&world.zone);
        let named = value.as_str().is_some_and(|text| request.contains(text));
        if named {
            found.insert(0, value);
        } else if shown.iter().any(|body| holds(body, &json)) {
            found.push(value);
        }
    }
    let argument = |value: &Value| {
        serde_json::Map::from_iter([(parameter.name.to_string(), value.to_json(&world.zone))])
    };
    found.into_iter().take(25).map(argument).collect()
}

fn holds(body: &Json, wanted: &Json) -> bool {
    match body {
        Json::Array(items) => items.iter().any(|item| holds(item, wanted)),
        Json::Object(members) => members.values().any(|member| holds(member, wanted)),
        leaf => leaf == wanted,
    }
}

/// The values that records have for a parameter.
fn values_of(world: &World, parameter: &Parameter) -> Vec<Value> {
    let target = refers_to(&parameter.schema.kind).map(|resource| (resource, world.resource(resource).key));
    let Some((resource, field)) = target.or(parameter.field) else { return Vec::new() };
    let records = &world.resource(resource).records;
    records.iter().filter_map(|record| record.get(field.index()).cloned()).collect()
}

/// Makes a change outside the task and takes it back, by a patch there and back. An adversary may be better than any
/// agent: it knows the records.
async fn write_and_undo(world: &World, environment: &mut dyn Environment) -> Result<bool, EnvironmentError> {
    let names: BTreeSet<String> =
        environment.view().tools.iter().filter_map(name_of).map(str::to_owned).collect();
    for api in world.apis.iter().filter(|api| names.contains(&*api.name)) {
        for (there, back) in patches(world, api) {
            let changed = environment.call(&there).await?.status < 300;
            if changed && environment.call(&back).await?.status < 300 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Patches of an API that change a record and put it back, a few.
fn patches(world: &World, api: &Api) -> Vec<(Call, Call)> {
    let BehaviourKind::Patch { resource, set, .. } = &api.behaviour.kind else { return Vec::new() };
    let Some(key) = key_parameter(api, *resource) else { return Vec::new() };
    let others = api
        .parameters
        .iter()
        .enumerate()
        .any(|(index, parameter)| parameter.required && ParameterId(index as u16) != key);
    if others {
        return Vec::new();
    }
    let described = world.resource(*resource);
    let mut found = Vec::new();
    for (field, setter) in set {
        let Setter::Argument(parameter) = setter else { continue };
        for record in described.records.iter().take(6) {
            let value = |record: &diorama_seeds::model::Record| {
                record.get(field.index()).filter(|value| !value.is_missing()).cloned()
            };
            let Some(identity) = record.get(described.key.index()) else { continue };
            let Some(old) = value(record) else { continue };
            let Some(other) = described.records.iter().filter_map(value).find(|other| *other != old) else {
                continue;
            };
            let patch = |value: &Value| Call {
                api: api.name.to_string(),
                arguments: serde_json::Map::from_iter([
                    (api.parameters[key.index()].name.to_string(), identity.to_json(&world.zone)),
                    (api.parameters[parameter.index()].name.to_string(), value.to_json(&world.zone)),
                ]),
            };
            found.push((patch(&other), patch(&old)));
        }
    }
    found
}

fn key_parameter(api: &Api, resource: ResourceId) -> Option<ParameterId> {
    let index = api
        .parameters
        .iter()
        .position(|parameter| refers_to(&parameter.schema.kind) == Some(resource) && parameter.required)?;
    Some(ParameterId(index as u16))
}
