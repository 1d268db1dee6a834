//! Owns the planner, the API selector and the caller: their prompts and reply formats.

use diorama_llm::json_in;
use diorama_seeds::task::Call;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::apis::{NamedApi, NamedApis};
use crate::episode::Role;
use crate::labels::{cut_before, drop_lines, find_final_answer, split_anywhere, split_at, strip_marks};
use crate::operation::RequestPlan;
use crate::role_model::ParseError;

/// States one step in natural language, or ends.
pub(crate) const PLANNER: Role = Role { name: "planner", prompt: "restgpt/planner" };
/// Chooses the API for a step by names and descriptions.
pub(crate) const SELECTOR: Role = Role { name: "selector", prompt: "restgpt/selector" };
/// Writes a planned call as a request. It sees only the OpenAPI text of the planned APIs.
pub(crate) const CALLER: Role = Role { name: "caller", prompt: "restgpt/caller_request" };
/// Writes a planned call as the name of a tool with arguments.
pub(crate) const TOOL_CALLER: Role = Role { name: "caller", prompt: "restgpt/caller" };

/// The label of a step, before its number.
const STEP: &str = "Plan step";
const CONTINUE: &str = "continue";

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
    /// The last step is not fulfilled. Another API should continue it, by this instruction.
    Continue(String),
    /// A question to the user.
    Ask(String),
    /// The final answer.
    End(String),
}

/// A reply of the selector.
pub(crate) enum Selection {
    /// Call the APIs of these tools, by this plan.
    Call { calling: String, apis: Vec<String> },
    /// No call is needed. The text is the answer.
    Answer(String),
}

/// A reply of the caller.
pub(crate) enum CallerTurn {
    /// A call, with the subject of its reply and the question that the reply answers.
    Operation { call: Call, description: String, instructions: String },
    /// The result of the planned call, in words.
    Result(String),
}

/// Parses the planner's reply, up to a response that the model invents. Lines of thought are ignored.
pub(crate) fn parse_plan(reply: &str) -> Result<Plan, ParseError> {
    let own = cut_before(reply, "API response");
    if let Some(answer) = find_final_answer(own) {
        return match answer {
            "" => Err(ParseError::expected("words after `Final Answer:`", reply)),
            answer => Ok(Plan::End(answer.to_owned())),
        };
    }
    let text = drop_lines(own, "Thought");
    let text = first_step(&text);
    if let Some(instruction) = continued(text) {
        return Ok(Plan::Continue(instruction.to_owned()));
    }
    match (split_at(text, "Ask"), text) {
        (Some(("", question)), _) if !question.is_empty() => Ok(Plan::Ask(question.to_owned())),
        (_, "") => Err(ParseError::expected("a plan step, `Continue`, `Ask:` or `Final Answer:`", reply)),
        (_, step) => Ok(Plan::Step(step.to_owned())),
    }
}

/// Returns the text of the first non-empty step, without later steps. Returns the whole text if no line
/// begins with a step.
fn first_step(text: &str) -> &str {
    let Some((_, mut step)) = split_at(text, STEP) else { return text.trim() };
    while let Some((words, next)) = split_at(step, STEP) {
        if !words.is_empty() {
            return words;
        }
        step = next;
    }
    step
}

/// Returns the instruction after `Continue.` or `Continue:`. A step may begin with the same word.
fn continued(text: &str) -> Option<&str> {
    let words = text.trim_start_matches(['*', '`', '"', ' ']);
    let start = words.get(..CONTINUE.len()).filter(|start| start.eq_ignore_ascii_case(CONTINUE))?;
    let rest = words.get(start.len()..)?.trim_start_matches(['*', '`', '"']);
    (rest.trim().is_empty() || rest.starts_with(['.', ':', '\n']))
        .then(|| rest.trim_start_matches(['.', ':', '*', '`', '"', ' ', '\n']))
}

