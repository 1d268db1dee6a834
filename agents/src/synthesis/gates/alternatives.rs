//! Alternatives pass: other right ways to do the same are accepted.
//!
//! Commuting calls reordered, another look-up route to the same key, redundant reads, defaults left out or written
//! out, other spellings of a value, each answer fact in several renderings.

use diorama_seeds::model::{ApiId, BehaviourKind, ParameterId};
use diorama_seeds::task::{ArgumentSource, Call, GoldCall};
use diorama_seeds::value::Value;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_simulator::session::{Session, SessionOptions};
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value as Json;

use crate::synthesis::binding::{bind, say_answer};
use crate::synthesis::checks::change_checks;
use crate::synthesis::plan::key_path;
use crate::synthesis::tester::{GateReport, Run, Trial};

/// Runs the gate.
///
/// # Errors
/// Which right way does not pass.
pub fn run(trial: &Trial<'_>, report: &mut GateReport, rng: &mut ChaCha8Rng) -> Result<(), &'static str> {
    renderings(trial, report)?;
    other_seed(trial, report)?;
    redundant_read(trial, report, rng)?;
    spellings(trial, report)?;
    defaults(trial, report)?;
    reordered(trial, report)?;
    other_route(trial, report)
}

fn accept(
    trial: &Trial<'_>,
    report: &mut GateReport,
    kind: &str,
    run: &Run,
    reason: &'static str,
) -> Result<(), &'static str> {
    if !trial.passes(run, &trial.answer(run), Some(trial.draft.outcome)) {
        return Err(reason);
    }
    *report.alternatives.entry(kind.to_owned()).or_default() += 1;
    Ok(())
}

/// The reference calls, changed one by one on their way.
fn rerun(trial: &Trial<'_>, mut change: impl FnMut(usize, &mut Call)) -> Option<Run> {
    let world = trial.world.base.world();
    let mut run = trial.start();
    for (index, gold) in trial.solution.gold.iter().enumerate() {
        let mut call = bind(gold, &run.replies, world)?;
        change(index, &mut call);
        trial.call(&mut run, &call);
    }
    Some(run)
}

/// Each fact of the answer in the other forms that it has.
fn renderings(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), &'static str> {
    if trial.solution.asked.is_empty() {
        return Ok(());
    }
    let run = rerun(trial, |_, _| {}).ok_or("the reference solution cannot be bound again")?;
    let mut told = vec![trial.solution.answer.clone()];
    for restyle in 1..6 {
        let world = trial.world.base.world();
        let Some(answer) = say_answer(&trial.solution.answer_parts, &run.replies, world, restyle) else {
            continue;
        };
        if told.contains(&answer) {
            continue;
        }
        told.push(answer.clone());
        for text in [
            answer.clone(),
            format!("Sure! {answer} Is there anything else I can do for you?"),
            format!("**Result**\n\n{answer}"),
        ] {
            if !trial.passes(&run, &text, None) {
                return Err("another rendering of the answer fails");
            }
            *report.alternatives.entry("rendering".to_owned()).or_default() += 1;
        }
    }
    Ok(())
}

/// The same calls in a session of another seed, where new keys and tokens differ.
fn other_seed(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), &'static str> {
    let world = trial.world.base.world();
    let options = SessionOptions {
        seed: !trial.solution.session_seed,
        visible: Some(trial.solution.visible.clone()),
        ..SessionOptions::default()
    };
    let mut run = Run { session: Session::new(trial.world.base.clone(), options), replies: Vec::new() };
    for gold in &trial.solution.gold {
        let call = bind(gold, &run.replies, world)
            .ok_or("the reference solution cannot be bound on another seed")?;
        trial.call(&mut run, &call);
    }
    accept(trial, report, "other_seed", &run, "the reference solution fails on another seed")
}

