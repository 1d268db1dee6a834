//! Runs the gate `alternatives`: other right solutions must pass.
//!
//! They reorder independent calls, use another look-up for a key, add redundant reads, write out defaults, or
//! spell values differently.

mod consents;

use diorama_engine::Origin;
use diorama_engine::session::LogEntry;
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::model::{ApiId, BehaviourKind, ParameterId, Place, ResourceId};
use diorama_seeds::task::{Call, ChangeCheck, GoldCall, Matcher, places};
use diorama_seeds::value::Value;
use diorama_user::confirm;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value as Json;

use super::report::GateReport;
use super::texts::paraphrase;
use super::trial::{Run, Trial};
use crate::binding::bind;
use crate::reason::{Code, Reason, Way};
use crate::survey::reads;

/// Runs the gate.
///
/// # Errors
/// Returns the right solution that does not pass.
pub(super) fn run(trial: &Trial<'_>, report: &mut GateReport, rng: &mut ChaCha8Rng) -> Result<(), Reason> {
    other_seed(trial, report)?;
    redundant_read(trial, report, rng)?;
    spellings(trial, report)?;
    paraphrased(trial, report)?;
    defaults(trial, report)?;
    reordered(trial, report)?;
    side_by_side(trial)?;
    consents::run(trial, report)?;
    other_route(trial, report)
}

fn fails(way: Way, message: &str) -> Reason {
    Reason::new(Code::RightWayFails).with("way", way.name()).with("message", message)
}

/// The message for arguments that the replies of a run do not have.
const UNBOUND: &str = "the reference calls cannot be bound to its replies";

fn accept(trial: &Trial<'_>, report: &mut GateReport, way: Way, run: &Run) -> Result<(), Reason> {
    for consent in &run.consents {
        let goal = trial.grounded.script.goals.get(consent.goal);
        let answer = goal.map(|goal| confirm(goal, &consent.calls, trial.world()));
        if let Some(denied) = answer.filter(|answer| !answer.agrees) {
            return Err(fails(
                way,
                &format!("asked for a yes to its calls, the user says `{}`", denied.words),
            ));
        }
    }
    let given = trial.answers_of_run(run);
    if !trial.passes(run, &given) {
        return Err(fails(way, &trial.describe_failure(run, &given)));
    }
    *report.alternatives.entry(way.name().to_owned()).or_default() += 1;
    Ok(())
}

/// Makes the same calls in a session of another seed, where new keys and tokens differ.
fn other_seed(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    // A user cannot say a key that another session generates.
    let zone = &trial.world().zone;
    let made_up =
        trial.expected.iter().filter(|change| change.before.is_none()).map(|change| change.key.to_text(zone));
    let told =
        |key: String| key.len() > 2 && trial.grounded.user_turns.iter().any(|turn| turn.contains(&key));
    let issued = trial.grounded.entries.iter().flat_map(|entry| entry.reply.body.leaves());
    let tokens = issued.filter(|(path, ..)| path.ends_with("token")).map(|(_, value, _)| value.to_text(zone));
    if made_up.chain(tokens).any(told) {
        return Err(fails(Way::OtherSeed, "the user names a key that only this session has made"));
    }
    for seed in trial.other_seeds() {
        let mut run = trial.start_on(seed);
        for gold in &trial.grounded.gold {
            let call =
                bind(gold, &run.replies, trial.world()).ok_or_else(|| fails(Way::OtherSeed, UNBOUND))?;
            trial.call(&mut run, &call);
        }
        accept(trial, report, Way::OtherSeed, &run)?;
    }
    Ok(())
}

/// Makes a read before everything else.
fn redundant_read(trial: &Trial<'_>, report: &mut GateReport, rng: &mut ChaCha8Rng) -> Result<(), Reason> {
    let world = trial.world();
    let simple: Vec<ApiId> = trial
        .grounded
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
    for gold in &trial.grounded.gold {
        let call = bind(gold, &run.replies, world).ok_or_else(|| fails(Way::RedundantRead, UNBOUND))?;
        trial.call(&mut run, &call);
        // Writes are not repeated, because a second one would change the state again.
        let is_read = world.api_named(&gold.api).is_some_and(|id| reads(world.api(id)));
        if is_read {
            trial.call_aside(&mut run, &call);
        }
    }
    accept(trial, report, Way::RedundantRead, &run)
}

