//! Damage fails: single faults put into the reference trace do not pass.
//!
//! A fault drops a call, changes an argument, calls another API, or adds a write. Whether it is one at all is decided
//! from engine facts: a run with the same final state that still reaches every piece of evidence is equivalent.

mod reach;

use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_seeds::model::{Api, ApiId, ParameterId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{ArgumentSource, Call, GoldCall};
use diorama_seeds::value::{Date, Decimal, Instant, Time, Value};
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_simulator::session::LogEntry;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value as Json;

use crate::synthesis::checks::change_checks;
use crate::synthesis::goal;
use crate::synthesis::plan::Planner;
use crate::synthesis::tester::{GateReport, Run, Trial};
use crate::synthesis::world::refers_to;

/// Runs the gate.
///
/// # Errors
/// That a fault passes, or that a call has no fault that counts.
pub fn run(trial: &Trial<'_>, report: &mut GateReport, rng: &mut ChaCha8Rng) -> Result<(), &'static str> {
    let world = trial.world.base.world();
    let gold = &trial.solution.gold;
    // Faults at a call share what comes before it.
    let mut before = trial.start();
    for (index, call) in gold.iter().enumerate() {
        let replay = |trial: &Trial<'_>, index: usize, fault: &Fault| replay(trial, &before, index, fault);
        let mut counted = judge(trial, report, "drop_call", replay(trial, index, &Fault::Drop))?;
        let names: Vec<&String> = call.arguments.keys().collect();
        for name in names {
            if let Some(value) = another_value(trial, call, name) {
                let fault = Fault::Argument { name: name.clone(), value };
                counted |= judge(trial, report, "change_argument", replay(trial, index, &fault))?;
            }
        }
        if let Some(other) = neighbour(world, call, &trial.solution.visible) {
            counted |= judge(trial, report, "other_api", replay(trial, index, &Fault::Api(other)))?;
        }
        if !counted {
            return Err("unprovable: a call without a fault that counts");
        }
        let call = bind_what_is_there(call, &before.replies, world);
        trial.call(&mut before, &call);
    }
    if let Some(run) = stray_write(trial, &before, rng) {
        judge(trial, report, "add_write", run)?;
    }
    Ok(())
}

/// A fault at one call.
enum Fault {
    Drop,
    Argument { name: String, value: Json },
    Api(ApiId),
}

/// Replays the reference calls with a fault at one of them; what depends on its reply is bound to what is there,
/// and left out where nothing is.
fn replay(trial: &Trial<'_>, before: &Run, at: usize, fault: &Fault) -> Run {
    let world = trial.world.base.world();
    let mut run = before.clone();
    for (index, gold) in trial.solution.gold.iter().enumerate().skip(at) {
        let mut call = bind_what_is_there(gold, &run.replies, world);
        if index == at {
            match fault {
                Fault::Drop => {
                    run.skip();
                    continue;
                }
                Fault::Argument { name, value } => {
                    call.arguments.insert(name.clone(), value.clone());
                }
                Fault::Api(other) => {
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
    if let Some(call) = crate::synthesis::binding::bind(gold, replies, world) {
        return call;
    }
    let mut arguments = gold.arguments.clone();
    for (name, source) in &gold.sources {
        let single = GoldCall {
            api: gold.api.clone(),
            arguments: serde_json::Map::new(),
            sources: BTreeMap::from([(name.clone(), source.clone())]),
            turn: gold.turn,
        };
        match crate::synthesis::binding::bind(&single, replies, world) {
            Some(call) => arguments.extend(call.arguments),
            None => {
                arguments.remove(name);
            }
        }
    }
    Call { api: gold.api.clone(), arguments }
}

/// Counts a fault: whether it counts (it is one, and fails the checks). A fault that passes ends the gate.
fn judge(trial: &Trial<'_>, report: &mut GateReport, kind: &str, run: Run) -> Result<bool, &'static str> {
    let tally = report.damage.entry(kind.to_owned()).or_default();
    if equivalent(trial, &run) {
        tally.equivalent += 1;
        return Ok(false);
    }
    // With the answer that the faulty run leads to, and with the right one as a lucky guess.
    let answer = trial.answer(&run);
    let passes = trial.passes(&run, &answer, Some(trial.draft.outcome))
        || (answer != trial.solution.answer
            && trial.passes(&run, &trial.solution.answer, Some(trial.draft.outcome)));
    if passes {
        tally.survived += 1;
        return Err("a fault passes");
    }
    tally.killed += 1;
    Ok(true)
}

/// Same final state, apart from the names of new keys, and all evidence reached.
fn equivalent(trial: &Trial<'_>, run: &Run) -> bool {
    let solution = trial.solution;
    let base = &trial.world.base;
    let world = base.world();
    let same_state = run.session.digest() == solution.last.digest() || {
        let ours = run.session.diff();
        ours.len() == trial.expected.len() && change_checks(world, &ours) == trial.expected_checks
    };
    if !same_state || run.session.log().any(|entry| stray(trial, &entry)) {
        return false;
    }
    let log: Vec<Arc<LogEntry>> = run.session.log().collect();
    let Some(variant) = solution.checks.variants.first() else { return false };
    variant.answer.iter().all(|check| reach::reached(&check.evidence, &log, base))
        && reach::reached(&variant.evidence, &log, base)
}

/// Whether a call changed something that the reference solution leaves alone, even if it was undone later.
fn stray(trial: &Trial<'_>, entry: &LogEntry) -> bool {
    entry.changes.iter().any(|change| {
        change.before.is_some()
            && !trial
                .expected
                .iter()
                .any(|other| other.resource == change.resource && other.key == change.key)
    })
}

/// Another value that fits an argument's type; for references and names, another record's.
fn another_value(trial: &Trial<'_>, call: &GoldCall, name: &str) -> Option<Json> {
    let base = &trial.world.base;
    let world = base.world();
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

/// Another visible API that takes most of the same arguments: the nearest wrong choice.
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
    let candidates = if visible.is_empty() {
        (0..world.apis.len()).map(|index| ApiId(index as u16)).collect()
    } else {
        visible.to_vec()
    };
    candidates
        .into_iter()
        .filter(|id| {
            *id != own && world.api(*id).domain == world.api(own).domain && missing(world.api(*id)) == 0
        })
        .max_by_key(|id| (shared(world.api(*id)), std::cmp::Reverse(*id)))
}

/// The reference solution and then a write that nobody asked for, by an API that may be called there.
fn stray_write(trial: &Trial<'_>, gold: &Run, rng: &mut ChaCha8Rng) -> Option<Run> {
    let world = trial.world.base.world();
    let writers: Vec<ApiId> = gold.session.visible().filter(|id| world.api(*id).writes()).collect();
    for _ in 0..4 {
        let id = *writers.choose(rng)?;
        let api = world.api(id);
        let mut planner = Planner::new(trial.world, rng, trial.solution.session_seed);
        planner.session = gold.session.fork();
        let values = goal::arguments(&mut planner, id).into_iter().map(|(parameter, value)| {
            (api.parameters[parameter.index()].name.to_string(), value.to_json(&world.zone))
        });
        let mut call = Call { api: api.name.to_string(), arguments: values.collect() };
        if let Some(parameter) = api.token {
            let Some(token) = token_of(world, gold, api) else { continue };
            call.arguments.insert(api.parameters[parameter.index()].name.to_string(), token);
        }
        let mut run = gold.clone();
        if !run.session.call(&call).changes.is_empty() {
            return Some(run);
        }
    }
    None
}

/// The token with which the reference solution called an API of the same domain.
fn token_of(world: &World, gold: &Run, api: &Api) -> Option<Json> {
    gold.session.log().find_map(|entry| {
        let called = world.api(entry.api.filter(|called| world.api(*called).domain == api.domain)?);
        entry.call.arguments.get(&*called.parameters[called.token?.index()].name).cloned()
    })
}
