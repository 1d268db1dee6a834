//! The planner, the API selector and the caller: their prompts, and the forms of their replies.

use diorama_llm::json_in;
use diorama_seeds::task::Call;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::episode::Role;
use crate::role_model::ParseError;
use crate::toolbox::Document;

/// Says one step in natural language at a time, or the end.
pub(crate) const PLANNER: Role = Role { name: "planner", prompt: "restgpt/planner" };
/// Chooses the API that carries out a step, by names and descriptions.
pub(crate) const SELECTOR: Role = Role { name: "selector", prompt: "restgpt/selector" };
/// Gives the arguments of a planned call. It sees the documents of the planned APIs alone.
pub(crate) const CALLER: Role = Role { name: "caller", prompt: "restgpt/caller" };

/// A step of a plan, and its result.
#[derive(Serialize)]
pub(crate) struct StepRecord {
    pub plan: String,
    pub response: String,
}

/// A reply of the planner.
pub(crate) enum Plan {
    /// The next step.
    Step(String),
    /// The last step is not fulfilled: another API, by this instruction.
    Continue(String),
    /// A question to the user.
    Ask(String),
    /// The final answer.
    End(String),
}

/// A reply of the selector.
pub(crate) enum Selection {
    /// Call these APIs, by the plan of the call.
    Call { calling: String, apis: Vec<String> },
    /// No call is needed: the answer.
    Answer(String),
}

/// A reply of the caller.
pub(crate) enum CallerTurn {
    /// A call, with the subject of its reply and the question that the reply answers.
    Operation { call: Call, description: String, instructions: String },
    /// The result of the planned call, in words.
    Result(String),
}

/// Parses a reply of the planner up to a response that the model makes up.
pub(crate) fn parse_plan(reply: &str) -> Result<Plan, ParseError> {
    let reply = reply.split("API response:").next().unwrap_or_default();
    if let Some((_, answer)) = reply.split_once("Final Answer:") {
        return match answer.trim() {
            "" => Err(ParseError::expected("words after `Final Answer:`", reply)),
            answer => Ok(Plan::End(answer.to_owned())),
        };
    }
    let text = without_label(reply, "Plan step");
    let after = |word: &str| {
        let start = text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word));
        start.and(text.get(word.len()..)).map(|end| end.trim_start_matches(['.', ':', ',', ' ']).to_owned())
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

/// Parses a reply of the selector, which has to name a visible API or to say that none is needed.
pub(crate) fn parse_selection(reply: &str, apis: &[Document]) -> Result<Selection, ParseError> {
    let reply = reply.split("API response:").next().unwrap_or_default();
    let text = without_label(reply, "API calling");
    if let Some(end) = text.strip_prefix("No API call needed") {
        let answer = end.rsplit("Final Answer:").next().unwrap_or_default();
        return Ok(Selection::Answer(answer.trim_start_matches(['.', ' ', '\n']).trim().to_owned()));
    }
    let mut named: Vec<String> = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')) {
        if apis.iter().any(|api| api.name == word) && !named.iter().any(|name| name == word) {
            named.push(word.to_owned());
        }
    }
    if named.is_empty() {
        let names: Vec<&str> = apis.iter().map(|api| &*api.name).collect();
        let names = names.join(", ");
        let expected = format!("the name of one of the APIs ({names}), or `No API call needed.`");
        return Err(ParseError::expected(&expected, text));
    }
    Ok(Selection::Call { calling: text.to_owned(), apis: named })
}

/// Parses a reply of the caller up to a response that the model makes up.
pub(crate) fn parse_caller_turn(reply: &str, planned: &[String]) -> Result<CallerTurn, ParseError> {
    let reply = reply.split("\nResponse:").next().unwrap_or_default();
    let operation = reply.find("Operation:");
    let result = reply.find("Execution Result:");
    match (operation, result) {
        (Some(at), result) if result.is_none_or(|result| at < result) => {
            parse_operation(&reply[at + "Operation:".len()..], planned)
        }
        (_, Some(at)) => match reply[at + "Execution Result:".len()..].trim() {
            "" => Err(ParseError::expected("words after `Execution Result:`", reply)),
            result => Ok(CallerTurn::Result(result.to_owned())),
        },
        _ => Err(ParseError::expected("`Operation:` and `Input:`, or `Execution Result:`", reply)),
    }
}

fn parse_operation(text: &str, planned: &[String]) -> Result<CallerTurn, ParseError> {
    let missing = || ParseError::expected("`Input:` with one JSON object after the operation", text);
    let (name, input) = text.split_once("Input:").ok_or_else(missing)?;
    let name = name.trim().trim_matches(['`', '"', '*']);
    let Some(api) = planned.iter().find(|planned| *planned == name) else {
        let expected = format!("an operation of the plan ({})", planned.join(", "));
        return Err(ParseError::expected(&expected, name));
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
    Ok(CallerTurn::Operation {
        call: Call { api: api.clone(), arguments },
        description: text("description"),
        instructions: text("output_instructions"),
    })
}

/// A text without a label and its number, such as `Plan step 2:`.
fn without_label<'a>(text: &'a str, label: &str) -> &'a str {
    let text = text.trim();
    let Some(end) = text.strip_prefix(label) else { return text };
    let end = end.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    end.strip_prefix(':').map_or(text, str::trim)
}

/// The background of the next step: results of earlier goals, and of the steps so far.
pub(crate) fn join_results(background: &str, history: &[StepRecord]) -> String {
    let responses = history.iter().map(|step| &*step.response);
    let texts = std::iter::once(background).chain(responses).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}