/// Respells values: `9:00` for `09:00`, `"3"` for `3`, a local date-time for one with an offset, a looked-up
/// name in lower case.
fn spellings(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    let world = trial.world();
    let mut respelt = 0;
    let run = trial.rerun(|_, call| {
        let Some(id) = world.api_named(&call.api) else { return };
        let api = world.api(id);
        for (name, json) in call.arguments.iter_mut() {
            let Some(parameter) = api.parameter_named(name).map(|id| &api.parameters[id.index()]) else { continue };
            let Ok(value) = parameter.schema.parse_json(json, &world.zone) else { continue };
            // A contract takes numbers in bodies as numbers only.
            let strict = api.contract.is_some() && parameter.place == Place::Body;
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
                Value::Integer(_) | Value::Decimal(_) | Value::Number(_) if !strict => Json::from(value.to_text(&world.zone)),
                Value::String(text) if looked_up => Json::from(text.to_lowercase()),
                _ => continue,
            };
            if spelt != *json && parameter.schema.parse_json(&spelt, &world.zone).is_ok() {
                *json = spelt;
                respelt += 1;
            }
        }
    })
    .ok_or_else(|| fails(Way::Spelling, UNBOUND))?;
    if respelt == 0 {
        return Ok(());
    }
    accept(trial, report, Way::Spelling, &run)
}

/// Paraphrases free texts that the user dictated.
fn paraphrased(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    let world = trial.world();
    // The checks compare these texts by content; other texts, such as addresses, are compared as they stand.
    let matchers = trial.grounded.checks.changes.iter().flat_map(|change| change.fields.values());
    let texts: Vec<&str> = matchers
        .filter_map(|matcher| if let Matcher::Text(text) = matcher { Some(&**text) } else { None })
        .collect();
    let is_free_text = |text: &str| texts.contains(&text);
    let mut changed = 0;
    let run = trial.rerun(|_, call| {
        let Some(id) = world.api_named(&call.api) else { return };
        let api = world.api(id);
        // A read needs the exact search words.
        if !api.writes() {
            return;
        }
        for (name, json) in call.arguments.iter_mut() {
            let parameter = api.parameter_named(name).map(|id| &api.parameters[id.index()]);
            let text = json.as_str().filter(|text| is_free_text(text));
            let (Some(parameter), Some(other)) = (parameter, text.and_then(paraphrase)) else { continue };
            let other = Json::from(other);
            if parameter.schema.parse_json(&other, &world.zone).is_ok() {
                *json = other;
                changed += 1;
            }
        }
    });
    let run = run.ok_or_else(|| fails(Way::Paraphrase, UNBOUND))?;
    if changed == 0 {
        return Ok(());
    }
    accept(trial, report, Way::Paraphrase, &run)
}

