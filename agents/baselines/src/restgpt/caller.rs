//! The caller: the arguments of a planned call. It sees the documents of the planned APIs, and no other.

use diorama_llm::{Message, json_in};
use diorama_seeds::task::Call;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::mind::ParseError;
use crate::prompts::{PromptError, render};
use crate::toolbox::Document;

/// The role's name.
pub const ROLE: &str = "caller";

/// What the role is given.
#[derive(Clone, Debug, Serialize)]
pub struct Input<'a> {
    /// The system message, which shows the clock.
    pub system: &'a str,
    /// The documents of the planned APIs.
    pub documents: Vec<&'a Document>,
    /// What is known.
    pub background: &'a str,
    /// The plan of the call.
    pub plan: &'a str,
}

/// What the caller wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    /// To make a call.
    Operation {
        /// The call.
        call: Call,
        /// What the reply will be about.
        description: String,
        /// What is to be read from it.
        instructions: String,
    },
    /// It is done: what came of it.
    Result(String),
}

/// The messages of the role.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn prompt(input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render("restgpt/caller", input)
}

/// Reads a turn; a response that a model makes up is not read.
///
/// # Errors
/// When it is neither an operation of a planned API nor the result.
pub fn parse(reply: &str, planned: &[String]) -> Result<Called, ParseError> {
    let reply = reply.split("\nResponse:").next().unwrap_or_default();
    let operation = reply.find("Operation:");
    let result = reply.find("Execution Result:");
    match (operation, result) {
        (Some(at), result) if result.is_none_or(|result| at < result) => {
            parse_operation(&reply[at + "Operation:".len()..], planned)
        }
        (_, Some(at)) => match reply[at + "Execution Result:".len()..].trim() {
            "" => Err(ParseError::expected("words after `Execution Result:`", reply)),
            result => Ok(Called::Result(result.to_owned())),
        },
        _ => Err(ParseError::expected("`Operation:` and `Input:`, or `Execution Result:`", reply)),
    }
}

fn parse_operation(text: &str, planned: &[String]) -> Result<Called, ParseError> {
    let missing = || ParseError::expected("`Input:` with one JSON object after the operation", text);
    let (name, input) = text.split_once("Input:").ok_or_else(missing)?;
    let name = name.trim().trim_matches(['`', '"', '*']);
    let Some(api) = planned.iter().find(|planned| *planned == name) else {
        return Err(ParseError::expected(
            &format!("an operation of the plan ({})", planned.join(", ")),
            name,
        ));
    };
    let Ok(Json::Object(mut input)) = json_in(input) else { return Err(missing()) };
    let arguments = match input.remove("arguments") {
        Some(Json::Object(arguments)) => arguments,
        None | Some(Json::Null) => Map::new(),
        Some(other) => {
            return Err(ParseError::expected("`arguments` that are a JSON object", &other.to_string()));
        }
    };
    let text = |name: &str| input.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    Ok(Called::Operation {
        call: Call { api: api.clone(), arguments },
        description: text("description"),
        instructions: text("output_instructions"),
    })
}
