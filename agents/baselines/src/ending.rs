//! How agents that answer in words end a goal: the words as they are, or read into `finish` where answers are structured.

use diorama_llm::{Message, json_in};
use serde::Serialize;
use serde_json::Value as Json;

use crate::environment::{Answer, Environment, EnvironmentError, Finish};
use crate::mind::{Mind, ParseError, Stop};
use crate::prompts::{PromptError, render};
use crate::toolbox::{finish_schema, shortened, transcript};
use crate::trace::Note;

const ROLE: &str = "ending";
/// Characters of what was found out that are shown.
const SHOWN: usize = 12_000;

/// What the role is given.
#[derive(Clone, Debug, Serialize)]
pub struct Input<'a> {
    /// The conversation.
    pub conversation: &'a str,
    /// What was done and found out.
    pub findings: &'a str,
    /// The answer in words.
    pub answer: &'a str,
    /// The schema to fill in.
    pub schema: &'a Json,
}

/// The messages of the role.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn prompt(input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render("ending/report", input)
}

/// Reads an ending.
///
/// # Errors
/// When it is none.
pub fn parse(reply: &str) -> Result<Finish, ParseError> {
    let json = json_in(reply).map_err(|error| ParseError(error.to_string()))?;
    serde_json::from_value(json).map_err(|error| ParseError(format!("the ending: {error}")))
}

/// Ends the open goal with an answer in words; `findings` is what was done and found out.
///
/// # Errors
/// When the environment or the model ends it, or no ending can be read.
pub async fn end(
    mind: &Mind,
    environment: &mut dyn Environment,
    answer: &str,
    findings: &str,
) -> Result<Answer, Stop> {
    let Some(schema) = finish_schema(environment.view()).cloned() else {
        return Ok(environment.say(answer).await?);
    };
    let conversation = transcript(environment.view());
    let findings = tail(findings, SHOWN);
    let input = Input { conversation: &conversation, findings: &findings, answer, schema: &schema };
    let mut messages = prompt(&input)?;
    let mut refused = false;
    loop {
        let mut end = mind.ask_and_parse(environment, ROLE, messages.clone(), parse).await?;
        if end.message.is_empty() {
            end.message = answer.to_owned();
        }
        match environment.finish(&end).await {
            Ok(answer) => return Ok(answer),
            Err(EnvironmentError::Refused { detail, .. }) => {
                environment.note(Note::Malformed { role: ROLE.to_owned(), what: detail.clone() })?;
                if refused {
                    return Err(Stop::Malformed { role: ROLE.to_owned(), what: detail });
                }
                refused = true;
                messages.push(Message::assistant(serde_json::to_string(&end).unwrap_or_default()));
                messages.push(Message::user(format!("That ending was refused: {detail}. Give it again.")));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// The end of a text, from the start of a line.
fn tail(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().skip(length - most).collect();
    cut.split_once('\n').map_or(cut.clone(), |(_, rest)| rest.to_owned())
}

/// A reply as findings show it.
#[must_use]
pub fn finding(call: &diorama_seeds::task::Call, status: u16, body: &Json) -> String {
    let arguments = Json::Object(call.arguments.clone());
    format!("{}({arguments}) answered {status}: {}", call.api, shortened(body, 3000))
}
