//! Function calling: the plain loop over a list of tools.
//!
//! The model gets the system message, the conversation and the visible tools. It calls tools or speaks to the
//! user. The next request includes tools that a search found. If answers are structured, `finish` is one of
//! the tools.

use diorama_llm::{ChatReply, Message, Tool, ToolCall};
use diorama_seeds::ending::FINISH;
use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json};

use crate::environment::{Answer, ConversationEntry, Finish, View};
use crate::episode::Episode;
use crate::note::Note;
use crate::role_model::{ParseError, Stop};

const ROLE: &str = "function-calling";
/// Number of malformed turns in a row after which the agent gives up: the first, and its repair.
const MAX_MALFORMED: usize = 2;
/// Number of times that the model may repeat the same message before the agent gives up.
const MAX_REPEATS: usize = 3;

/// A turn of the model.
enum Turn {
    /// Tool calls: the id of each, with its action or error.
    Calls(Vec<(String, Result<Action, ParseError>)>),
    /// A message to the user.
    Words(String),
}

/// The action of a tool call.
enum Action {
    Call(Call),
    Finish(Finish),
}

/// Acts until the conversation is over.
pub(crate) async fn converse(episode: &mut Episode<'_>) -> Result<(), Stop> {
    let mut messages = make_opening(episode.view());
    let (mut malformed, mut last_words, mut repeats) = (0, String::new(), 0);
    while !episode.view().over {
        let tools = tools(episode.view());
        let reply = episode.ask_with_tools(ROLE, &messages, &tools).await?;
        let error = match parse(&reply) {
            Ok(Turn::Words(words)) => {
                repeats = if words == last_words { repeats + 1 } else { 1 };
                if repeats >= MAX_REPEATS {
                    return Err(Stop::Ended("it says the same again and again".to_owned()));
                }
                messages.push(Message::assistant(reply.content));
                let answer = episode.say(&words).await?;
                messages.extend(answer.words.map(Message::user));
                last_words = words;
                None
            }
            Ok(Turn::Calls(calls)) => make_calls(episode, reply, calls, &mut messages).await?,
            Err(error) => {
                messages.push(Message::assistant(reply.content));
                messages.push(Message::user(format!("That reply cannot be used: {error}.")));
                Some(error)
            }
        };
        malformed = if error.is_some() { malformed + 1 } else { 0 };
        if let Some(ParseError(what)) = error {
            episode.note(Note::Malformed { role: ROLE.to_owned(), what: what.clone() })?;
            if malformed >= MAX_MALFORMED {
                return Err(Stop::Malformed { role: ROLE.to_owned(), what });
            }
        }
    }
    Ok(())
}

/// Executes the calls of a turn and answers each. Returns the first error.
async fn make_calls(
    episode: &mut Episode<'_>,
    reply: ChatReply,
    calls: Vec<(String, Result<Action, ParseError>)>,
    messages: &mut Vec<Message>,
) -> Result<Option<ParseError>, Stop> {
    messages.push(Message::Assistant { content: reply.content, tool_calls: reply.tool_calls });
    let mut first_error = None;
    for (id, action) in calls {
        let done = match action {
            Err(error) => Err(error),
            Ok(Action::Call(call)) => Ok(episode.call(&call).await?.body.to_string()),
            Ok(Action::Finish(finish)) => match episode.finish(&finish).await? {
                Ok(Answer { words: Some(words), .. }) => Ok(words),
                Ok(Answer { words: None, .. }) => return Ok(None),
                Err(detail) => Err(ParseError(detail)),
            },
        };
        let answer = done.unwrap_or_else(|error| {
            let answer = format!("error: {error}");
            first_error.get_or_insert(error);
            answer
        });
        messages.push(Message::tool(id, answer));
    }
    Ok(first_error)
}

/// Makes the initial messages. Calls in the conversation become tool calls of the model, in the message
/// before them.
fn make_opening(view: &View) -> Vec<Message> {
    let mut messages = Vec::new();
    if !view.system.is_empty() {
        messages.push(Message::system(&view.system));
    }
    for (at, said) in view.conversation.iter().enumerate() {
        match said {
            ConversationEntry::User(words) => messages.push(Message::user(words)),
            ConversationEntry::Agent(words) => messages.push(Message::assistant(words)),
            ConversationEntry::Call(call, reply) => {
                // Nine letters and digits, which every chat template accepts.
                let id = format!("call{at:05}");
                let arguments = Json::Object(call.arguments.clone()).to_string();
                let call = ToolCall { id: id.clone(), name: call.api.clone(), arguments };
                match messages.last_mut() {
                    Some(Message::Assistant { tool_calls, .. }) if tool_calls.is_empty() => {
                        tool_calls.push(call)
                    }
                    _ => messages.push(Message::Assistant { content: String::new(), tool_calls: vec![call] }),
                }
                messages.push(Message::tool(id, reply.body.to_string()));
            }
        }
    }
    messages
}

/// Returns the visible tools in the model's format.
fn tools(view: &View) -> Vec<Tool> {
    let tool = |tool: &Json| {
        let function = tool.get("function")?;
        let text = |name: &str| function.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let parameters = function.get("parameters").cloned().unwrap_or_else(|| Json::Object(Map::new()));
        Some(Tool { name: text("name"), description: text("description"), parameters })
    };
    view.tools.iter().filter_map(tool).collect()
}

/// Parses a turn. It must have calls or text, and the text must be complete.
fn parse(reply: &ChatReply) -> Result<Turn, ParseError> {
    if !reply.tool_calls.is_empty() {
        let calls = reply.tool_calls.iter().map(|call| (call.id.clone(), parse_action(call)));
        return Ok(Turn::Calls(calls.collect()));
    }
    reply.check_complete().map_err(ParseError)?;
    match reply.spoken() {
        words if words.is_empty() => Err(ParseError("nothing was said and no tool was called".to_owned())),
        words => Ok(Turn::Words(words)),
    }
}

fn parse_action(call: &ToolCall) -> Result<Action, ParseError> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    let arguments = match serde_json::from_str(text) {
        Ok(Json::Object(arguments)) => arguments,
        Ok(_) => return Err(ParseError::expected("arguments that are a JSON object", text)),
        Err(error) => {
            return Err(ParseError::expected(&format!("arguments that are a JSON object ({error})"), text));
        }
    };
    if !call.name.eq_ignore_ascii_case(FINISH) {
        return Ok(Action::Call(Call { api: call.name.clone(), arguments }));
    }
    match serde_json::from_value(Json::Object(arguments)) {
        Ok(finish) => Ok(Action::Finish(finish)),
        Err(error) => Err(ParseError(format!("the arguments of `{FINISH}`: {error}"))),
    }
}