/// Writes out defaults that the solution leaves out.
fn defaults(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    let world = trial.world();
    let mut written = 0;
    let run = trial
        .rerun(|_, call| {
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
        .ok_or_else(|| fails(Way::Default, UNBOUND))?;
    if written == 0 {
        return Ok(());
    }
    accept(trial, report, Way::Default, &run)
}

/// Swaps independent neighbouring calls, where that leads to the same state.
fn reordered(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    let gold = &trial.grounded.gold;
    for at in (1..gold.len()).take_while(|_| !trial.is_stopped()) {
        let same_goal = trial
            .grounded
            .goals
            .iter()
            .any(|goal| goal.calls.contains(&(at - 1)) && goal.calls.contains(&at));
        let searches = gold[at].api == TOOL_SEARCHER || gold[at - 1].api == TOOL_SEARCHER;
        if needs(&gold[at], at - 1) || searches || !same_goal || trial.is_governed(at) {
            continue;
        }
        let order: Vec<usize> = (0..at - 1).chain([at, at - 1]).chain(at + 1..gold.len()).collect();
        let Some(run) = trial.run_in_order(&order) else { continue };
        let commutes = same_changes(&trial.changes_of(&run), &trial.grounded.checks.changes)
            && run.replies.iter().zip(&trial.grounded.entries).all(|(ours, theirs)| {
                ours.as_ref().is_some_and(|ours| ours.reply.status == theirs.reply.status)
            });
        if commutes {
            accept(trial, report, Way::Reordered, &run)?;
        }
    }
    Ok(())
}

/// Checks that the calls of one message are independent: in reverse order they give the same result.
fn side_by_side(trial: &Trial<'_>) -> Result<(), Reason> {
    for message in trial.grounded.messages.iter().filter(|message| message.len() > 1) {
        if trial.is_stopped() {
            return Ok(());
        }
        let count = trial.grounded.gold.len();
        let order: Vec<usize> =
            (0..message.start).chain(message.clone().rev()).chain(message.end..count).collect();
        let run = trial.run_in_order(&order).ok_or_else(|| fails(Way::Reordered, UNBOUND))?;
        let same = run.replies.iter().zip(&trial.grounded.entries).all(|(ours, theirs)| {
            ours.as_ref().is_some_and(|ours| {
                ours.reply.status == theirs.reply.status && same_words(ours, theirs, trial)
            })
        });
        if !same || !same_changes(&trial.changes_of(&run), &trial.grounded.checks.changes) {
            return Err(fails(
                Way::Reordered,
                "calls of one message do not come to the same in another order",
            ));
        }
    }
    Ok(())
}

/// Returns true if two replies show the same, apart from the keys of new records.
fn same_words(ours: &LogEntry, theirs: &LogEntry, trial: &Trial<'_>) -> bool {
    let is_new =
        |origin: &Origin| match origin {
            Origin::Field { resource, key, .. } => {
                trial.expected.iter().any(|change| {
                    change.before.is_none() && change.resource == *resource && change.key != *key
                }) || trial.expected.iter().any(|change| change.before.is_none() && change.key == *key)
            }
            _ => false,
        };
    let mut shown = ours.reply.body.leaves();
    theirs.reply.body.leaves().all(|(path, value, origin)| {
        shown.next().is_some_and(|(other, ours, _)| other == path && (ours == value || is_new(origin)))
    })
}

/// Returns true if changes are equal apart from the numbers of new keys, which follow the order of creation.
fn same_changes(ours: &[ChangeCheck], theirs: &[ChangeCheck]) -> bool {
    let kinds = |checks: &[ChangeCheck]| {
        let mut kinds: Vec<String> = checks
            .iter()
            .map(|check| format!("{} {} {:?} {:?}", check.goal, check.resource, check.kind, check.fields))
            .collect();
        kinds.sort_unstable();
        kinds
    };
    kinds(ours) == kinds(theirs)
}

fn needs(gold: &GoldCall, call: usize) -> bool {
    gold.sources.values().flat_map(places).any(|(of, _)| of as usize == call)
}

/// Looks up a key by another API with the same name.
fn other_route(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    let world = trial.world();
    for (at, gold) in trial.grounded.gold.iter().enumerate() {
        let Some(id) = world.api_named(&gold.api) else { continue };
        let resource = match &world.api(id).behaviour.kind {
            BehaviourKind::Lookup { resource, .. } => *resource,
            BehaviourKind::List(query) => query.resource,
            _ => continue,
        };
        let Some((name, key)) = looked_up(trial, at, resource) else { continue };
        // A fact of this reply needs this call.
        if trial.grounded.goals.iter().flat_map(|goal| &goal.asked).any(|asked| asked.call() == at) {
            continue;
        }
        if trial.is_stopped() {
            break;
        }
        for finder in &trial.context.survey.finders[resource.index()] {
            let api = world.api(finder.api);
            let callable = trial.grounded.visible.contains(&finder.api)
                && finder.api != id
                && api.parameters.iter().enumerate().all(|(index, parameter)| {
                    !parameter.required || finder.by == Some(ParameterId(index as u16))
                });
            if !callable {
                continue;
            }
            let by =
                finder.by.map(|by| (api.parameters[by.index()].name.to_string(), Json::from(name.clone())));
            let other = Call { api: api.name.to_string(), arguments: by.into_iter().collect() };
            if let Some(run) = by_route(trial, at, &other, resource, &key) {
                accept(trial, report, Way::OtherRoute, &run)?;
            }
        }
    }
    Ok(())
}

/// Replaces one look-up of the reference calls by another; returns none where that does not show the key.
fn by_route(trial: &Trial<'_>, at: usize, other: &Call, resource: ResourceId, key: &Value) -> Option<Run> {
    let mut run = trial.start();
    for (index, gold) in trial.grounded.gold.iter().enumerate() {
        if index == at {
            let entry = trial.call_aside(&mut run, other);
            shows_key(trial, &entry, resource, key).then_some(())?;
            // Later calls take the key itself, which the recorded reply holds.
            trial.keep(&mut run, trial.grounded.entries.get(at)?.clone());
            continue;
        }
        let call = bind(gold, &run.replies, trial.world())?;
        trial.call(&mut run, &call);
    }
    Some(run)
}

/// Returns true if a reply shows the key of a record, in its own key field.
fn shows_key(trial: &Trial<'_>, entry: &LogEntry, resource: ResourceId, key: &Value) -> bool {
    let key_field = trial.world().resource(resource).key;
    entry.reply.is_success()
        && entry.reply.body.values().any(|(value, origin)| {
            value == key
                && matches!(origin, Origin::Field { resource: of, field, .. } if *of == resource && *field == key_field)
        })
}

/// Returns the name given to a look-up, and the key that later calls take from its reply.
fn looked_up(trial: &Trial<'_>, at: usize, resource: ResourceId) -> Option<(String, Value)> {
    let world = trial.world();
    let sources = trial.grounded.gold.iter().flat_map(|gold| gold.sources.values());
    let (_, path) = sources.flat_map(places).find(|(call, _)| *call as usize == at)?;
    let entry = trial.grounded.entries.get(at)?;
    let key = entry.reply.body.at(path)?.value()?.clone();
    let described = world.resource(resource);
    let record = described.records.iter().find(|record| record.get(described.key.index()) == Some(&key))?;
    let name = record.get(described.display?.index())?.as_str()?.to_owned();
    Some((name, key))
}
