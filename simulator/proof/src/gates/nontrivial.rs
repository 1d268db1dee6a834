//! Runs the gate `nontrivial`: an agent must not pass by doing nothing, saying nothing, or only refusing.
//!
//! A request that must be refused needs a solvable variant.

use diorama_seeds::model::{Parameter, ParameterId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{Call, GoalCheck, Outcome, RefusalClass};
use diorama_seeds::value::{Instant, Value};
use diorama_user::conversation::FinishData;
use rustc_hash::FxHashSet;
use serde_json::Map;

use super::report::GateReport;
use super::trial::Trial;
use crate::grounded::{Basis, GroundedGoal};
use crate::reason::{Code, Reason};

/// The greatest number of calls that are tried in search of a solvable variant.
const MOST_TRIES: usize = 400;

/// Runs the gate.
///
/// # Errors
/// Returns the idle answer that passes, or that a refused request has no solvable variant.
pub(super) fn run(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    let goals = trial.grounded.goals.len();
    let mut idle = trial.start();
    idle.close(goals);
    let right = trial.right_answers(&idle);
    // Where no call is made, a refusal with the right reason is the whole task.
    let only_refuses = trial.grounded.gold.is_empty()
        && trial.grounded.goals.iter().all(|goal| goal.outcome == Outcome::Refused);
    let gives_reason = |(given, check): (&FinishData, &GoalCheck)| {
        given.outcome == Some(Outcome::Refused)
            && given.reason.is_some_and(|reason| check.refusal.contains(&reason))
    };
    for (name, given) in idle_answers(&right) {
        if only_refuses && given.iter().zip(&trial.grounded.checks.goals).all(gives_reason) {
            continue;
        }
        if trial.passes(&idle, &given) {
            return Err(Reason::new(Code::IdlePasses).with("words", name));
        }
        report.nontrivial += 1;
    }
    // The right facts without any call must fail, unless the reference makes none.
    if !trial.grounded.gold.is_empty() && trial.passes(&idle, &right) {
        return Err(Reason::new(Code::FactsAlonePass));
    }
    report.nontrivial += 1;
    for (number, goal) in trial.grounded.goals.iter().enumerate() {
        if goal.outcome == Outcome::Refused && goal.refusal.first() != Some(&RefusalClass::NoTool) {
            twin(trial, number, goal)?;
            report.nontrivial += 1;
        }
    }
    Ok(())
}

/// Returns final answers without content: none, done, asking back, and each reason for a refusal.
fn idle_answers(right: &[FinishData]) -> Vec<(String, Vec<FinishData>)> {
    let all = |outcome: Option<Outcome>, reason: Option<RefusalClass>| -> Vec<FinishData> {
        let given = right.iter().map(|right| FinishData {
            outcome,
            reason,
            about: right.about.clone().filter(|_| reason.is_some()),
            facts: Map::new(),
        });
        given.collect()
    };
    let refused = |reason| all(Some(Outcome::Refused), Some(reason));
    let refusals =
        RefusalClass::ALL.into_iter().map(|reason| (format!("refused: {}", reason.name()), refused(reason)));
    [("nothing".to_owned(), all(None, None)), ("done".to_owned(), all(Some(Outcome::Done), None))]
        .into_iter()
        .chain(refusals)
        .collect()
}

/// Tries the refused or empty call with other values: one of them must succeed.
fn twin(trial: &Trial<'_>, number: usize, goal: &GroundedGoal) -> Result<(), Reason> {
    let entries = &trial.grounded.entries;
    let (refused, before) = match (&goal.declined, goal.refused_by) {
        // A verdict on records needs a record that changes it, and a rule without conditions forbids every
        // such call.
        (Some(declined), _) if declined.basis != Basis::Call => return Ok(()),
        (Some(declined), _) => (&declined.call, goal.calls.end),
        (None, Some(call)) => match entries.get(call) {
            Some(entry) => (&entry.call, call),
            None => return Ok(()),
        },
        // A refusal after a read has no tried call, so its values are unknown.
        (None, None) => return Ok(()),
    };
    let world = trial.world();
    let mut run = trial.start();
    for before in entries.iter().take(before) {
        trial.call_aside(&mut run, &before.call);
    }
    let Some(api) = world.api_named(&refused.api).map(|id| world.api(id)) else { return Ok(()) };
    let works = |call: &Call| {
        // Every call is tried once, so each runs on a fork.
        let entry = run.session.clone().call(call);
        entry.reply.is_success()
            && !entry.reply.body.is_empty_result()
            && (goal.declined.is_none() || entry.broken.is_none())
    };
    let mut tries = 0;
    let named: Vec<(ParameterId, &Parameter)> = api
        .parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| (ParameterId(index as u16), parameter))
        .filter(|(id, parameter)| refused.arguments.contains_key(&*parameter.name) && api.token != Some(*id))
        .collect();
    // One value is changed, then two. A refusal that depends on more is the world's and not the request's.
    for (at, (_, first)) in named.iter().enumerate() {
        for value in others(first, refused, world) {
            if trial.is_stopped() {
                return Ok(());
            }
            let mut call = refused.clone();
            call.arguments.insert(first.name.to_string(), value.to_json(&world.zone));
            tries += 1;
            if works(&call) {
                return Ok(());
            }
            for (_, second) in named.iter().skip(at + 1) {
                for value in others(second, refused, world).into_iter().take(12) {
                    if tries >= MOST_TRIES {
                        break;
                    }
                    tries += 1;
                    let mut call = call.clone();
                    call.arguments.insert(second.name.to_string(), value.to_json(&world.zone));
                    if works(&call) {
                        return Ok(());
                    }
                }
            }
        }
    }
    Err(Reason::of_goal(Code::NoSolvableVariant, number).with("api", &*refused.api))
}

