//! The planner: one step in natural language at a time, or the end.

use diorama_llm::Message;
use serde::Serialize;

use crate::mind::ParseError;
use crate::prompts::{PromptError, render};

/// The role's name.
pub const ROLE: &str = "planner";

/// A step, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Done {
    /// The step.
    pub plan: String,
    /// What came of it.
    pub response: String,
}

/// What the role is given.
#[derive(Clone, Debug, Serialize)]
pub struct Input<'a> {
    /// The system message.
    pub system: &'a str,
    /// What the user wants.
    pub request: &'a str,
    /// What is known from goals before.
    pub background: &'a str,
    /// The steps so far.
    pub history: &'a [Done],
}

/// What the planner wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// This step next.
    Step(String),
    /// The last step is not fulfilled: another API, by this instruction.
    Continue(String),
    /// A question to the user.
    Ask(String),
    /// It is finished; the answer.
    End(String),
}

/// The messages of the role.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn prompt(input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render("restgpt/planner", input)
}

/// Reads a plan; a response that a model makes up is not read.
///
/// # Errors
/// When nothing was planned.
pub fn parse(reply: &str) -> Result<Plan, ParseError> {
    let reply = reply.split("API response:").next().unwrap_or_default();
    if let Some((_, answer)) = reply.split_once("Final Answer:") {
        return match answer.trim() {
            "" => Err(ParseError::expected("words after `Final Answer:`", reply)),
            answer => Ok(Plan::End(answer.to_owned())),
        };
    }
    let text = without_label(reply, "Plan step");
    let after = |word: &str| {
        let rest = text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word));
        rest.and(text.get(word.len()..)).map(|rest| rest.trim_start_matches(['.', ':', ',', ' ']).to_owned())
    };
    if let Some(instruction) = after("Continue") {
        return Ok(Plan::Continue(instruction));
    }
    if let Some(question) = after("Ask:").filter(|question| !question.is_empty()) {
        return Ok(Plan::Ask(question));
    }
    match text {
        "" => Err(ParseError::expected("a plan step, `Continue`, `Ask:` or `Final Answer:`", reply)),
        step => Ok(Plan::Step(step.to_owned())),
    }
}

/// A text without a label and its number: `Plan step 2:`.
pub(super) fn without_label<'a>(text: &'a str, label: &str) -> &'a str {
    let text = text.trim();
    let Some(rest) = text.strip_prefix(label) else { return text };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    rest.strip_prefix(':').map_or(text, str::trim)
}

/// What a step may build on: what is known from goals before, and what came of the steps so far.
#[must_use]
pub fn known(background: &str, history: &[Done]) -> String {
    let responses = history.iter().map(|done| &*done.response);
    std::iter::once(background)
        .chain(responses)
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}
