//! ReAct: thought, action and observation in turn, as text.
//!
//! The prompt lists the tools, and an observation lists those that a search found. `Ask` sends a question to
//! the user. If answers are structured, the action `finish` ends the goal, otherwise `Final Answer` does.
//! Models confuse the two, and also use the paper's `Finish[..]`. None of these is called as an API.

use diorama_llm::{Message, json_in};
use diorama_seeds::ending::FINISH;
use diorama_seeds::task::Call;
use minijinja::context;
use serde_json::{Map, Value as Json};

use crate::environment::{Finish, View};
use crate::episode::{Episode, Role};
use crate::labels::{cut_before, find_final_answer, split_anywhere, split_at, strip_marks};
use crate::prompts::PromptError;
use crate::role_model::{ParseError, Stop};
use crate::toolbox::shorten;

const ROLE: Role = Role { name: "react", prompt: "react/agent" };
const MAX_OBSERVATION_CHARS: usize = 6_000;
/// Number of refused `finish` actions without a successful call in between, after which the agent gives up.
const MAX_REFUSALS: usize = 2;

/// A turn of the model.
enum Turn {
    Call(Call),
    Finish(Finish),
    /// A question to the user.
    Ask(String),
    /// The final answer in words.
    Answer(String),
}

/// Parses a turn, without observations that the model invents. `structured` is true if answers are
/// structured.
fn parse(reply: &str, structured: bool) -> Result<Turn, ParseError> {
    let own = cut_before(reply, "Observation");
    let action = split_at(own, "Action").map(|(_, action)| action);
    let with_input = action.and_then(|action| split_anywhere(action, "Action Input"));
    if let Some((name, input)) = with_input {
        return parse_action(name.trim().lines().next().unwrap_or_default(), input.trim(), structured);
    }
    // The paper's own form has the input in brackets instead of on a line.
    let in_brackets =
        action.and_then(|action| action.lines().next()?.trim().strip_suffix(']')?.split_once('['));
    if let Some((_, input)) = in_brackets.filter(|(name, _)| ends_goal(name)) {
        return parse_ending(input, structured);
    }
    match find_final_answer(own) {
        Some(answer) if !answer.is_empty() => parse_ending(answer, structured),
        _ if structured => Err(ParseError::expected("`Action:` and `Action Input:`", reply)),
        _ => Err(ParseError::expected("`Action:` and `Action Input:`, or `Final Answer:`", reply)),
    }
}

fn parse_action(action: &str, input: &str, structured: bool) -> Result<Turn, ParseError> {
    // In `ToolSearcher("rooms")` the bracketed part is not part of the name.
    let (name, in_brackets) = action.split_once('(').unwrap_or((action, ""));
    let name = strip_marks(name).trim_matches(['[', ']']);
    let input = if input.is_empty() { in_brackets.trim_end_matches([')', '*', '`']) } else { input };
    if ends_goal(name) {
        return parse_ending(input, structured);
    }
    let arguments = match json_in(input) {
        Ok(Json::Object(arguments)) => arguments,
        _ if input.trim().is_empty() => Map::new(),
        Ok(Json::String(text)) if name == "Ask" => return Ok(Turn::Ask(text)),
        Err(_) if name == "Ask" => return Ok(Turn::Ask(input.trim().to_owned())),
        _ => return Err(ParseError::expected("an `Action Input:` that is a JSON object", input)),
    };
    match name {
        "" => Err(ParseError::expected("the name of a tool after `Action:`", action)),
        "Ask" => match arguments.values().next().and_then(Json::as_str) {
            Some(question) => Ok(Turn::Ask(question.to_owned())),
            None => Err(ParseError::expected("a question", input)),
        },
        _ => Ok(Turn::Call(Call { api: name.to_owned(), arguments })),
    }
}

/// Returns true for the names by which the prompt and the paper end a goal: `finish`, `Finish`, `Final
/// Answer`.
fn ends_goal(name: &str) -> bool {
    let letters: String = name.chars().filter(|c| c.is_alphabetic()).collect();
    [FINISH, "finalanswer"].iter().any(|known| letters.eq_ignore_ascii_case(known))
}

/// Parses the end of a goal: the input of `finish` if answers are structured, otherwise text, alone or in an
/// object.
fn parse_ending(input: &str, structured: bool) -> Result<Turn, ParseError> {
    if structured {
        let Ok(Json::Object(arguments)) = json_in(input) else {
            let expected = format!("the action `{FINISH}` with a JSON object that follows its schema");
            return Err(ParseError::expected(&expected, input));
        };
        return match serde_json::from_value(Json::Object(arguments)) {
            Ok(finish) => Ok(Turn::Finish(finish)),
            Err(error) => Err(ParseError(format!("the input of `{FINISH}`: {error}"))),
        };
    }
    let json: Option<Json> = serde_json::from_str(input.trim()).ok();
    let words = match &json {
        Some(Json::String(words)) => words,
        Some(Json::Object(members)) => members.values().find_map(Json::as_str).unwrap_or(input),
        _ => input,
    };
    match words.trim() {
        "" => Err(ParseError::expected("the answer in words", input)),
        words => Ok(Turn::Answer(words.to_owned())),
    }
}

/// Acts until the conversation is over.
pub(crate) async fn converse(episode: &mut Episode<'_>) -> Result<(), Stop> {
    let mut messages = make_opening(episode)?;
    let mut refusals = 0;
    while !episode.view().over {
        let structured = finish_tool(episode.view()).is_some();
        let read = |reply: &str| parse(reply, structured).map(|turn| (turn, reply.to_owned()));
        let (turn, reply) = episode.ask_with(ROLE, messages.clone(), read).await?;
        messages.push(Message::assistant(cut_before(&reply, "Observation")));
        let observation = match turn {
            Turn::Call(call) => {
                let reply = episode.call(&call).await?;
                if (200..300).contains(&reply.status) {
                    refusals = 0;
                }
                format!("{} {}", reply.status, shorten(&reply.body, MAX_OBSERVATION_CHARS))
            }
            Turn::Ask(words) | Turn::Answer(words) => {
                let answer = episode.say(&words).await?;
                format!("The user says: {}", answer.words.unwrap_or_default())
            }
            Turn::Finish(finish) => match episode.finish(&finish).await? {
                Ok(answer) => {
                    refusals = 0;
                    let words = answer.words.unwrap_or_default();
                    let schema = finish_tool(episode.view()).map(Json::to_string).unwrap_or_default();
                    format!("The user says: {words}\n`{FINISH}` is now: {schema}")
                }
                Err(detail) => {
                    refusals += 1;
                    if refusals >= MAX_REFUSALS {
                        return Err(Stop::Malformed { role: ROLE.name.to_owned(), what: detail });
                    }
                    format!("The ending was refused: {detail}")
                }
            },
        };
        messages.push(Message::user(format!("Observation: {observation}")));
    }
    Ok(())
}

/// Makes the initial messages of an episode.
fn make_opening(episode: &Episode<'_>) -> Result<Vec<Message>, PromptError> {
    let functions = episode.view().tools.iter().filter_map(|tool| tool.get("function"));
    let tools: Vec<String> = functions.map(Json::to_string).collect();
    let structured = finish_tool(episode.view()).is_some();
    let request = episode.query();
    episode.prompt(ROLE, context! { tools, structured, request })
}

fn finish_tool(view: &View) -> Option<&Json> {
    view.tools.iter().map(|tool| &tool["function"]).find(|function| function["name"] == FINISH)
}