/// Parses the selector's reply, which must name a visible API or state that none is needed.
pub(crate) fn parse_selection(reply: &str, apis: &NamedApis) -> Result<Selection, ParseError> {
    let text = drop_lines(cut_before(reply, "API response"), "Thought");
    let text = split_at(&text, "API calling").map_or(text.trim(), |(_, calling)| calling);
    if let Some(end) = strip_marks(text).strip_prefix("No API call needed") {
        let answer = find_final_answer(end).unwrap_or(end);
        return Ok(Selection::Answer(answer.trim_start_matches(['.', '*', ' ', '\n']).trim().to_owned()));
    }
    let apis = apis.named_in(text, ", or `No API call needed.`");
    let apis = apis.map_err(|expected| ParseError::expected(&expected, reply))?;
    Ok(Selection::Call { calling: text.to_owned(), apis })
}

/// Parses the caller's reply, up to a response that the model invents.
pub(crate) fn parse_caller_turn(reply: &str, planned: &[&NamedApi]) -> Result<CallerTurn, ParseError> {
    let own = cut_before(reply, "Response");
    let (operation, result) = (split_at(own, "Operation"), split_at(own, "Execution Result"));
    match (operation, result) {
        (Some((start, text)), result) if result.is_none_or(|(other, _)| start.len() < other.len()) => {
            parse_operation(text, planned)
        }
        (_, Some((_, ""))) => Err(ParseError::expected("words after `Execution Result:`", reply)),
        (_, Some((_, result))) => Ok(CallerTurn::Result(result.to_owned())),
        _ => Err(ParseError::expected("`Operation:` and `Input:`, or `Execution Result:`", reply)),
    }
}

fn parse_operation(text: &str, planned: &[&NamedApi]) -> Result<CallerTurn, ParseError> {
    let missing = || ParseError::expected("`Input:` with one JSON object after the operation", text);
    let (name, input) = split_anywhere(text, "Input").ok_or_else(missing)?;
    let name = strip_marks(name);
    let Ok(Json::Object(input)) = json_in(input) else { return Err(missing()) };
    let call = match planned.iter().any(|api| api.operation.is_some()) {
        true => parse_request(name, &input, planned)?,
        false => {
            if !planned.iter().any(|api| api.name == name) {
                return Err(ParseError::expected(
                    &format!("an operation of the plan ({})", names(planned)),
                    name,
                ));
            }
            Call { api: name.to_owned(), arguments: object_in(&input, "arguments")? }
        }
    };
    let text = |name: &str| input.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    Ok(CallerTurn::Operation {
        call,
        description: text("description"),
        instructions: text("output_instructions"),
    })
}

/// Parses a request for a planned operation: its method, and an object with `url`, `params` and `data`.
fn parse_request(method: &str, input: &Map<String, Json>, planned: &[&NamedApi]) -> Result<Call, ParseError> {
    let url = input.get("url").and_then(Json::as_str).unwrap_or_default().trim().to_owned();
    if url.contains(['{', '}']) {
        return Err(ParseError::expected("a `url` with values in place of names in braces", &url));
    }
    let (params, data) = (object_in(input, "params")?, object_in(input, "data")?);
    let request = RequestPlan { method: method.to_owned(), url, params, data };
    let calls = planned.iter().filter_map(|api| {
        let operation = api.operation.as_ref()?;
        let literal = operation.literal_matches(&request.method, &request.url)?;
        Some((literal, operation.call(&api.tool, &request)?))
    });
    let call = calls.max_by_key(|(literal, _)| *literal).map(|(_, call)| call);
    call.ok_or_else(|| {
        let expected = format!("the method and the URL of an operation of the plan ({})", names(planned));
        ParseError::expected(&expected, &format!("{method} {}", request.url))
    })
}

fn names(planned: &[&NamedApi]) -> String {
    planned.iter().map(|api| &*api.name).collect::<Vec<_>>().join(", ")
}

/// Returns an object member, or an empty object if it is missing.
fn object_in(input: &Map<String, Json>, name: &str) -> Result<Map<String, Json>, ParseError> {
    match input.get(name) {
        Some(Json::Object(members)) => Ok(members.clone()),
        None | Some(Json::Null) => Ok(Map::new()),
        Some(other) => {
            Err(ParseError::expected(&format!("`{name}` that is a JSON object"), &other.to_string()))
        }
    }
}

/// Returns the background of the next step: results of earlier goals and steps.
pub(crate) fn join_results(background: &str, history: &[StepRecord]) -> String {
    let responses = history.iter().map(|step| &*step.response);
    let texts = std::iter::once(background).chain(responses).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}
