//! The words of the assistant for calls that were made without a model: questions, and what is told in the end.

use crate::synthesis::render;
use diorama_baselines::prompts::PromptError;
use diorama_baselines::role_model::ParseError;
use diorama_engine::Body;
use diorama_grade::measures::leaf_schema;
use diorama_llm::Message;
use diorama_proof::Grounded;
use diorama_proof::answer::Asked;
use diorama_proof::binding::each;
use diorama_proof::candidate::CandidateGoal;
use diorama_seeds::model::World;
use diorama_seeds::task::Outcome;
use serde_json::{Value as Json, json};

use super::asking::{Asker, Question, Told, Unasked};
use super::lines::{Kind, kinds, says};
use super::prompts::PromptSet;
use super::transcript;

/// Its name in usage reports and files.
pub const STEP: &str = "wording";

/// What the model is told: the conversation, with a gap for each message of the assistant.
///
/// # Errors
/// When a variant of the prompt names what is not there.
pub fn prompt(prompts: &PromptSet, grounded: &Grounded, world: &World) -> Result<Vec<Message>, PromptError> {
    let gaps = gaps(grounded, world);
    let lines = transcript::lines(grounded, world, |number, _| {
        format!("[place {}: {}]", number + 1, gaps.get(number).map_or("", String::as_str))
    });
    prompts.render(STEP, &json!({ "system": grounded.system, "lines": lines, "count": gaps.len() }))
}

/// The JSON Schema of its answer.
#[must_use]
pub fn schema(count: usize) -> Json {
    let says =
        json!({ "type": "array", "items": { "type": "string" }, "minItems": count, "maxItems": count });
    json!({ "type": "object", "required": ["says"], "properties": { "says": says }, "additionalProperties": false })
}

/// Reads its answer.
///
/// # Errors
/// When there is not a text for every gap.
pub fn parse(answer: &Json, count: usize) -> Result<Vec<String>, ParseError> {
    let texts = answer.get("says").and_then(Json::as_array);
    let texts =
        texts.ok_or_else(|| ParseError::expected("an object with a list `says`", &answer.to_string()))?;
    let texts: Option<Vec<String>> = texts.iter().map(|text| text.as_str().map(str::to_owned)).collect();
    match texts {
        Some(texts) if texts.len() == count => Ok(texts),
        Some(texts) => Err(ParseError(format!("found {} texts under `says`, expected {count}", texts.len()))),
        None => Err(ParseError::expected("texts under `says`", &answer.to_string())),
    }
}

/// Asks for the assistant's words.
///
/// # Errors
/// When the model has nothing of use to say.
pub async fn ask(
    asker: &Asker,
    number: u32,
    grounded: &Grounded,
    world: &World,
) -> Result<Told<Vec<String>>, Unasked> {
    let count = says(&grounded.candidate).len();
    let messages = prompt(asker.prompts(), grounded, world)?;
    asker
        .ask(Question { step: STEP, number, messages, schema: schema(count) }, |json| parse(json, count))
        .await
}

/// Asks once more, with what is wrong.
///
/// # Errors
/// As [`ask`].
pub async fn again(
    asker: &Asker,
    number: u32,
    told: Told<Vec<String>>,
    why: &str,
) -> Result<Told<Vec<String>>, Unasked> {
    let count = told.value.len();
    let question = Question { step: STEP, number, messages: told.messages, schema: schema(count) };
    asker.again(question, why, |json| parse(json, count)).await
}

/// What belongs into each gap.
fn gaps(grounded: &Grounded, world: &World) -> Vec<String> {
    let mut gaps = Vec::new();
    for (number, goal) in grounded.candidate.goals.iter().enumerate() {
        let kinds = kinds(goal);
        let mut users = 0;
        for (at, turn) in goal.turns.iter().enumerate() {
            users += usize::from(turn.user.is_some());
            let Some(words) = &turn.say else { continue };
            let answered = goal.turns.get(at + 1).is_some_and(|next| next.user.is_some());
            gaps.push(if turn.ends.is_some() {
                end(grounded, number, world)
            } else if answered {
                question(goal, kinds.get(users + 1), words)
            } else {
                format!("what is about to be done; it means: {words}")
            });
        }
    }
    gaps
}

fn question(goal: &CandidateGoal, answered: Option<&Kind>, words: &str) -> String {
    match answered {
        Some(Kind::Held(held)) => {
            let names: Vec<&str> = held
                .iter()
                .filter_map(|at| goal.withheld.get_index(*at))
                .map(|(about, _)| about.as_str())
                .collect();
            format!("ask the user for: {}", names.join(", "))
        }
        _ => format!("a message that means: {words}"),
    }
}

/// The content of the last words of a goal.
fn end(grounded: &Grounded, goal: usize, world: &World) -> String {
    let Some(run) = grounded.goals.get(goal) else { return String::new() };
    let facts: Vec<String> = run.asked.iter().filter_map(|asked| fact(grounded, asked, world)).collect();
    let told = if facts.is_empty() { String::new() } else { format!("; tell: {}", facts.join("; ")) };
    match run.outcome {
        Outcome::Refused => format!("say that the request cannot be carried out, and why{told}"),
        _ if run.calls.is_empty() => format!("a last answer that means: {}", run.answer),
        _ if facts.is_empty() => "say in a sentence what has been done, as the replies show it".to_owned(),
        _ => format!("the answer{told}"),
    }
}

/// A fact in words: what it is, and its value.
fn fact(grounded: &Grounded, asked: &Asked, world: &World) -> Option<String> {
    let entry = grounded.entries.get(asked.call())?;
    let words = |body: &Body| match body {
        Body::Leaf(value, origin) => Some(render::told(value, &leaf_schema(origin, world), &world.zone, 0)),
        Body::List(items) => Some(items.len().to_string()),
        Body::Object(_) => None,
    };
    let (about, told) = match asked {
        Asked::Leaf { path, about, .. } | Asked::Count { path, about, .. } => {
            (about, words(entry.reply.body.at(path)?)?)
        }
        Asked::Each { array, member, about, .. } => {
            let items: Option<Vec<String>> =
                each(&entry.reply.body, array, member)?.into_iter().map(words).collect();
            (about, items?.join(", "))
        }
    };
    Some(format!("{about} = {told}"))
}