/// Returns other values for a parameter: those of records, other choices, numbers below and above, timestamps
/// around.
pub(super) fn others(parameter: &Parameter, call: &Call, world: &World) -> Vec<Value> {
    let given = call.arguments.get(&*parameter.name);
    let given = given.and_then(|json| parameter.schema.parse_json(json, &world.zone).ok());
    let of_field = |resource: diorama_seeds::model::ResourceId, field: diorama_seeds::model::FieldId| {
        let records = &world.resource(resource).records;
        records.iter().filter_map(move |record| record.get(field.index()).cloned()).collect::<Vec<_>>()
    };
    let mut values = match (&parameter.schema.kind, parameter.field) {
        (Type::Reference { resource, .. }, _) => of_field(*resource, world.resource(*resource).key),
        (Type::List(item), _) => match &item.kind {
            Type::Reference { resource, .. } => of_field(*resource, world.resource(*resource).key)
                .into_iter()
                .map(|key| Value::List([key].into()))
                .collect(),
            _ => Vec::new(),
        },
        (Type::Enum(values), _) => values.iter().cloned().map(Value::String).collect(),
        (Type::Boolean, _) => vec![Value::Bool(true), Value::Bool(false)],
        (Type::DateTime, _) => moments(given.as_ref(), world),
        (Type::Date, _) => {
            let today = world.zone.date_of(world.clock);
            (1..=28).map(|days| Value::Date(diorama_seeds::value::Date(today.0 + days))).collect()
        }
        (Type::Time, _) => {
            (6..=20).map(|hour| Value::Time(diorama_seeds::value::Time(hour * 3600))).collect()
        }
        (_, Some((resource, field))) => of_field(resource, field),
        _ => Vec::new(),
    };
    if let Some(number) = given.as_ref().and_then(Value::as_f64) {
        let near =
            [1.0, number - 1.0, (number / 2.0).floor(), (number / 10.0).floor(), number + 1.0, number * 2.0];
        values.extend(
            near.into_iter()
                .filter_map(|near| parameter.schema.parse_json(&serde_json::json!(near), &world.zone).ok()),
        );
    }
    // A name that no record has: it is free where a taken name is refused.
    if let (Type::String, Some(text)) = (&parameter.schema.kind, given.as_ref().and_then(Value::as_str)) {
        values.extend(parameter.schema.parse_json(&serde_json::json!(format!("{text} 2")), &world.zone).ok());
    }
    let mut seen = FxHashSet::default();
    values.retain(|value| !value.is_missing() && given.as_ref() != Some(value) && seen.insert(value.clone()));
    values.truncate(240);
    values
}

/// Returns timestamps from 3 days before the given one (or the clock) to 10 days after it, at the same hour and
/// 2 or 4 hours from it.
fn moments(given: Option<&Value>, world: &World) -> Vec<Value> {
    let start = match given {
        Some(Value::DateTime(instant)) => *instant,
        _ => world.clock,
    };
    let around = (-3_i64..=10).flat_map(|day| [0, 2, -2, 4, -4].map(|hour| day * 86_400 + hour * 3_600));
    around
        .filter(|seconds| *seconds != 0)
        .map(|seconds| Value::DateTime(Instant(start.0 + seconds)))
        .collect()
}
