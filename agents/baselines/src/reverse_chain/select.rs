//! API selection: one API for a task, of the candidates.

use diorama_llm::{Message, json_in};
use serde::Serialize;
use serde_json::Value as Json;

use crate::mind::ParseError;
use crate::prompts::{PromptError, render};
use crate::toolbox::Document;

/// The role's name.
pub const ROLE: &str = "select";

/// What the role is given.
#[derive(Clone, Debug, Serialize)]
pub struct Input<'a> {
    /// The system message.
    pub system: &'a str,
    /// The APIs to choose from.
    pub candidates: &'a [Document],
    /// The request, or the description of a missing argument.
    pub task: &'a str,
    /// Whether the task is the request.
    #[serde(rename = "final")]
    pub is_final: bool,
}

/// The messages of the role.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn prompt(input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render("reverse-chain/select", input)
}

/// Reads a choice; none where no candidate does it.
///
/// # Errors
/// When it is no candidate.
pub fn parse(reply: &str, candidates: &[Document]) -> Result<Option<String>, ParseError> {
    let json = json_in(reply).map_err(|error| ParseError(error.to_string()))?;
    match json.get("api") {
        Some(Json::Null) => Ok(None),
        Some(Json::String(name)) if candidates.iter().any(|known| known.name == *name) => {
            Ok(Some(name.clone()))
        }
        _ => {
            let names: Vec<&str> = candidates.iter().map(|known| &*known.name).collect();
            Err(ParseError::expected(&format!("{{\"api\": ..}} with one of {}", names.join(", ")), reply))
        }
    }
}