/// A read that changes nothing, before everything else.
fn redundant_read(
    trial: &Trial<'_>,
    report: &mut GateReport,
    rng: &mut ChaCha8Rng,
) -> Result<(), &'static str> {
    let world = trial.world.base.world();
    let simple: Vec<ApiId> = trial
        .solution
        .visible
        .iter()
        .copied()
        .filter(|id| {
            let api = world.api(*id);
            matches!(api.behaviour.kind, BehaviourKind::List(_))
                && api.parameters.iter().all(|parameter| !parameter.required)
        })
        .collect();
    let call = match simple.choose(rng) {
        Some(api) => Call { api: world.api(*api).name.to_string(), arguments: serde_json::Map::new() },
        None => Call {
            api: TOOL_SEARCHER.to_owned(),
            arguments: [("keywords".to_owned(), Json::from("list"))].into_iter().collect(),
        },
    };
    let mut run = trial.start();
    trial.call_aside(&mut run, &call);
    for gold in &trial.solution.gold {
        let call = bind(gold, &run.replies, world).ok_or("the reference solution cannot be bound again")?;
        trial.call(&mut run, &call);
        // Every call twice would be a second write; reads may be repeated.
        let reads = world.api_named(&gold.api).is_some_and(|id| {
            !world.api(id).writes()
                && !matches!(
                    world.api(id).behaviour.kind,
                    BehaviourKind::SignIn { .. } | BehaviourKind::SignOut
                )
        });
        if reads {
            trial.call_aside(&mut run, &call);
        }
    }
    accept(trial, report, "redundant_read", &run, "a redundant read fails")
}

/// `9:00` for `09:00`, `"3"` for `3`, a local date-time for one with an offset, another case of a looked-up name.
fn spellings(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), &'static str> {
    let world = trial.world.base.world();
    let mut respelt = 0;
    let run = rerun(trial, |_, call| {
        let Some(id) = world.api_named(&call.api) else { return };
        let api = world.api(id);
        for (name, json) in call.arguments.iter_mut() {
            let Some(parameter) = api.parameter_named(name).map(|id| &api.parameters[id.index()]) else { continue };
            let Ok(value) = parameter.schema.parse_json(json, &world.zone) else { continue };
            let looked_up = matches!(&api.behaviour.kind, BehaviourKind::Lookup { by, .. } if by.iter().any(|(_, by)| api.parameters[by.index()].name == parameter.name));
            let spelt = match &value {
                Value::Time(time) => Json::from(time.to_string().trim_start_matches('0').to_owned()),
                Value::DateTime(instant) => {
                    let (date, time) = (world.zone.date_of(*instant), world.zone.time_of(*instant));
                    // An hour that occurs twice has no local spelling.
                    if world.zone.instant(date, time) != *instant {
                        continue;
                    }
                    Json::from(format!("{date} {time}"))
                }
                Value::Integer(_) | Value::Decimal(_) | Value::Number(_) => Json::from(value.to_text(&world.zone)),
                Value::String(text) if looked_up => Json::from(text.to_lowercase()),
                _ => continue,
            };
            if spelt != *json && parameter.schema.parse_json(&spelt, &world.zone).is_ok() {
                *json = spelt;
                respelt += 1;
            }
        }
    })
    .ok_or("the reference solution cannot be bound again")?;
    if respelt == 0 {
        return Ok(());
    }
    accept(trial, report, "spelling", &run, "another spelling of a value fails")
}

/// Defaults written out where they were left out.
fn defaults(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), &'static str> {
    let world = trial.world.base.world();
    let mut written = 0;
    let run = rerun(trial, |_, call| {
        let Some(id) = world.api_named(&call.api) else { return };
        for parameter in &world.api(id).parameters {
            if let (Some(default), false) =
                (&parameter.default, call.arguments.contains_key(&*parameter.name))
            {
                call.arguments.insert(parameter.name.to_string(), default.to_json(&world.zone));
                written += 1;
            }
        }
    })
    .ok_or("the reference solution cannot be bound again")?;
    if written == 0 {
        return Ok(());
    }
    accept(trial, report, "default", &run, "a written-out default fails")
}

/// Neighbouring calls that do not need each other, the other way round, where that leads to the same state.
fn reordered(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), &'static str> {
    let gold = &trial.solution.gold;
    let world = trial.world.base.world();
    for at in 1..gold.len() {
        if needs(&gold[at], at - 1) || gold[at].api == TOOL_SEARCHER || gold[at - 1].api == TOOL_SEARCHER {
            continue;
        }
        let mut run = trial.start();
        run.replies = vec![None; gold.len()];
        let order = (0..at - 1).chain([at, at - 1]).chain(at + 1..gold.len());
        let mut bound = true;
        for index in order {
            let Some(call) = bind(&gold[index], &run.replies, world) else {
                bound = false;
                break;
            };
            let entry = trial.call_aside(&mut run, &call);
            run.replies[index] = Some(entry);
        }
        let commutes = bound
            && same_changes(&change_checks(world, &run.session.diff()), &trial.expected_checks)
            && run.replies.iter().zip(&trial.solution.entries).all(|(ours, theirs)| {
                ours.as_ref().is_some_and(|ours| ours.reply.status == theirs.reply.status)
            });
        if commutes {
            accept(trial, report, "reordered", &run, "another order of commuting calls fails")?;
        }
    }
    Ok(())
}

