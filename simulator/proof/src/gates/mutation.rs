//! Runs the gate `mutation`: single mutants of the reference trace must not pass.
//!
//! A mutant drops a call, changes an argument, calls another API, or adds a write. Engine facts decide if it
//! counts: a run with the same final state and all evidence is equivalent.

mod consent;
mod policy;

use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_engine::Digest;
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::model::{Api, ApiId, Parameter, ParameterId, World};
use diorama_seeds::schema::{Type, refers_to};
use diorama_seeds::task::{ArgumentSource, Call, GoldCall};
use diorama_seeds::value::{Date, Decimal, Instant, Time, Value};
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde_json::Value as Json;

use super::report::GateReport;
use super::texts::contradictions;
use super::trial::{Run, Trial};
use crate::binding::bind;
use crate::reason::{Code, Mutation, Reason};

/// The greatest number of added writes among the mutants of a task.
const STRAY_WRITES: usize = 3;

/// Runs the gate.
///
/// # Errors
/// Returns a mutant that passes, or a call without a mutant that counts.
pub(super) fn run(trial: &Trial<'_>, report: &mut GateReport, rng: &mut ChaCha8Rng) -> Result<(), Reason> {
    let world = trial.world();
    let gold = &trial.grounded.gold;
    // Mutants at one call share the calls before it.
    let mut before = trial.start();
    for (index, call) in gold.iter().enumerate() {
        if trial.is_stopped() {
            return Ok(());
        }
        if call.mistake {
            // A mistake changes and shows nothing, and is no part of the solution.
            let call = bind_what_is_there(call, &before.replies, world);
            trial.call(&mut before, &call);
            continue;
        }
        // A call proves nothing if it may be left out or changed without a difference.
        let mut counted = false;
        for (kind, put) in list_mutants(trial, call) {
            if trial.is_stopped() {
                return Ok(());
            }
            let run = replay(trial, &before, index, &put);
            counted |= judge(trial, report, index, kind, &run)? && kind != Mutation::OtherApi;
        }
        if !counted
            && !call.care
            && !is_search(call)
            && !is_told_without(trial, index)
            && !is_attempt(trial, index)
        {
            return Err(Reason::of_call(Code::NoMutantFails, index).with("api", &*call.api));
        }
        let call = bind_what_is_there(call, &before.replies, world);
        trial.call(&mut before, &call);
    }
    policy::run(trial, report)?;
    consent::run(trial, report)?;
    for (goal, run) in late_writes(trial, &before) {
        judge(trial, report, goal, Mutation::Late, &run)?;
    }
    let writes = if gold.is_empty() { usize::MAX } else { 1 };
    for run in stray_writes(trial, &before, writes, rng) {
        judge(trial, report, gold.len(), Mutation::AddWrite, &run)?;
    }
    Ok(())
}

/// A change of the reference solution that leaves the task unsolved.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The kind of the change.
    pub kind: Mutation,
    /// The index among the reference calls; their number for a call after them.
    pub call: usize,
    /// The replacing call with its reply; none where the call is left out.
    pub entry: Option<Arc<LogEntry>>,
    /// The digest of the state at the end.
    pub state: Digest,
}

/// Finds the mutants that the gate rejects. Searches are not mutated.
pub(super) fn find_rejected(trial: &Trial<'_>, rng: &mut ChaCha8Rng) -> Vec<Mutant> {
    let world = trial.world();
    let gold = &trial.grounded.gold;
    let passes = |run: &Run| trial.passes(run, &trial.right_answers(run));
    let mut found = Vec::new();
    let mut before = trial.start();
    for (index, call) in gold.iter().enumerate() {
        let is_fixed = call.mistake || is_search(call);
        let mutants = if is_fixed { Vec::new() } else { list_mutants(trial, call) };
        for (kind, put) in mutants {
            let run = replay(trial, &before, index, &put);
            if !passes(&run) {
                let entry = run.replies.get(index).cloned().flatten();
                found.push(Mutant { kind, call: index, entry, state: run.session.digest() });
            }
        }
        let call = bind_what_is_there(call, &before.replies, world);
        trial.call(&mut before, &call);
    }
    for run in stray_writes(trial, &before, STRAY_WRITES, rng) {
        let entry = run.session.log().last();
        if !passes(&run) {
            let state = run.session.digest();
            found.push(Mutant { kind: Mutation::AddWrite, call: gold.len(), entry, state });
        }
    }
    found
}

