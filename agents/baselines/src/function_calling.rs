//! Function calling: the plain loop over a list of tools, as most people run a model today.
//!
//! The model is sent the system message, the conversation and the visible tools; it calls, or it speaks to the user. What a
//! search finds is in the next request's tools. Where answers are structured, `finish` is one of the tools.

use diorama_llm::{ChatReply, Message, Tool, ToolCall};
use diorama_seeds::ending::FINISH;
use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json};

use crate::Agent;
use crate::environment::{Answer, Environment, EnvironmentError, Finish, Said, Soon, View};
use crate::mind::{Mind, ParseError, Stop, rest};
use crate::trace::Note;

const ROLE: &str = "function-calling";
/// Malformed turns in a row after which the agent has given up: the first, and the one that repairs it.
const MALFORMED: usize = 2;
/// Times that it may say the same words before it has given up.
const SAME_WORDS: usize = 3;

/// The agent.
pub struct FunctionCalling {
    mind: Mind,
}

/// What a turn of the model is.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// Calls, each as it was made, with what it is or why it is none.
    Calls(Vec<(ToolCall, Result<Act, ParseError>)>),
    /// Words to the user.
    Words(String),
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Of an API.
    Call(Call),
    /// The end of a goal.
    Finish(Finish),
}

impl FunctionCalling {
    /// The agent with a model.
    #[must_use]
    pub const fn new(mind: Mind) -> Self {
        Self { mind }
    }

    async fn converse(&self, environment: &mut dyn Environment) -> Result<(), Stop> {
        let mut messages = opening(environment.view());
        let (mut malformed, mut last_words, mut repeats) = (0, String::new(), 0);
        while !environment.view().over {
            let tools = tools(environment.view());
            let reply = self.mind.ask(environment, ROLE, &messages, &tools).await?;
            let error = match read(&reply) {
                Ok(Turn::Words(words)) => {
                    repeats = if words == last_words { repeats + 1 } else { 1 };
                    if repeats >= SAME_WORDS {
                        return Err(Stop::Ended("it says the same again and again".to_owned()));
                    }
                    messages.push(Message::assistant(reply.content.clone()));
                    let answer = environment.say(&words).await?;
                    messages.extend(answer.words.map(Message::user));
                    last_words = words;
                    None
                }
                Ok(Turn::Calls(calls)) => self.make(environment, &reply, calls, &mut messages).await?,
                Err(error) => {
                    messages.push(Message::assistant(reply.content.clone()));
                    messages.push(Message::user(format!("That reply cannot be used: {error}.")));
                    Some(error)
                }
            };
            malformed = if error.is_some() { malformed + 1 } else { 0 };
            if let Some(error) = error {
                environment.note(Note::Malformed { role: ROLE.to_owned(), what: error.to_string() })?;
                if malformed >= MALFORMED {
                    return Err(Stop::Malformed { role: ROLE.to_owned(), what: error.to_string() });
                }
            }
        }
        Ok(())
    }

    /// Makes the calls of a turn, and answers each; the first that is malformed, where one is.
    async fn make(
        &self,
        environment: &mut dyn Environment,
        reply: &ChatReply,
        calls: Vec<(ToolCall, Result<Act, ParseError>)>,
        messages: &mut Vec<Message>,
    ) -> Result<Option<ParseError>, Stop> {
        let made = calls.iter().map(|(call, _)| call.clone()).collect();
        messages.push(Message::Assistant { content: reply.content.clone(), tool_calls: made });
        let mut wrong = None;
        for (call, act) in calls {
            let answer = match act {
                Err(error) => {
                    let answer = format!("error: {error}");
                    wrong.get_or_insert(error);
                    answer
                }
                Ok(Act::Call(call)) => environment.call(&call).await?.body.to_string(),
                Ok(Act::Finish(end)) => match environment.finish(&end).await {
                    Ok(Answer { words: Some(words), .. }) => words,
                    Ok(Answer { words: None, .. }) => return Ok(None),
                    Err(EnvironmentError::Refused { detail, .. }) => {
                        let error = ParseError(detail);
                        let answer = format!("error: {error}");
                        wrong.get_or_insert(error);
                        answer
                    }
                    Err(error) => return Err(error.into()),
                },
            };
            messages.push(Message::tool(call.id, answer));
        }
        Ok(wrong)
    }
}

impl Agent for FunctionCalling {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            let result = self.converse(environment).await;
            rest(environment, result)
        })
    }
}

/// The messages that a conversation opens with.
#[must_use]
pub fn opening(view: &View) -> Vec<Message> {
    let mut messages = Vec::new();
    if !view.system.is_empty() {
        messages.push(Message::system(&view.system));
    }
    messages.extend(view.conversation.iter().filter_map(|said| match said {
        Said::User(words) => Some(Message::user(words)),
        Said::Agent(words) => Some(Message::assistant(words)),
        Said::Call(..) => None,
    }));
    messages
}

/// The visible tools as the model is sent them.
#[must_use]
pub fn tools(view: &View) -> Vec<Tool> {
    let tool = |tool: &Json| {
        let function = tool.get("function")?;
        let text = |name: &str| function.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let parameters = function.get("parameters").cloned().unwrap_or_else(|| Json::Object(Map::new()));
        Some(Tool { name: text("name"), description: text("description"), parameters })
    };
    view.tools.iter().filter_map(tool).collect()
}

/// Reads a turn.
///
/// # Errors
/// When it neither calls nor speaks, or was cut short before it called.
pub fn read(reply: &ChatReply) -> Result<Turn, ParseError> {
    if !reply.tool_calls.is_empty() {
        let calls = reply.tool_calls.iter().map(|call| (call.clone(), act(call)));
        return Ok(Turn::Calls(calls.collect()));
    }
    reply.check_complete().map_err(ParseError)?;
    match reply.spoken() {
        words if words.is_empty() => Err(ParseError("nothing was said and no tool was called".to_owned())),
        words => Ok(Turn::Words(words)),
    }
}

fn act(call: &ToolCall) -> Result<Act, ParseError> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    let arguments = match serde_json::from_str(text) {
        Ok(Json::Object(arguments)) => arguments,
        Ok(_) => return Err(ParseError::expected("arguments that are a JSON object", text)),
        Err(error) => {
            return Err(ParseError::expected(&format!("arguments that are a JSON object ({error})"), text));
        }
    };
    if call.name != FINISH {
        return Ok(Act::Call(Call { api: call.name.clone(), arguments }));
    }
    match serde_json::from_value(Json::Object(arguments)) {
        Ok(end) => Ok(Act::Finish(end)),
        Err(error) => Err(ParseError(format!("the arguments of `{FINISH}`: {error}"))),
    }
}
