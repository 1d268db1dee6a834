//! Determined: every reading of the request against the records leaves one outcome.

use std::collections::BTreeSet;

use diorama_seeds::model::{BehaviourKind, FieldId, ResourceId};
use diorama_seeds::task::Derivation;
use diorama_seeds::value::Value;
use diorama_simulator::engine::Body;

use crate::synthesis::draft::Singled;
use crate::synthesis::resolve::{Shown, readings};
use crate::synthesis::tester::{GateReport, Trial};

/// Runs the gate.
///
/// # Errors
/// Which part of the request has several readings.
pub fn run(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), &'static str> {
    let world = trial.world.base.world();
    let shown = Shown { now: world.clock, zone: &world.zone };
    for (turn, span, slot) in trial.draft.placed() {
        let text = span_text(trial, turn, span.start, span.end).ok_or("a span outside its turn")?;
        let api = world.api(slot.api);
        let parameter = &api.parameters[slot.parameter.index()];
        if slot.by != Derivation::SortPhrase && readings(text, parameter, shown).len() > 1 {
            return Err("a phrase with several readings");
        }
        if let (Some((resource, field)), Value::String(name)) =
            (named_field(trial, slot.api, slot.parameter), &slot.value)
            && candidates(trial, resource, field, name) > 1
        {
            return Err("a name that fits several records");
        }
        report.determined += 1;
    }
    for described in &trial.draft.described {
        let call = trial.solution.call_of_step.get(described.step).ok_or("a description without a call")?;
        let body = &trial.solution.entries.get(*call).ok_or("a description without a reply")?.reply.body;
        match &described.how {
            Singled::Only => {
                let lists: BTreeSet<usize> = arrays(body).into_iter().map(<[Body]>::len).collect();
                if !lists.contains(&1) {
                    return Err("a description that fits several records");
                }
            }
            Singled::First { array, member } => {
                let items = match if array.is_empty() { Some(body) } else { body.at(array) } {
                    Some(Body::List(items)) => items,
                    _ => return Err("a description without a list"),
                };
                let value = |index: usize| {
                    let item: &Body = items.get(index)?;
                    if member.is_empty() { item.value() } else { item.at(member)?.value() }
                };
                match (value(0), value(1)) {
                    (Some(first), Some(second)) if first == second => {
                        return Err("a tie for the first place");
                    }
                    (Some(first), _) if !first.is_missing() => {}
                    _ => return Err("an order by something that is not there"),
                }
            }
        }
        report.determined += 1;
    }
    Ok(())
}

/// The text of a span.
#[must_use]
pub fn span_text<'a>(trial: &'a Trial<'_>, turn: u32, start: u32, end: u32) -> Option<&'a str> {
    trial.draft.turns.get(turn as usize)?.text.get(start as usize..end as usize)
}

/// The display field that a name parameter looks up.
fn named_field(
    trial: &Trial<'_>,
    api: diorama_seeds::model::ApiId,
    parameter: diorama_seeds::model::ParameterId,
) -> Option<(ResourceId, FieldId)> {
    let world = trial.world.base.world();
    match &world.api(api).behaviour.kind {
        BehaviourKind::Lookup { resource, by } => {
            by.iter().find(|(_, by)| *by == parameter).map(|(field, _)| (*resource, *field))
        }
        BehaviourKind::List(query) => {
            let display = world.resource(query.resource).display?;
            query
                .filters
                .iter()
                .any(|filter| {
                    filter.parameter == parameter
                        && world.api(api).parameters[parameter.index()].field
                            == Some((query.resource, display))
                })
                .then_some((query.resource, display))
        }
        _ => None,
    }
}

/// How many records a person could mean by a name: those that bear it, or bear it as part of theirs.
fn candidates(trial: &Trial<'_>, resource: ResourceId, field: FieldId, name: &str) -> usize {
    let records = &trial.world.base.world().resource(resource).records;
    records
        .iter()
        .filter(|record| {
            record
                .get(field.index())
                .and_then(Value::as_str)
                .is_some_and(|text| text == name || crate::synthesis::resolve::contains_words(text, name))
        })
        .count()
}

fn arrays(body: &Body) -> Vec<&[Body]> {
    match body {
        Body::Leaf(..) => Vec::new(),
        Body::List(items) => vec![items.as_slice()],
        Body::Object(members) => members
            .iter()
            .filter_map(|(_, member)| match member {
                Body::List(items) => Some(items.as_slice()),
                _ => None,
            })
            .collect(),
    }
}