/// Returns true if a call was refused and a later write of its goal succeeded. The refusal led to that write.
fn is_attempt(trial: &Trial<'_>, index: usize) -> bool {
    let works = |call: usize| trial.grounded.entries.get(call).is_some_and(|entry| entry.reply.is_success());
    let writes = |call: usize| {
        let entry = trial.grounded.entries.get(call);
        entry.and_then(|entry| entry.api).is_some_and(|api| trial.world().api(api).writes())
    };
    let goal = trial.grounded.goals.iter().find(|goal| goal.calls.contains(&index));
    goal.is_some_and(|goal| {
        !works(index) && (index + 1..goal.calls.end).any(|later| works(later) && writes(later))
    })
}

/// Returns true if the reads of a refused goal give the reason without this call.
/// Such a call cannot prove itself, nor can the calls that provide its arguments.
fn is_told_without(trial: &Trial<'_>, index: usize) -> bool {
    let goal = trial.grounded.goals.iter().find(|goal| goal.calls.contains(&index));
    let Some((goal, refusing)) = goal.and_then(|goal| Some((goal, goal.refused_by?))) else {
        return false;
    };
    // Collects the calls that provide its arguments, directly or through others.
    let mut feeding = vec![refusing];
    for call in (goal.calls.start..refusing).rev() {
        let feeds = |later: &usize| {
            let sources = trial.grounded.gold.get(*later).into_iter().flat_map(|gold| gold.sources.values());
            sources.into_iter().any(
                |source| matches!(source, ArgumentSource::Reply { call: from, .. } if *from as usize == call),
            )
        };
        if feeding.iter().any(feeds) {
            feeding.push(call);
        }
    }
    if !feeding.contains(&index) {
        return false;
    }
    let mut run = trial.start();
    for (other, gold) in trial.grounded.gold.iter().enumerate() {
        if other == index || other == refusing {
            trial.skip(&mut run);
        } else {
            let call = bind_what_is_there(gold, &run.replies, trial.world());
            trial.call(&mut run, &call);
        }
    }
    trial.tells_all(&run)
}

/// Delays the last write of each goal until the goal has ended; the last goal is skipped.
/// Returns each run with the position of the write.
fn late_writes(trial: &Trial<'_>, gold: &Run) -> Vec<(usize, Run)> {
    let Some((_, goals)) = trial.grounded.goals.split_last() else { return Vec::new() };
    let changes =
        |call: &usize| trial.grounded.entries.get(*call).is_some_and(|entry| !entry.changes.is_empty());
    let late = goals.iter().enumerate().filter_map(|(number, goal)| {
        let write = goal.calls.clone().rev().find(changes)?;
        let mut run = gold.clone();
        run.end_early(number, write);
        Some((write, run))
    });
    late.collect()
}

/// Returns true for a search for tools, which need not prove itself.
fn is_search(call: &GoldCall) -> bool {
    call.api == TOOL_SEARCHER
}

/// A mutation of a call.
enum CallMutation {
    Drop,
    Argument { name: String, value: Json },
    Api(ApiId),
}

