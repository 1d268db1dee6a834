//! The parser: reads a reply by a program that the model writes, or lets the model read it.
//!
//! First, it asks for jq from the schema of the reply and an example. If that fails, it asks for jq from a
//! snippet of the reply itself. If that fails, too, the model reads the reply. The trace records the
//! approach.

use diorama_seeds::task::Call;
use minijinja::{Value, context};
use serde_json::{Value as Json, json};

use crate::episode::{Episode, Role, parse_words};
use crate::jq::{JqRunner, Program};
use crate::role_model::{ParseError, Stop};
use crate::toolbox::shorten;

const FROM_SCHEMA: Role = Role { name: "parser", prompt: "restgpt/parser" };
const FROM_SNIPPET: Role = Role { name: "parser", prompt: "restgpt/snippet" };
const READER: Role = Role { name: "parser", prompt: "restgpt/reader" };
/// Maximum number of characters of the example beside a schema.
const MAX_EXAMPLE_CHARS: usize = 600;
/// Maximum number of characters of a reply in a prompt.
const MAX_SNIPPET_CHARS: usize = 6_000;
/// Maximum number of characters of a program's outputs.
const MAX_OUTPUT_CHARS: usize = 3_000;

/// The parsing mode of replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsing {
    /// By a program that the parser writes from the schema of the reply.
    Program,
    /// By a model that reads the JSON itself: the ablation "w/o Parser" of section 5.1.
    Model,
}

/// Reads the body of a reply. `input` has the API and the caller's instructions.
pub(super) async fn read(
    episode: &mut Episode<'_>,
    parsing: Parsing,
    call: &Call,
    body: &Json,
    input: Value,
) -> Result<String, Stop> {
    // The schema in the service's document takes precedence over the one from the API's behaviour.
    let promised = episode.operation(&call.api).and_then(|operation| operation.reply);
    let schema = promised.or_else(|| episode.reply_schema(&call.api)).unwrap_or_else(|| schema_of(body));
    let input = context! { schema, arguments => call.arguments, ..input };
    let shown = |most| context! { example => shorten(body, most), ..input.clone() };
    let programs = [
        (FROM_SCHEMA, MAX_EXAMPLE_CHARS, "jq from a snippet"),
        (FROM_SNIPPET, MAX_SNIPPET_CHARS, "reading the reply"),
    ];
    for (role, most, next) in programs.into_iter().filter(|_| parsing == Parsing::Program) {
        let because = match episode.ask(role, shown(most), parse_program).await {
            Ok(program) => match run(episode.jq, &program, body) {
                Ok(text) => return Ok(text),
                Err(because) => because,
            },
            Err(Stop::Malformed { what, .. }) => what,
            Err(stop) => return Err(stop),
        };
        episode.fall_back(role.name, next, because)?;
    }
    let parse = |reply: &str| parse_words(reply, "what the response says");
    episode.ask(READER, shown(MAX_SNIPPET_CHARS), parse).await
}

/// Parses a program, without code fences and a leading `jq`.
fn parse_program(reply: &str) -> Result<Program, ParseError> {
    let fenced = reply.split("```").nth(1).map(|code| code.trim_start_matches("jq").trim());
    let text = fenced.unwrap_or(reply).trim().trim_matches('`');
    let text = text.strip_prefix("jq ").unwrap_or(text).trim();
    let text = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text);
    Program::read(text).map_err(|error| ParseError::expected(&format!("a jq program ({error})"), text))
}

/// Runs a program and returns its outputs, one line each. A program without output, or with empty lists only,
/// has found nothing. The error states why the outputs are unusable.
fn run(jq: Option<&dyn JqRunner>, program: &Program, body: &Json) -> Result<String, String> {
    let jq = jq.ok_or("no program can be run here")?;
    let values = jq.run(program, body).map_err(|error| error.to_string())?;
    let empty = |value: &Json| match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    };
    // No output at all counts as an empty list. Example: `.rooms[] | select(.free)`.
    let is_empty_list = |value: &Json| value.as_array().is_some_and(Vec::is_empty);
    if values.iter().all(is_empty_list) {
        return Ok("nothing found".to_owned());
    }
    if values.iter().all(empty) {
        return Err("the program puts nothing out".to_owned());
    }
    let text_of = |value: &Json| match value {
        Json::String(text) => text.clone(),
        other => shorten(other, MAX_OUTPUT_CHARS),
    };
    // Long outputs are cut between two values.
    let (mut text, mut left) = (String::new(), 0);
    for value in &values {
        let line = text_of(value);
        if text.len() + line.len() > MAX_OUTPUT_CHARS && !text.is_empty() {
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

/// Returns the schema of one sample value.
fn schema_of(value: &Json) -> Json {
    match value {
        Json::Null => json!({}),
        Json::Bool(_) => json!({"type": "boolean"}),
        Json::Number(_) => json!({"type": "number"}),
        Json::String(_) => json!({"type": "string"}),
        Json::Array(items) => json!({"type": "array", "items": items.first().map_or(json!({}), schema_of)}),
        Json::Object(members) => {
            let properties: serde_json::Map<String, Json> =
                members.iter().map(|(name, member)| (name.clone(), schema_of(member))).collect();
            json!({"type": "object", "properties": properties})
        }
    }
}
