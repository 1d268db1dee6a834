//! Owns the calls of scripted policies beyond the reference calls.

use std::collections::BTreeSet;

use diorama_baselines::environment::{ConversationEntry, Environment, EnvironmentError, View};
use diorama_baselines::toolbox::{documents, retrieve};
use diorama_proof::survey::reads;
use diorama_seeds::model::{Api, BehaviourKind, Parameter, ParameterId, Record, ResourceId, Setter, World};
use diorama_seeds::schema::refers_to;
use diorama_seeds::task::Call;
use diorama_seeds::value::Value;
use serde_json::{Map, Value as Json};

/// Maximum number of words of the request for which a policy searches.
const MAX_SEARCHES: usize = 40;
/// Maximum number of values for a read with one required parameter.
const MAX_ARGUMENTS: usize = 25;
/// Maximum number of records of a resource for which a patch is tried.
const MAX_PATCHED: usize = 6;
/// Calls every read with arguments from the request and the replies.
pub(super) async fn read_everything(
    world: &World,
    environment: &mut dyn Environment,
) -> Result<(), EnvironmentError> {
    let request: String = environment.view().user_turns().collect::<Vec<_>>().join(" ");
    for word in request.split_whitespace().take(MAX_SEARCHES) {
        retrieve(environment, word).await?;
    }
    let readers: Vec<&Api> = visible(world, environment.view()).filter(|api| reads(api)).collect();
    // Lists come first, because their replies hold the keys and names for the other reads.
    for api in &readers {
        if api.parameters.iter().all(|parameter| !parameter.required) {
            environment.call(&Call { api: api.name.to_string(), arguments: Map::new() }).await?;
        }
    }
    for api in &readers {
        for arguments in arguments_from_replies(world, api, environment.view(), &request) {
            environment.call(&Call { api: api.name.to_string(), arguments }).await?;
        }
    }
    Ok(())
}

/// Returns the visible APIs of the world.
fn visible<'a>(world: &'a World, view: &View) -> impl Iterator<Item = &'a Api> {
    let names: BTreeSet<String> = documents(view).into_iter().map(|document| document.name).collect();
    world.apis.iter().filter(move |api| names.contains(&*api.name))
}

/// Returns arguments for a read with one required parameter, from the replies so far and the words of the
/// request.
fn arguments_from_replies(world: &World, api: &Api, view: &View, request: &str) -> Vec<Map<String, Json>> {
    let required: Vec<&Parameter> = api.parameters.iter().filter(|parameter| parameter.required).collect();
    let [parameter] = required.as_slice() else { return Vec::new() };
    let values = values_of(world, parameter);
    let mut found: Vec<&Value> = Vec::new();
    let mut shown: Vec<&Json> = Vec::new();
    for said in &view.conversation {
        if let ConversationEntry::Call(_, reply) = said {
            leaves(&reply.body, &mut shown);
        }
    }
    for value in &values {
        let json = value.to_json(&world.zone);
        if value.as_str().is_some_and(|text| request.contains(text)) {
            found.insert(0, value);
        } else if shown.contains(&&json) {
            found.push(value);
        }
    }
    let argument = |value: &Value| Map::from_iter([(parameter.name.to_string(), value.to_json(&world.zone))]);
    found.into_iter().take(MAX_ARGUMENTS).map(argument).collect()
}

/// Returns the values of a parameter in the records.
fn values_of(world: &World, parameter: &Parameter) -> Vec<Value> {
    let target = refers_to(&parameter.schema.kind).map(|resource| (resource, world.resource(resource).key));
    let Some((resource, field)) = target.or(parameter.field) else { return Vec::new() };
    let records = &world.resource(resource).records;
    records.iter().filter_map(|record| record.get(field.index()).cloned()).collect()
}

/// Makes a change outside the task and reverses it with two patches. Returns false if no API allows it.
/// The policy reads the records directly, because an adversary may know more than any agent.
pub(super) async fn write_and_undo(
    world: &World,
    environment: &mut dyn Environment,
) -> Result<bool, EnvironmentError> {
    let apis: Vec<&Api> = visible(world, environment.view()).collect();
    for api in apis {
        for (there, back) in patches(world, api) {
            let changed = environment.call(&there).await?.status < 300;
            if changed && environment.call(&back).await?.status < 300 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns pairs of patches of an API: one that changes a record, and one that restores it.
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
        for record in described.records.iter().take(MAX_PATCHED) {
            let value =
                |record: &Record| record.get(field.index()).filter(|value| !value.is_missing()).cloned();
            let Some(identity) = record.get(described.key.index()) else { continue };
            let Some(old) = value(record) else { continue };
            let Some(other) = described.records.iter().filter_map(value).find(|other| *other != old) else {
                continue;
            };
            let patch = |value: &Value| Call {
                api: api.name.to_string(),
                arguments: Map::from_iter([
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

/// Appends the leaves of a reply, in order.
fn leaves<'a>(body: &'a Json, out: &mut Vec<&'a Json>) {
    match body {
        Json::Array(items) => items.iter().for_each(|item| leaves(item, out)),
        Json::Object(members) => members.values().for_each(|member| leaves(member, out)),
        leaf => out.push(leaf),
    }
}

/// Returns every value of the replies with its path, one per line.
pub(super) fn every_value(view: &View) -> String {
    let mut words = String::new();
    for said in &view.conversation {
        if let ConversationEntry::Call(_, reply) = said {
            list_values(&reply.body, "", &mut words);
        }
    }
    words
}

/// Appends every value of a reply with its path, one per line.
fn list_values(body: &Json, path: &str, out: &mut String) {
    match body {
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| list_values(item, &format!("{path}[{at}]"), out));
        }
        Json::Object(members) => {
            members.iter().for_each(|(name, member)| list_values(member, &format!("{path}.{name}"), out));
        }
        Json::String(text) => out.push_str(&format!("{path}: {text}\n")),
        leaf => out.push_str(&format!("{path}: {leaf}\n")),
    }
}