/// Lists the mutants of a call: without it, with another value of each argument, and with the nearest other
/// API.
fn list_mutants(trial: &Trial<'_>, call: &GoldCall) -> Vec<(Mutation, CallMutation)> {
    let mut mutants = vec![(Mutation::DropCall, CallMutation::Drop)];
    for name in call.arguments.keys() {
        let put = |value| CallMutation::Argument { name: name.clone(), value };
        let values = other_values(trial, call, name).into_iter();
        mutants.extend(values.map(|value| (Mutation::ChangeArgument, put(value))));
    }
    let other = neighbour(trial.world(), call, &trial.grounded.visible);
    mutants.extend(other.map(|other| (Mutation::OtherApi, CallMutation::Api(other))));
    mutants
}

/// Replays the reference calls with a mutant at one of them.
/// Arguments from its reply are bound to the new reply, and left out where it lacks them.
fn replay(trial: &Trial<'_>, before: &Run, at: usize, mutant: &CallMutation) -> Run {
    let world = trial.world();
    let mut run = before.clone();
    for (index, gold) in trial.grounded.gold.iter().enumerate().skip(at) {
        let mut call = bind_what_is_there(gold, &run.replies, world);
        if index == at {
            match mutant {
                CallMutation::Drop => {
                    trial.skip(&mut run);
                    continue;
                }
                CallMutation::Argument { name, value } => {
                    call.arguments.insert(name.clone(), value.clone());
                }
                CallMutation::Api(other) => {
                    let api = world.api(*other);
                    call.api = api.name.to_string();
                    call.arguments.retain(|name, _| api.parameter_named(name).is_some());
                }
            }
        }
        trial.call(&mut run, &call);
    }
    run
}

fn bind_what_is_there(gold: &GoldCall, replies: &[Option<Arc<LogEntry>>], world: &World) -> Call {
    if let Some(call) = bind(gold, replies, world) {
        return call;
    }
    let mut arguments = gold.arguments.clone();
    for (name, source) in &gold.sources {
        let single = GoldCall {
            api: gold.api.clone(),
            source_api: None,
            arguments: serde_json::Map::new(),
            sources: BTreeMap::from([(name.clone(), source.clone())]),
            turn: gold.turn,
            mistake: gold.mistake,
            care: gold.care,
        };
        match bind(&single, replies, world) {
            Some(call) => arguments.extend(call.arguments),
            None => {
                arguments.remove(name);
            }
        }
    }
    Call { api: gold.api.clone(), arguments }
}

/// Judges a mutant. Returns true if it fails the checks; a non-equivalent mutant that passes is an error.
fn judge(
    trial: &Trial<'_>,
    report: &mut GateReport,
    call: usize,
    mutant: Mutation,
    run: &Run,
) -> Result<bool, Reason> {
    let tally = report.mutation.entry(mutant.name().to_owned()).or_default();
    // The right facts are given, so that only its calls can make it fail.
    if trial.passes(run, &trial.right_answers(run)) {
        if equivalent(trial, run) {
            tally.equivalent += 1;
            return Ok(false);
        }
        tally.survived += 1;
        return Err(Reason::of_call(Code::MutantPasses, call).with("mutant", mutant.name()));
    }
    tally.killed += 1;
    report.traps += u32::from(is_accepted(run, call, mutant));
    Ok(true)
}

/// Returns true if the API accepts the call that a mutant changes or adds.
fn is_accepted(run: &Run, call: usize, mutant: Mutation) -> bool {
    let entry = match mutant {
        Mutation::ChangeArgument | Mutation::OtherApi => run.replies.get(call).cloned().flatten(),
        Mutation::AddWrite => run.session.log().last(),
        _ => None,
    };
    entry.is_some_and(|entry| entry.api.is_some() && entry.reply.is_success())
}

/// Returns true if a run has the same final state, apart from new keys, and its replies show all evidence of
/// the goals.
fn equivalent(trial: &Trial<'_>, run: &Run) -> bool {
    trial.changes_of(run) == trial.grounded.checks.changes
        && !run.session.log().any(|entry| stray(trial, &entry))
        && trial.tells_all(run)
}

