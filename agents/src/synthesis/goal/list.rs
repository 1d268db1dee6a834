//! Questions about lists: which, how many, the first in some order.

use crate::synthesis::draft::AnswerPart;
use diorama_engine::{Body, Origin};
use diorama_proof::answer::Asked;
use diorama_seeds::model::{Api, ApiId, BehaviourKind, FieldId, ParameterId, Query, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::value::Value;
use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom};

use super::values::arguments;
use super::{Goal, NoGoal, Result};
use crate::synthesis::draft::StepArgument;
use crate::synthesis::plan::{Filled, Planner, array_of};
use crate::synthesis::text::{Segment, Template, literal};

/// A question about a list: which, how many, or the first in some order.
///
/// # Errors
/// [`NoGoal`] when the drawn filters give nothing to ask for.
pub fn list(planner: &mut Planner<'_>, id: ApiId) -> Result<Goal> {
    let world = planner.world.base.world();
    let api = world.api(id);
    let BehaviourKind::List(query) = &api.behaviour.kind else { return Err(NoGoal) };
    let resource = query.resource;
    let described = world.resource(resource);
    if api.token.is_some() {
        planner.token(id).ok_or(NoGoal)?;
    }
    let values = arguments(planner, id);
    let noun = planner.world.world_template.guide.api(id).noun.choose(planner.rng).cloned();
    let noun = noun.unwrap_or_else(|| Template::parse(&described.plural));
    let Filled { segments: phrase, mut arguments, .. } =
        planner.fill(id, &noun, &values, 0.6, 0).ok_or(NoGoal)?;
    // Nobody asks for the name of what he names.
    let names = |argument: &StepArgument| {
        let field = api.parameters[argument.parameter.index()].field;
        described.display.is_some_and(|display| field == Some((resource, display)))
    };
    if arguments.iter().any(names) {
        return Err(NoGoal);
    }

    let best = (planner.rng.random_bool(0.4)).then(|| sorted_best(planner, api, query)).flatten();
    if let Some((parameter, order, field, words)) = best {
        arguments.push(StepArgument { parameter, value: order });
        arguments.sort_by_key(|argument| argument.parameter);
        let entry = planner.call(id, arguments);
        let step = planner.steps.len() - 1;
        let (path, array) = display_of_first(planner, &entry.reply.body, resource).ok_or(NoGoal)?;
        // The best of one or two is no question.
        let among = match entry.reply.body.at(&array) {
            Some(Body::List(items)) => items.len(),
            _ => 0,
        };
        if among < FEW {
            return Err(NoGoal);
        }
        let member = member_of(&entry.reply.body, &array, resource, field).ok_or(NoGoal)?;
        let value_path = format!("{array}[0]{}{member}", if member.is_empty() { "" } else { "." });
        planner.tags.push("superlative");
        let mut sentence = vec![literal(
            *["Which of the ", "Out of the ", "Among the "].choose(planner.rng).unwrap_or(&"Which of the "),
        )];
        let which = matches!(&sentence[0], Segment::Text(text) if text.starts_with("Which"));
        if are_known(&phrase) {
            known_ones(&mut sentence);
        }
        sentence.extend(phrase);
        sentence.push(literal(if which { " has the " } else { ", which one has the " }));
        sentence.push(Segment::Value(words.clone()));
        sentence.push(literal("?"));
        let style = planner.style();
        let answer = vec![
            AnswerPart::Leaf { call: step, path: path.clone(), style: 0, bare: false },
            AnswerPart::Text(format!(" has the {words}: ")),
            AnswerPart::Leaf { call: step, path: value_path, style, bare: false },
            AnswerPart::Text(".".into()),
        ];
        let asked = vec![Asked::Leaf {
            call: step,
            path,
            about: format!("the {} with the {words}", described.label),
            several: false,
        }];
        return Ok(Goal::question(id, sentence, asked, answer));
    }

    let entry = planner.call(id, arguments);
    let step = planner.steps.len() - 1;
    if !entry.reply.is_success() {
        return Err(NoGoal);
    }
    let body = &entry.reply.body;
    let total = body.leaves().find(|(path, _, origin)| {
        matches!(origin, Origin::Computed)
            && path.rsplit('.').next() == Some(&*api.reply.total)
            && !api.reply.total.is_empty()
    });
    let first = display_of_first(planner, body, resource);
    let names = first.and_then(|(path, array)| {
        let shown = match body.at(&array) {
            Some(Body::List(items)) => items.len(),
            _ => 0,
        };
        let all = total.as_ref().is_none_or(|(_, value, _)| value.as_f64() == Some(shown as f64));
        let ends = query.page.as_ref().is_none_or(|page| shown < page.size as usize);
        let complete = all && (1..=MOST_NAMED).contains(&shown) && (total.is_some() || ends);
        let member = path.split_once("].").map(|(_, member)| member.to_owned())?;
        complete.then_some((array, member))
    });
    let counted = is_worth_counting(total.as_ref().map(|(_, value, _)| *value));
    match (names, total) {
        (Some((array, member)), _) if planner.rng.random_bool(0.7) || !counted => {
            let mut words = vec![literal(
                *[
                    "Which ",
                    "Show me the ",
                    "List the ",
                    "What are the ",
                    "Give me the names of the ",
                    "I'd like to see all ",
                ]
                .choose(planner.rng)
                .unwrap_or(&"Which "),
            )];
            let end = match &words[0] {
                Segment::Text(text) if text.starts_with("Which") && !are_known(&phrase) => " are there?",
                Segment::Text(text) if text.starts_with("Wh") => "?",
                _ => ".",
            };
            if are_known(&phrase) {
                known_ones(&mut words);
            }
            words.extend(phrase);
            words.push(literal(end));
            let style = planner.style();
            let lead: &[&str] = match &words[0] {
                Segment::Text(text) if text.starts_with("Wh") => &["I found ", "Here is what I found: "],
                _ => &["Here they are: ", "Here is what I found: "],
            };
            let answer = vec![
                AnswerPart::Text((*lead.choose(planner.rng).unwrap_or(&"I found ")).into()),
                AnswerPart::Each { call: step, array: array.clone(), member: member.clone(), style },
                AnswerPart::Text(".".into()),
            ];
            let asked = vec![Asked::Each {
                call: step,
                array,
                member,
                about: format!("names of the {}", described.plural),
            }];
            Ok(Goal::question(id, words, asked, answer))
        }
        (_, Some((path, value, _))) if counted => {
            let mut words = vec![literal(
                *["How many ", "Can you count the ", "What is the number of "]
                    .choose(planner.rng)
                    .unwrap_or(&"How many "),
            )];
            let end = match &words[0] {
                Segment::Text(text) if text.starts_with("How") => " are there?",
                _ => "?",
            };
            if are_known(&phrase) {
                known_ones(&mut words);
            }
            words.extend(phrase);
            words.push(literal(end));
            let lead = if value.as_f64() == Some(1.0) { "There is " } else { "There are " };
            let answer = vec![
                AnswerPart::Text(lead.into()),
                AnswerPart::Leaf { call: step, path: path.clone(), style: 0, bare: false },
                AnswerPart::Text(" in total.".into()),
            ];
            let asked =
                vec![Asked::Count { call: step, path, about: format!("number of {}", described.plural) }];
            Ok(Goal::question(id, words, asked, answer))
        }
        _ => Err(NoGoal),
    }
}