/// Equal but for the numbers of new keys, which follow the order of creation.
fn same_changes(
    ours: &[diorama_seeds::task::ChangeCheck],
    theirs: &[diorama_seeds::task::ChangeCheck],
) -> bool {
    let kinds = |checks: &[diorama_seeds::task::ChangeCheck]| {
        let mut kinds: Vec<String> = checks
            .iter()
            .map(|check| format!("{} {:?} {:?}", check.resource, check.kind, check.fields))
            .collect();
        kinds.sort_unstable();
        kinds
    };
    kinds(ours) == kinds(theirs)
}

fn needs(gold: &GoldCall, call: usize) -> bool {
    gold.sources.values().any(|source| match source {
        ArgumentSource::Reply { call: of, .. } => *of as usize == call,
        ArgumentSource::Replies { places } => places.iter().any(|(of, _)| *of as usize == call),
        _ => false,
    })
}

/// Another API that gives a looked-up key from the same name.
fn other_route(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), &'static str> {
    let world = trial.world.base.world();
    for (at, gold) in trial.solution.gold.iter().enumerate() {
        let Some(id) = world.api_named(&gold.api) else { continue };
        let resource = match &world.api(id).behaviour.kind {
            BehaviourKind::Lookup { resource, .. } => *resource,
            BehaviourKind::List(query) => query.resource,
            _ => continue,
        };
        let Some((name, key)) = looked_up(trial, at, resource) else { continue };
        for finder in &trial.world.family.survey.finders[resource.index()] {
            let api = world.api(finder.api);
            let callable = trial.solution.visible.contains(&finder.api)
                && finder.api != id
                && api.parameters.iter().enumerate().all(|(index, parameter)| {
                    !parameter.required || finder.by == Some(ParameterId(index as u16))
                });
            if !callable {
                continue;
            }
            let mut arguments = serde_json::Map::new();
            if let Some(by) = finder.by {
                arguments.insert(api.parameters[by.index()].name.to_string(), Json::from(name.clone()));
            }
            let mut run = trial.start();
            let mut found = true;
            for (index, gold) in trial.solution.gold.iter().enumerate() {
                if index == at {
                    let entry = trial.call_aside(
                        &mut run,
                        &Call { api: api.name.to_string(), arguments: arguments.clone() },
                    );
                    found = key_path(trial.world, &entry, resource, &key).is_some();
                    // What follows takes the key itself; the recorded arguments hold it.
                    run.replies.push(Some(trial.solution.entries[at].clone()));
                    continue;
                }
                let Some(call) = bind(gold, &run.replies, world) else {
                    found = false;
                    break;
                };
                trial.call(&mut run, &call);
            }
            if found && trial.solution.asked.iter().all(|asked| !about(asked, at)) {
                accept(trial, report, "other_route", &run, "another way to the same key fails")?;
            }
        }
    }
    Ok(())
}

fn about(asked: &crate::synthesis::draft::Asked, call: usize) -> bool {
    use crate::synthesis::draft::Asked;
    match asked {
        Asked::Leaf { step, .. } | Asked::Each { step, .. } | Asked::Count { step, .. } => *step == call,
    }
}

/// The name given to a look-up, and the key that later calls take from its reply.
fn looked_up(
    trial: &Trial<'_>,
    at: usize,
    resource: diorama_seeds::model::ResourceId,
) -> Option<(String, Value)> {
    let world = trial.world.base.world();
    let path = trial.solution.gold.iter().find_map(|gold| {
        gold.sources.values().find_map(|source| match source {
            ArgumentSource::Reply { call, path } if *call as usize == at => Some(path.clone()),
            _ => None,
        })
    })?;
    let entry = &trial.solution.entries[at];
    let key = entry.reply.body.at(&path)?.value()?.clone();
    let described = world.resource(resource);
    let record = described.records.iter().find(|record| record.get(described.key.index()) == Some(&key))?;
    let name = record.get(described.display?.index())?.as_str()?.to_owned();
    Some((name, key))
}