/// Returns true if a call changed a record that the reference solution never changes, even if a later call
/// undid it.
fn stray(trial: &Trial<'_>, entry: &LogEntry) -> bool {
    entry.changes.iter().any(|change| {
        change.before.is_some()
            && !trial
                .expected
                .iter()
                .any(|other| other.resource == change.resource && other.key == change.key)
    })
}

/// Returns other values for an argument; for a free text, texts with another content.
fn other_values(trial: &Trial<'_>, call: &GoldCall, name: &str) -> Vec<Json> {
    let api = trial.world().api_named(&call.api).map(|id| trial.world().api(id));
    let parameter = api.and_then(|api| Some(&api.parameters[api.parameter_named(name)?.index()]));
    match (parameter, call.arguments.get(name)) {
        (Some(parameter), Some(Json::String(text))) if parameter.free_text => {
            let said =
                trial.grounded.user_turns.get(..=call.turn as usize).unwrap_or(&trial.grounded.user_turns);
            contradictions(text, said).into_iter().map(Json::from).collect()
        }
        _ => another_value(trial, call, name).into_iter().collect(),
    }
}

/// Returns another value of an argument's type; for references and names, another record's.
fn another_value(trial: &Trial<'_>, call: &GoldCall, name: &str) -> Option<Json> {
    let world = trial.world();
    if call.api == TOOL_SEARCHER {
        return Some(Json::from("zzz"));
    }
    let api = world.api(world.api_named(&call.api)?);
    let id = api.parameter_named(name)?;
    if api.token == Some(id) {
        return Some(Json::from("not-a-token"));
    }
    let parameter = &api.parameters[id.index()];
    let value = parameter.schema.parse_json(call.arguments.get(name)?, &world.zone).ok()?;
    if matches!(call.sources.get(name), Some(ArgumentSource::Default)) {
        return None;
    }
    let other = match (&parameter.schema.kind, &value) {
        (Type::Reference { resource, .. }, _) => {
            let described = world.resource(*resource);
            described
                .records
                .iter()
                .filter_map(|record| record.get(described.key.index()))
                .find(|key| **key != value)?
                .clone()
        }
        (Type::List(item), Value::List(items)) => {
            if items.len() > 1 {
                Value::List(items.iter().skip(1).cloned().collect())
            } else {
                let resource = refers_to(&item.kind)?;
                let described = world.resource(resource);
                let key = described
                    .records
                    .iter()
                    .filter_map(|record| record.get(described.key.index()))
                    .find(|key| !items.contains(key))?;
                Value::List([key.clone()].into())
            }
        }
        (Type::Enum(values), Value::String(text)) => {
            Value::String(values.iter().find(|other| *other != text)?.clone())
        }
        (_, Value::Integer(number)) => Value::Integer(number.checked_add(1)?),
        (_, Value::Number(number)) => Value::number(number + 1.0)?,
        (_, Value::Decimal(decimal)) => Value::Decimal(Decimal {
            minor: decimal.minor.checked_add(10_i64.checked_pow(u32::from(decimal.scale))?)?,
            scale: decimal.scale,
        }),
        (_, Value::Date(date)) => Value::Date(Date(date.0.checked_add(1)?)),
        (_, Value::Time(time)) => Value::Time(Time((time.0 + 1800) % 86_400)),
        (_, Value::DateTime(instant)) => Value::DateTime(Instant(instant.0.checked_add(3600)?)),
        (_, Value::Bool(flag)) => Value::Bool(!flag),
        (_, Value::String(text)) => match parameter.field {
            Some((resource, field)) => world
                .resource(resource)
                .records
                .iter()
                .filter_map(|record| record.get(field.index()))
                .find(|other| other.as_str().is_some_and(|other| other != &**text))?
                .clone(),
            None => Value::string(&format!("{text} x")),
        },
        _ => return None,
    };
    Some(other.to_json(&world.zone))
}