/// More names than these are no answer.
const MOST_NAMED: usize = 12;

/// Fewer things than these are neither counted nor compared: the answer would be a guess.
const FEW: usize = 3;

/// Whether a number of things is one that nobody guesses.
fn is_worth_counting(total: Option<&Value>) -> bool {
    total.and_then(Value::as_f64).is_some_and(|total| total >= FEW as f64)
}

/// Whether the things are some that both know: "my playlists", "the tracks of the album".
fn are_known(phrase: &[Segment]) -> bool {
    matches!(phrase.first(), Some(Segment::Text(text)) if text.starts_with("my ") || text.starts_with("the "))
}

/// What stands before such things: "How many of", not "How many"; "What are", not "Which".
fn known_ones(words: &mut [Segment]) {
    if let Some(Segment::Text(text)) = words.first_mut() {
        *text = match text.as_str() {
            "How many " => "How many of ".to_owned(),
            "Which " => "What are ".to_owned(),
            other => other.strip_suffix("the ").unwrap_or(other).to_owned(),
        };
    }
}

/// An order that a caller may choose and people have words for: parameter, its value, field, words.
fn sorted_best(
    planner: &mut Planner<'_>,
    api: &Api,
    query: &Query,
) -> Option<(ParameterId, Value, FieldId, String)> {
    let (parameter, fields) = query.sort_parameter.as_ref()?;
    let Type::Enum(values) = &api.parameters[parameter.index()].schema.kind else { return None };
    let described = planner.world.base.world().resource(query.resource);
    let numeric = |field: &&FieldId| {
        matches!(described.field(**field).schema.kind, Type::Integer | Type::Number | Type::Decimal { .. })
    };
    let field = *fields.iter().filter(numeric).choose(planner.rng)?;
    let name = &described.field(field).name;
    let descending = planner.rng.random_bool(0.5);
    let forms: [String; 3] = if descending {
        [format!("-{name}"), format!("{name}.desc"), format!("{name}_desc")]
    } else {
        [name.to_string(), format!("{name}.asc"), format!("{name}_asc")]
    };
    let value = values.iter().find(|value| forms.iter().any(|form| **form == ***value))?;
    let word = if descending { "highest" } else { "lowest" };
    Some((
        *parameter,
        Value::String(value.clone()),
        field,
        format!("{word} {}", described.field(field).label),
    ))
}

/// The place of the first item's display name, and of its array.
fn display_of_first(planner: &Planner<'_>, body: &Body, resource: ResourceId) -> Option<(String, String)> {
    let display = planner.world.base.world().resource(resource).display?;
    body.leaves().find_map(|(path, _, origin)| {
        let Origin::Field { resource: of, field, .. } = origin else { return None };
        let (array, index) = array_of(&path)?;
        (*of == resource && *field == display && index == 0).then_some((path, array))
    })
}

/// The member of an array's items that shows a field.
fn member_of(body: &Body, array: &str, resource: ResourceId, field: FieldId) -> Option<String> {
    let prefix = format!("{array}[0]");
    body.leaves().find_map(|(path, _, origin)| {
        let Origin::Field { resource: of, field: shown, .. } = origin else { return None };
        let member = path.strip_prefix(&prefix)?.trim_start_matches('.').to_owned();
        (*of == resource && *shown == field).then_some(member)
    })
}
