//! The API selector: which API carries out a step. It sees names and descriptions, and no document.

use diorama_llm::Message;
use serde::Serialize;

use super::planner::without_label;
use crate::mind::ParseError;
use crate::prompts::{PromptError, render};
use crate::toolbox::Document;

/// The role's name.
pub const ROLE: &str = "selector";

/// An API as the selector sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// A call that was planned, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Called {
    /// The instruction that it follows, of the second and later ones.
    pub instruction: Option<String>,
    /// The plan of the call.
    pub calling: String,
    /// What came of it.
    pub response: String,
}

/// What the role is given.
#[derive(Clone, Debug, Serialize)]
pub struct Input<'a> {
    /// The visible APIs.
    pub apis: &'a [Known],
    /// What is known.
    pub background: &'a str,
    /// The step.
    pub plan: &'a str,
    /// Calls for this step so far.
    pub history: &'a [Called],
    /// What the planner says of the last of them.
    pub instruction: Option<&'a str>,
}

/// What the selector wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selected {
    /// To call these, by this plan.
    Call {
        /// The plan of the call.
        calling: String,
        /// The APIs it names.
        apis: Vec<String>,
    },
    /// Nothing: the answer is known.
    Known(String),
}

/// The names and descriptions of APIs.
#[must_use]
pub fn known(documents: &[Document]) -> Vec<Known> {
    let known = |document: &Document| Known {
        name: document.name.clone(),
        description: document.description.clone(),
    };
    documents.iter().map(known).collect()
}

/// The messages of the role.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn prompt(input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render("restgpt/selector", input)
}

/// Reads a selection.
///
/// # Errors
/// When it names no API that is visible.
pub fn parse(reply: &str, apis: &[Known]) -> Result<Selected, ParseError> {
    let reply = reply.split("API response:").next().unwrap_or_default();
    let text = without_label(reply, "API calling");
    if let Some(rest) = text.strip_prefix("No API call needed") {
        let answer = rest.rsplit("Final Answer:").next().unwrap_or_default();
        return Ok(Selected::Known(answer.trim_start_matches(['.', ' ', '\n']).trim().to_owned()));
    }
    let mut named: Vec<String> = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')) {
        if apis.iter().any(|api| api.name == word) && !named.iter().any(|name| name == word) {
            named.push(word.to_owned());
        }
    }
    if named.is_empty() {
        let names: Vec<&str> = apis.iter().map(|api| &*api.name).collect();
        return Err(ParseError::expected(
            &format!("the name of one of the APIs ({}), or `No API call needed.`", names.join(", ")),
            text,
        ));
    }
    Ok(Selected::Call { calling: text.to_owned(), apis: named })
}