/// Returns the visible API that shares most arguments: the likeliest wrong choice.
fn neighbour(world: &World, call: &GoldCall, visible: &[ApiId]) -> Option<ApiId> {
    let own = world.api_named(&call.api)?;
    let shared = |api: &Api| {
        api.parameters.iter().filter(|parameter| call.arguments.contains_key(&*parameter.name)).count()
    };
    let missing = |api: &Api| {
        api.parameters
            .iter()
            .enumerate()
            .filter(|(index, parameter)| {
                parameter.required
                    && !call.arguments.contains_key(&*parameter.name)
                    && api.token != Some(ParameterId(*index as u16))
            })
            .count()
    };
    let candidates = if visible.is_empty() { world.api_ids().collect() } else { visible.to_vec() };
    candidates
        .into_iter()
        .filter(|id| {
            *id != own && world.api(*id).domain == world.api(own).domain && missing(world.api(*id)) == 0
        })
        .max_by_key(|id| (shared(world.api(*id)), std::cmp::Reverse(*id)))
}

/// Adds a write that the user did not ask for to the reference solution, by up to `most` visible APIs.
fn stray_writes(trial: &Trial<'_>, gold: &Run, most: usize, rng: &mut ChaCha8Rng) -> Vec<Run> {
    let world = trial.world();
    let mut writers: Vec<ApiId> = gold.session.visible().filter(|id| world.api(*id).writes()).collect();
    writers.shuffle(rng);
    let tried = writers.into_iter().take(if most == 1 { 4 } else { most });
    let mut found = Vec::new();
    for id in tried {
        let api = world.api(id);
        let Some(call) = stray_call(world, gold, api, rng) else { continue };
        let mut run = gold.clone();
        if !run.session.call(&call).changes.is_empty() {
            found.push(run);
        }
        if found.len() >= most {
            break;
        }
    }
    found
}

/// Returns a call of an API with values of existing records.
fn stray_call(world: &World, gold: &Run, api: &Api, rng: &mut ChaCha8Rng) -> Option<Call> {
    let mut arguments = serde_json::Map::new();
    for (index, parameter) in api.parameters.iter().enumerate() {
        if api.token == Some(ParameterId(index as u16)) {
            arguments.insert(parameter.name.to_string(), token_of(world, gold, api)?);
        } else if parameter.required || !api.parameters.iter().any(|other| other.required) {
            let value = some_value(world, parameter, rng)?;
            arguments.insert(parameter.name.to_string(), value.to_json(&world.zone));
        }
    }
    Some(Call { api: api.name.to_string(), arguments })
}

fn some_value(world: &World, parameter: &Parameter, rng: &mut ChaCha8Rng) -> Option<Value> {
    let empty = Call { api: String::new(), arguments: serde_json::Map::new() };
    let values = super::nontrivial::others(parameter, &empty, world);
    let fits = |value: &&Value| parameter.schema.parse_json(&value.to_json(&world.zone), &world.zone).is_ok();
    let usable: Vec<&Value> = values.iter().filter(fits).collect();
    match usable.choose(rng) {
        Some(value) => Some((*value).clone()),
        None => match &parameter.schema.kind {
            Type::Integer | Type::Number | Type::Decimal { .. } => {
                let least = parameter.schema.limits.min.as_ref().and_then(Value::as_f64).unwrap_or(1.0);
                parameter.schema.parse_json(&Json::from(least.max(1.0)), &world.zone).ok()
            }
            Type::String => parameter.schema.parse_json(&Json::from("something else"), &world.zone).ok(),
            _ => None,
        },
    }
}

/// Returns the token with which the reference solution called an API of the same domain.
fn token_of(world: &World, gold: &Run, api: &Api) -> Option<Json> {
    gold.session.log().find_map(|entry| {
        let called = world.api(entry.api.filter(|called| world.api(*called).domain == api.domain)?);
        entry.call.arguments.get(&*called.parameters[called.token?.index()].name).cloned()
    })
}
