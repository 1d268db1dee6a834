//! Goals that change records.

use crate::synthesis::draft::AnswerPart;
use diorama_engine::{Body, Origin, RecordChange};
use diorama_seeds::contract::is_over;
use diorama_seeds::model::{Api, ApiId, BehaviourKind, Record, ResourceId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::RefusalClass;
use diorama_seeds::value::Value;
use rand::RngExt;
use rand::seq::IndexedRandom;

use super::values::arguments;
use super::words::template;
use super::{Goal, NoGoal, Result, Wanted};
use crate::synthesis::draft::StepArgument;
use crate::synthesis::plan::{Filled, Planner};
use crate::synthesis::say;
use crate::synthesis::text::{Segment, Template, capitalised, literal};
use crate::synthesis::world::{BatchWorld, refers_to};

/// A change of records by one API.
///
/// # Errors
/// [`NoGoal`] when the drawn values do not lead there; another draw may.
pub fn write(planner: &mut Planner<'_>, id: ApiId, wanted: Wanted) -> Result<Goal> {
    let world = planner.world.base.world();
    let api = world.api(id);
    if matches!(api.behaviour.kind, BehaviourKind::SignIn { .. } | BehaviourKind::SignOut) {
        return Err(NoGoal);
    }
    if api.token.is_some() {
        planner.token(id).ok_or(NoGoal)?;
    }
    let values = arguments(planner, id);
    let (mood, template) = template(planner, id).ok_or(NoGoal)?;
    let Filled { segments: words, arguments, details } =
        planner.fill(id, &template, &values, 0.45, 0).ok_or(NoGoal)?;
    let entry = planner.call(id, arguments);
    let step = planner.steps.len() - 1;
    let told = &planner.steps[step].arguments;
    if changes_nothing(world, api, told, &entry.changes)
        || changes_type(api, told, &entry.changes)
        || (api.contract.is_some() && ends_what_is_over(&entry.changes))
    {
        return Err(NoGoal);
    }
    let refusal = match (wanted, entry.reply.is_success()) {
        (Wanted::Success, true) if !entry.changes.is_empty() => None,
        (Wanted::Refusal, false)
            if api.behaviour.require.iter().any(|check| check.status == entry.reply.status) =>
        {
            Some(RefusalClass::of_status(entry.reply.status).ok_or(NoGoal)?)
        }
        _ => return Err(NoGoal),
    };
    let answer = match refusal {
        None => done(planner, id, step),
        Some(_) => refused(planner, &entry.reply.body),
    };
    Ok(Goal { mood, refusal, details, ..Goal::question(id, words, Vec::new(), answer) })
}

/// What the assistant says of a change whose API has no phrase for it.
const DONE: [&str; 4] = ["Done.", "That's done.", "All set.", "I've taken care of that."];

/// What the assistant says after a change: a phrase of the API over its arguments and reply, or a general one.
fn done(planner: &mut Planner<'_>, id: ApiId, step: usize) -> Vec<AnswerPart> {
    let world = planner.world.base.world();
    let templates: Vec<Template> = planner.world.world_template.guide.api(id).done.clone();
    let api = world.api(id);
    let done = (*DONE.choose(planner.rng).unwrap_or(&"Done.")).to_owned();
    if let Some(template) = templates.choose(planner.rng) {
        let mut parts = Vec::new();
        let body = planner.entries[step].reply.body.clone();
        let arguments = planner.steps[step].arguments.clone();
        let filled = template.fill(&mut |name| {
            if let Some(path) = name.strip_prefix("reply:") {
                body.at(path).and_then(Body::value).filter(|value| !value.is_missing())?;
                return Some(vec![Segment::Value(path.to_owned())]);
            }
            let parameter = api.parameter_named(name)?;
            let argument = arguments.iter().find(|argument| argument.parameter == parameter)?;
            let described = &api.parameters[parameter.index()];
            let words = match &described.schema.kind {
                Type::Reference { resource, .. } => {
                    planner_display(planner.world, planner.session.state(), *resource, &argument.value)?
                }
                Type::List(item) if refers_to(&item.kind).is_some() => {
                    let resource = refers_to(&item.kind)?;
                    let Value::List(items) = &argument.value else { return None };
                    let names: Option<Vec<String>> = items
                        .iter()
                        .map(|key| planner_display(planner.world, planner.session.state(), resource, key))
                        .collect();
                    say::enumerate(&names?)
                }
                _ => told_argument(&argument.value, described, &world.zone),
            };
            Some(vec![literal(words)])
        });
        if let Some(segments) = filled {
            for (index, segment) in segments.into_iter().enumerate() {
                match segment {
                    Segment::Text(text) if index == 0 => parts.push(AnswerPart::Text(capitalised(&text))),
                    Segment::Text(text) => parts.push(AnswerPart::Text(text)),
                    Segment::Value(path) => {
                        parts.push(AnswerPart::Leaf { call: step, path, style: 0, bare: false })
                    }
                }
            }
            return parts;
        }
    }
    // Whoever has something made needs to know what it goes by.
    if let BehaviourKind::Create { resource, .. } = &api.behaviour.kind
        && let Some(path) = key_shown(&planner.entries[step].reply.body, world, *resource)
    {
        let described = world.resource(*resource);
        let text =
            format!("{done} The {} of the new {} is ", described.field(described.key).label, described.label);
        let key = AnswerPart::Leaf { call: step, path, style: 0, bare: false };
        return vec![AnswerPart::Text(text), key, AnswerPart::Text(".".into())];
    }
    vec![AnswerPart::Text(done)]
}

/// Whether an argument is what the changed record had already: nobody asks for that.
fn changes_nothing(world: &World, api: &Api, arguments: &[StepArgument], changes: &[RecordChange]) -> bool {
    arguments.iter().any(|argument| {
        let parameter = &api.parameters[argument.parameter.index()];
        let Some((resource, field)) = parameter.field else { return false };
        let is_key = refers_to(&parameter.schema.kind).is_some() || world.resource(resource).key == field;
        let had = |change: &RecordChange| {
            change.resource == resource
                && change.after.is_some()
                && change.before.as_ref().and_then(|before| before.get(field.index()))
                    == Some(&argument.value)
        };
        !is_key && changes.iter().any(had)
    })
}

/// Whether something is ended that is over: nobody cancels what has failed.
fn ends_what_is_over(changes: &[RecordChange]) -> bool {
    let text = |record: &Record, field: usize| record.get(field).and_then(Value::as_str).map(str::to_owned);
    changes.iter().any(|change| {
        let Some((before, after)) = change.before.as_ref().zip(change.after.as_ref()) else { return false };
        (0..after.len()).any(|field| {
            let (had, has) = (text(before, field), text(after, field));
            had != has && [had, has].iter().flatten().filter(|state| is_over(state)).count() == 2
        })
    })
}

/// Whether a file gets the name of one of another type.
fn changes_type(api: &Api, arguments: &[StepArgument], changes: &[RecordChange]) -> bool {
    let ending = |value: &Value| {
        let (stem, ending) = value.as_str()?.rsplit_once('.')?;
        let is_type = (2..5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
        (is_type && !stem.is_empty() && !stem.ends_with(' ')).then(|| ending.to_lowercase())
    };
    arguments.iter().any(|argument| {
        let Some((resource, field)) = api.parameters[argument.parameter.index()].field else { return false };
        let Some(new) = ending(&argument.value) else { return false };
        changes.iter().filter(|change| change.resource == resource).any(|change| {
            let had = change.before.as_ref().and_then(|before| before.get(field.index()));
            had.and_then(ending).is_some_and(|had| had != new)
        })
    })
}

/// Where a reply shows the key of the record that was made.
fn key_shown(body: &Body, world: &World, resource: ResourceId) -> Option<String> {
    let key_field = world.resource(resource).key;
    body.leaves().find_map(|(path, _, origin)| {
        let own = matches!(origin, Origin::Field { resource: of, field, .. } if *of == resource && *field == key_field);
        (own && !path.contains('[')).then_some(path)
    })
}

fn told_argument(
    value: &Value,
    parameter: &diorama_seeds::model::Parameter,
    zone: &diorama_seeds::value::Zone,
) -> String {
    let told = say::told(value, &parameter.schema, zone, 0);
    match value {
        Value::Date(_) | Value::DateTime(_) => format!("on {told}"),
        Value::Time(_) => format!("at {told}"),
        _ => told,
    }
}

fn planner_display(
    world: &BatchWorld,
    state: &diorama_engine::State,
    resource: ResourceId,
    key: &Value,
) -> Option<String> {
    let described = world.base.world().resource(resource);
    let field = match described.display {
        Some(field) => field,
        None => return Some(key.to_text(&world.base.world().zone)),
    };
    // A record that the call deleted is known from the start.
    let record = state
        .get(&world.base, resource, key)
        .or_else(|| described.records.iter().find(|record| record.get(described.key.index()) == Some(key)))?;
    record.get(field.index())?.as_str().map(str::to_owned)
}

/// What the assistant says when the world refuses.
fn refused(planner: &mut Planner<'_>, body: &Body) -> Vec<AnswerPart> {
    let detail = body
        .at("detail")
        .and_then(Body::value)
        .and_then(Value::as_str)
        .unwrap_or("the request was refused")
        .trim_end_matches('.')
        .to_owned();
    let text = match planner.rng.random_range(0..5) {
        0 => format!("I'm sorry, I couldn't do that: {detail}."),
        1 => format!("Unfortunately this isn't possible, because {detail}."),
        2 => format!("That was refused: {detail}. Nothing has been changed."),
        3 => format!("I wasn't able to do it. The reason given is that {detail}."),
        _ => format!("This can't be done at the moment: {detail}."),
    };
    vec![AnswerPart::Text(text)]
}
