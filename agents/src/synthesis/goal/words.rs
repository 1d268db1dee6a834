//! The wording of single goals and of the facts that answer them.

use crate::synthesis::draft::AnswerPart;
use diorama_seeds::english::article;
use diorama_seeds::model::{ApiId, FieldId, ResourceId};
use diorama_seeds::schema::Type;
use rand::RngExt;
use rand::seq::IndexedRandom;

use super::Mood;
use super::ask::{is_person, of_it};
use crate::synthesis::plan::Planner;
use crate::synthesis::text::{Part, Segment, Template, capitalised, literal};

/// A phrase of the API to ask with. Nobody asks for what has no words.
pub(super) fn template(planner: &mut Planner<'_>, id: ApiId) -> Option<(Mood, Template)> {
    let words = planner.world.world_template.guide.api(id);
    let whole = !words.request.is_empty() && (words.imperative.is_empty() || planner.rng.random_bool(0.45));
    if whole && let Some(template) = words.request.choose(planner.rng) {
        return Some((Mood::Sentence, template.clone()));
    }
    // Who says little says what must be said.
    let chosen = match planner.optional {
        0.0 => words.imperative.iter().min_by_key(|template| template.required().count()),
        _ => words.imperative.choose(planner.rng),
    };
    chosen.map(|template| (Mood::Imperative, template.clone()))
}

/// What a phrase asks for without saying of what: `delete the role {Sid}` is `delete a role`, and `add a user called
/// {name}` is `add a user`.
#[must_use]
pub fn opening(template: &Template) -> Option<String> {
    let Some(Part::Text(text)) = template.parts.first() else { return None };
    let text = text.trim_end().trim_end_matches('"').trim_end().trim_end_matches(" to");
    let cut = [" called", " with ", " to the", " for the"].iter().filter_map(|joint| text.find(joint)).min();
    if let Some(at) = cut {
        return Some(text[..at].to_owned());
    }
    let (before, noun) = match text.rsplit_once(" the ") {
        Some(parts) => parts,
        None => return text.contains(" my ").then(|| text.to_owned()),
    };
    if noun.contains(" my ") {
        return Some(text.to_owned());
    }
    // What is removed from something is not said to be gone.
    let from = template.parts.iter().find_map(|part| match part {
        Part::Text(text) => text.strip_prefix(" from the ").map(str::trim_end),
        _ => None,
    });
    let from = from.map(|from| format!(" from {} {from}", article(from))).unwrap_or_default();
    Some(format!("{before} {} {noun}{from}", article(noun)))
}

/// `Books an appointment with a dentist.` as `book an appointment with a dentist`.
#[must_use]
pub fn infinitive(description: &str) -> Option<String> {
    let sentence = description.split(['.', ';', ':', ',']).next()?.trim();
    // A second verb would need the same treatment; the first says what is wanted.
    let sentence = second_verb(sentence).map_or(sentence, |at| &sentence[..at]);
    let (mut verb, mut rest) = sentence.split_once(' ')?;
    // `Permanently deletes` is `deletes`.
    if verb.ends_with("ly") {
        (verb, rest) = rest.split_once(' ')?;
    }
    let lower = verb.to_lowercase();
    let base = if let Some(stem) = lower.strip_suffix("ies") {
        format!("{stem}y")
    } else if ["sses", "shes", "ches", "xes", "oes"].iter().any(|ending| lower.ends_with(ending)) {
        lower.strip_suffix("es")?.to_owned()
    } else if lower.ends_with('s') && !lower.ends_with("ss") {
        lower.strip_suffix('s')?.to_owned()
    } else {
        lower
    };
    let plain = base.chars().all(char::is_alphabetic) && !rest.contains(['{', '}', '[', ']', '(', ')', '`']);
    plain.then(|| personal(&format!("{base} {rest}")))
}

/// What a user says of itself: `the basket of the signed-in shopper` is `my basket`, and `your` is the user's.
fn personal(clause: &str) -> String {
    let clause =
        clause.replace(" your ", " my ").replace(" an existing ", " a ").replace(" the specified ", " the ");
    // Where it is, is said of what the caller's account holds: everything.
    let clause = match clause.find(" my account") {
        Some(at) => clause[..at].rsplit_once(' ').map_or(&*clause, |(before, _)| before),
        None => &clause,
    };
    let Some((before, after)) = clause.split_once("the signed-in ") else { return clause.to_owned() };
    let (noun, rest) =
        after.split_once(' ').map_or((after, String::new()), |(noun, rest)| (noun, format!(" {rest}")));
    if noun.ends_with("'s") {
        return format!("{before}my{rest}");
    }
    match before.strip_suffix(" of ").and_then(|owned| owned.rfind(" the ").map(|at| (owned, at))) {
        Some((owned, at)) => format!("{} my {}{rest}", &owned[..at], &owned[at + 5..]),
        None => match before.strip_suffix(" of ") {
            Some(owned) => format!("{owned} of mine{rest}"),
            None => format!("{before}me{rest}"),
        },
    }
}

