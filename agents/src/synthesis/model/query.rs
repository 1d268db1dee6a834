//! The query agent: what a user says for a chain of calls that has run.

use diorama_baselines::mind::ParseError;
use diorama_baselines::prompts::PromptError;
use diorama_llm::Message;
use serde_json::{Value as Json, json};

use super::asking::{Asker, Question, Told, Unasked};
use super::lines::UserLines;
use super::plan::Brief;
use super::prompts::PromptSet;

/// Its name in usage reports and files.
pub const STEP: &str = "query";

/// What the agent is told.
///
/// # Errors
/// When a variant of the prompt names what is not there.
pub fn prompt(prompts: &PromptSet, brief: &Brief) -> Result<Vec<Message>, PromptError> {
    prompts.render(STEP, brief)
}

/// The JSON Schema of its answer.
#[must_use]
pub fn schema(brief: &Brief) -> Json {
    let line = json!({ "type": "string" });
    let goals = brief.goals.iter().map(|goal| {
        let lines = |count: usize| json!({ "type": "array", "items": line, "minItems": count, "maxItems": count });
        let mut properties = serde_json::Map::from_iter([("opening".to_owned(), line.clone())]);
        for (name, count) in [("held", goal.held.len()), ("later", goal.later.len())] {
            if count > 0 {
                properties.insert(name.to_owned(), lines(count));
            }
        }
        let required: Vec<&String> = properties.keys().collect();
        json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
    });
    let goals: Vec<Json> = goals.collect();
    let count = goals.len();
    let all_alike = goals.windows(2).all(|pair| pair[0] == pair[1]);
    let items = if all_alike { goals[0].clone() } else { json!({ "anyOf": goals }) };
    json!({
        "type": "object", "required": ["goals"], "additionalProperties": false,
        "properties": { "goals": { "type": "array", "items": items, "minItems": count, "maxItems": count } },
    })
}

/// Reads its answer.
///
/// # Errors
/// When there are other lines than the plan has.
pub fn parse(answer: &Json, plan: &UserLines) -> Result<UserLines, ParseError> {
    let lines: UserLines = serde_json::from_value(answer.clone())
        .map_err(|error| ParseError(format!("the answer is not of the form asked for: {error}")))?;
    if lines.fits(plan) {
        return Ok(lines);
    }
    let counts = |lines: &UserLines| {
        let counts =
            lines.goals.iter().map(|goal| format!("{} held and {} later", goal.held.len(), goal.later.len()));
        format!("{} goals with {}", lines.goals.len(), counts.collect::<Vec<_>>().join("; "))
    };
    Err(ParseError(format!("found {}, expected {}", counts(&lines), counts(plan))))
}

/// Asks for the lines of a plan.
///
/// # Errors
/// When the model has nothing of use to say.
pub async fn ask(
    asker: &Asker,
    number: u32,
    brief: &Brief,
    plan: &UserLines,
) -> Result<Told<UserLines>, Unasked> {
    let messages = prompt(asker.prompts(), brief)?;
    asker
        .ask(Question { step: STEP, number, messages, schema: schema(brief) }, |json| parse(json, plan))
        .await
}

/// Asks once more, with what is wrong.
///
/// # Errors
/// As [`ask`].
pub async fn again(
    asker: &Asker,
    number: u32,
    brief: &Brief,
    plan: &UserLines,
    told: Told<UserLines>,
    why: &str,
) -> Result<Told<UserLines>, Unasked> {
    let question = Question { step: STEP, number, messages: told.messages, schema: schema(brief) };
    asker.again(question, why, |json| parse(json, plan)).await
}
