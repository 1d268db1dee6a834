//! Checks that an agent that follows the user's words literally, and asks nothing back, does no damage.
//!
//! An agent may act on a value of the opening that a later line takes back. Such a correction must stand in
//! the same message, or in a goal of its own after the first. A withheld detail is no correction.

use diorama_answers::prose::Prose;
use diorama_answers::{Clock, Stance};
use diorama_seeds::model::Parameter;
use diorama_seeds::schema::Type;
use diorama_seeds::task::ArgumentSource;
use diorama_seeds::value::Value;
use serde_json::{Value as Json, json};

use crate::gates::report::GateReport;
use crate::gates::trial::Trial;
use crate::ground::text::{days_of, hours_of};
use crate::reason::{Code, Reason};
use crate::survey::reads;

/// Runs the gate.
///
/// # Errors
/// Returns the value of the opening that must not be acted on.
pub(super) fn run(
    trial: &Trial<'_>,
    (turns, clock): (&[Prose], &Clock),
    report: &mut GateReport,
) -> Result<(), Reason> {
    let (grounded, world) = (trial.grounded, trial.world());
    let mut opened = 0;
    for (goal, proposed) in grounded.goals.iter().zip(&grounded.candidate.goals) {
        let Some(opening) = turns.get(opened) else { break };
        for call in goal.calls.clone().take_while(|_| !trial.is_stopped()) {
            let Some(gold) = grounded.gold.get(call) else { continue };
            let Some(api) = world.api_named(&gold.api).map(|id| world.api(id)) else { continue };
            for (name, source) in &gold.sources {
                let turn = last_turn(source).map(|turn| turn as usize).filter(|turn| *turn > opened);
                let line = turn.and_then(|turn| grounded.user_turns.get(turn));
                if line.is_none_or(|line| proposed.given_by(line).next().is_some()) {
                    continue;
                }
                let (Some(id), Some(taken)) = (api.parameter_named(name), gold.arguments.get(name)) else {
                    continue;
                };
                let parameter = &api.parameters[id.index()];
                for other in others_said(opening, parameter, taken, trial, clock) {
                    report.unambiguous += 1;
                    if does_damage(trial, call, goal.calls.end, name, &other) {
                        return Err(Reason::of_call(Code::Literal, call)
                            .with("argument", &**name)
                            .with("value", other)
                            .with("taken", taken.clone()));
                    }
                }
            }
        }
        opened = goal.user_turns;
    }
    Ok(())
}

/// Returns the last turn of the user that gives a value, or a part of it.
fn last_turn(source: &ArgumentSource) -> Option<u32> {
    match source {
        ArgumentSource::User { turn, .. } => Some(*turn),
        ArgumentSource::Arithmetic { of, .. } => of.iter().filter_map(last_turn).max(),
        _ => None,
    }
}

/// Returns true if the reference calls with another value for one argument make a change that the checks
/// reject.
fn does_damage(trial: &Trial<'_>, call: usize, end: usize, name: &str, other: &Json) -> bool {
    let changed = trial.rerun(|index, made| {
        if index == call {
            made.arguments.insert(name.to_owned(), other.clone());
        }
    });
    let Some(run) = changed else { return false };
    let changes_something = (call..end).any(|index| {
        let entry = run.replies.get(index).and_then(Option::as_ref);
        entry.is_some_and(|entry| {
            let writes = entry.api.is_some_and(|id| !reads(trial.world().api(id)));
            writes && entry.reply.is_success() && !entry.changes.is_empty()
        })
    });
    changes_something && !trial.passes(&run, &trial.answers_of_run(&run))
}

/// Returns the values for a parameter in a message, other than the taken one, that no other call uses.
fn others_said(
    prose: &Prose,
    parameter: &Parameter,
    taken: &Json,
    trial: &Trial<'_>,
    clock: &Clock,
) -> Vec<Json> {
    let world = trial.world();
    let parse = |json: &Json| parameter.schema.parse_json(json, &world.zone).ok();
    let asserted = || prose.mentions().iter().filter(|mention| mention.stance == Stance::Asserted);
    let mentions = || asserted().map(|mention| &mention.what);
    let at = |(day, hour)| Value::DateTime(clock.zone.instant(day, hour));
    let days = || mentions().flat_map(days_of);
    let hours = || mentions().flat_map(hours_of);
    let values: Vec<Value> = match &parameter.schema.kind {
        Type::Integer | Type::Number | Type::Decimal { .. } => prose
            .numbers()
            .filter_map(|(number, _)| parse(&json!(number)).or_else(|| parse(&json!(number as i64))))
            .collect(),
        Type::Date => days().map(Value::Date).collect(),
        Type::Time => hours().map(Value::Time).collect(),
        Type::DateTime => {
            let Some(Value::DateTime(instant)) = parse(taken) else { return Vec::new() };
            // A missing day is that of the value; without an hour the opening gives no value.
            let mut on: Vec<_> = days().collect();
            if on.is_empty() {
                on.push(clock.zone.date_of(instant));
            }
            hours().flat_map(|hour| on.iter().map(move |day| (*day, hour))).map(at).collect()
        }
        Type::String => {
            let Some((resource, field)) = parameter.field else { return Vec::new() };
            let records = &world.resource(resource).records;
            let texts = records.iter().filter_map(|record| record.get(field.index()));
            let is_said = |value: &&Value| value.as_str().is_some_and(|text| !prose.find(text).is_empty());
            texts.filter(is_said).cloned().collect()
        }
        _ => Vec::new(),
    };
    let mut others: Vec<Json> = values.iter().map(|value| value.to_json(&world.zone)).collect();
    let is_taken = |other: &Json| {
        let mut arguments = trial.grounded.gold.iter().flat_map(|gold| gold.arguments.values());
        arguments.any(|argument| argument == other)
    };
    others.retain(|other| other != taken && !is_taken(other));
    others
}