/// Where ` and` begins when a verb in the third person follows: `Marks a meal as cooked and counts it`.
fn second_verb(sentence: &str) -> Option<usize> {
    sentence.match_indices(" and ").map(|(at, _)| at).find(|at| {
        let next = sentence[at + 5..].split(' ').next().unwrap_or_default();
        let after = sentence[at + 5..].split(' ').nth(1).unwrap_or_default();
        next.ends_with('s')
            && matches!(after, "it" | "the" | "a" | "an" | "its" | "them" | "what" | "how" | "all")
    })
}

/// A question for a field.
pub(super) fn question(
    planner: &mut Planner<'_>,
    resource: ResourceId,
    field: FieldId,
    it: &[Segment],
) -> Vec<Segment> {
    let described = planner.world.base.world().resource(resource);
    let asks = planner.world.world_template.guide.asks(resource, field);
    let template = match asks.choose(planner.rng) {
        Some(ask) => Template::parse(ask),
        None => {
            let label = &described.field(field).label;
            let plain = [
                format!("What is the {label} of {{it}}?"),
                format!("Can you tell me the {label} of {{it}}?"),
                format!("Look up the {label} of {{it}} for me."),
                format!("I need the {label} of {{it}}."),
            ];
            Template::parse(plain.choose(planner.rng).map_or("", String::as_str))
        }
    };
    template.fill(&mut |name| (name == "it").then(|| it.to_vec())).unwrap_or_else(|| it.to_vec())
}

/// A sentence that states a field.
pub(super) fn statement(
    planner: &mut Planner<'_>,
    resource: ResourceId,
    field: FieldId,
    it: &[Segment],
    step: usize,
    path: &str,
    further: bool,
) -> Vec<AnswerPart> {
    let described = planner.world.base.world().resource(resource);
    let name: String = it
        .iter()
        .map(|segment| match segment {
            Segment::Text(text) => text.as_str(),
            Segment::Value(words) => words.as_str(),
        })
        .collect();
    // What is the user's is the assistant's "your".
    let name = name.strip_prefix("my ").map_or(name.clone(), |own| format!("your {own}"));
    let name = if name.starts_with("the only one") { format!("that {}", described.label) } else { name };
    let space = if further { " " } else { "" };
    if matches!(described.field(field).schema.kind, Type::Boolean) {
        let label = &described.field(field).label;
        // Which texts follow is a matter of the reply, not of the plan.
        let (yes, no) = match planner.rng.random_range(0..2) {
            0 => (format!("{space}Yes, {name} is {label}."), format!("{space}No, {name} is not {label}.")),
            _ => (
                format!("{space}{} is {label}.", capitalised(&name)),
                format!("{space}{} is not {label}.", capitalised(&name)),
            ),
        };
        return vec![AnswerPart::Truth { call: step, path: path.to_owned(), yes, no }];
    }
    let says = planner.world.world_template.guide.says(resource, field);
    let plain = format!("The {} of {{it}} is {{value}}.", described.field(field).label);
    let said = says.choose(planner.rng).cloned().unwrap_or(plain);
    let said = if further && !is_person(&described.label) { of_it(&said) } else { said };
    let template = Template::parse(&said);
    let style = planner.style();
    let filled = template.fill(&mut |slot| match slot {
        "it" => Some(vec![literal(name.clone())]),
        "value" => Some(vec![Segment::Value(String::new())]),
        _ => None,
    });
    let mut parts = Vec::new();
    if further {
        parts.push(AnswerPart::Text(" ".into()));
    }
    for (index, segment) in filled.unwrap_or_default().into_iter().enumerate() {
        parts.push(match segment {
            Segment::Text(text) if index == 0 && is_code(&text) => AnswerPart::Text(text),
            Segment::Text(text) if index == 0 => AnswerPart::Text(capitalised(&text)),
            Segment::Text(text) => AnswerPart::Text(text),
            Segment::Value(_) => AnswerPart::Leaf { call: step, path: path.to_owned(), style, bare: false },
        });
    }
    parts
}

/// Whether a text begins with a code, which is written as it is.
fn is_code(text: &str) -> bool {
    text.split(' ').next().is_some_and(|first| first.contains(|c: char| c.is_ascii_digit()))
}
