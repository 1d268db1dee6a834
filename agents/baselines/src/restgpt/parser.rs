//! The parser: what the caller wants to know, read from a reply by a program that the model writes.
//!
//! From the schema of the reply and an example it writes jq. Where that fails, it writes jq from a snippet of the reply itself,
//! and where that fails too, it reads the reply. Which way was taken is noted.

use diorama_llm::Message;
use diorama_seeds::task::Call;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::environment::Environment;
use crate::jq::Program;
use crate::mind::{Mind, ParseError, Stop};
use crate::prompts::{PromptError, render};
use crate::toolbox::shortened;
use crate::trace::Note;

/// The role's name.
pub const ROLE: &str = "parser";
/// Characters of a reply that a model is shown.
const SHOWN: usize = 6_000;
/// Characters of what was read.
const READ: usize = 3_000;
/// Characters of the example.
const EXAMPLE: usize = 600;

/// What the role is given.
#[derive(Clone, Debug, Serialize)]
pub struct Input<'a> {
    /// The API.
    pub api: &'a str,
    /// What it does.
    pub api_description: &'a str,
    /// The arguments of the call.
    pub arguments: &'a Json,
    /// JSON Schema of the reply.
    pub schema: &'a Json,
    /// A part of a reply, or the reply; cut at a whole item.
    pub example: &'a str,
    /// What the reply is about, as the caller says.
    pub about: &'a str,
    /// What is to be read.
    pub instructions: &'a str,
}

/// The messages that ask for jq from the schema.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn prompt(input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render("restgpt/parser", input)
}

/// The messages that ask for jq from a snippet.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn snippet_prompt(input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render("restgpt/snippet", input)
}

/// The messages that have the reply read.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn reader_prompt(input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render("restgpt/reader", input)
}

/// Reads a program: fences and a leading `jq` are taken off.
///
/// # Errors
/// When it is no jq.
pub fn parse(reply: &str) -> Result<Program, ParseError> {
    let fenced = reply.split("```").nth(1).map(|code| code.trim_start_matches("jq").trim());
    let text = fenced.unwrap_or(reply).trim().trim_matches('`');
    let text = text.strip_prefix("jq ").unwrap_or(text).trim();
    let text = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text);
    Program::read(text).map_err(|error| ParseError::expected(&format!("a jq program ({error})"), text))
}

/// Reads words.
///
/// # Errors
/// When there are none.
pub fn parse_words(reply: &str) -> Result<String, ParseError> {
    match reply.trim() {
        "" => Err(ParseError::expected("what the response says", reply)),
        words => Ok(words.to_owned()),
    }
}

/// A call with its reply, and what is to be read from it.
pub struct Reading<'a> {
    /// The call.
    pub call: &'a Call,
    /// What the API does.
    pub api_description: &'a str,
    /// The body.
    pub body: &'a Json,
    /// What the reply is about.
    pub about: &'a str,
    /// What is to be read.
    pub instructions: &'a str,
}

/// Reads a reply.
///
/// # Errors
/// When the environment or the model ends it.
pub async fn read(
    mind: &Mind,
    environment: &mut dyn Environment,
    reading: &Reading<'_>,
) -> Result<String, Stop> {
    let arguments = Json::Object(reading.call.arguments.clone());
    let schema = environment.reply_schema(&reading.call.api).unwrap_or_else(|| shape(reading.body));
    let (example, snippet) = (shortened(reading.body, EXAMPLE), shortened(reading.body, SHOWN));
    let mut input = Input {
        api: &reading.call.api,
        api_description: reading.api_description,
        arguments: &arguments,
        schema: &schema,
        example: &example,
        about: reading.about,
        instructions: reading.instructions,
    };
    for (way, next) in [(prompt as Way, "jq from a snippet"), (snippet_prompt as Way, "reading the reply")] {
        let because = match mind.ask_and_parse(environment, ROLE, way(&input)?, parse).await {
            Ok(program) => match output(&program, reading.body) {
                Ok(text) => return Ok(text),
                Err(because) => because,
            },
            Err(Stop::Malformed { what, .. }) => what,
            Err(stop) => return Err(stop),
        };
        environment.note(Note::FellBack { role: ROLE.to_owned(), to: next.to_owned(), because })?;
        input.example = &snippet;
    }
    mind.ask_and_parse(environment, ROLE, reader_prompt(&input)?, parse_words).await
}

type Way = fn(&Input<'_>) -> Result<Vec<Message>, PromptError>;

/// What a program puts out: values a line each; why there is nothing to use, where there is not.
fn output(program: &Program, body: &Json) -> Result<String, String> {
    let values = program.run(body).map_err(|error| error.to_string())?;
    let empty = |value: &Json| match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    };
    if values.iter().all(empty) {
        return Err("the program puts nothing out".to_owned());
    }
    let line = |value: &Json| match value {
        Json::String(text) => text.clone(),
        other => shortened(other, READ),
    };
    // A long list of outputs is cut at a whole one.
    let (mut text, mut left) = (String::new(), 0);
    for value in &values {
        let line = line(value);
        if text.len() + line.len() > READ && !text.is_empty() {
            left += 1;
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    if left > 0 {
        text.push_str(&format!("\n(and {left} more)"));
    }
    Ok(text)
}

/// The schema of a value, where the environment does not know that of the reply.
fn shape(value: &Json) -> Json {
    match value {
        Json::Null => json!({}),
        Json::Bool(_) => json!({"type": "boolean"}),
        Json::Number(_) => json!({"type": "number"}),
        Json::String(_) => json!({"type": "string"}),
        Json::Array(items) => json!({"type": "array", "items": items.first().map_or(json!({}), shape)}),
        Json::Object(members) => {
            let properties: serde_json::Map<String, Json> =
                members.iter().map(|(name, member)| (name.clone(), shape(member))).collect();
            json!({"type": "object", "properties": properties})
        }
    }
}
