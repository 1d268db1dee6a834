//! ReAct: thought, action and observation in turn, as text.
//!
//! Tools stand in the prompt; what a search finds stands in its observation. `Ask` puts a question to the user. Where answers are
//! structured, `finish` is an action like any other, otherwise `Final Answer` ends the goal.

use diorama_llm::{Message, json_in};
use diorama_seeds::ending::FINISH;
use diorama_seeds::task::Call;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::Agent;
use crate::environment::{Environment, EnvironmentError, Finish, Soon, View};
use crate::mind::{Mind, ParseError, Stop, rest};
use crate::prompts::{PromptError, render};
use crate::toolbox::shortened;

const ROLE: &str = "react";
/// Characters of an observation.
const OBSERVATION: usize = 6_000;
/// Endings that the environment may refuse before the agent has given up.
const REFUSED: usize = 2;

/// The agent.
pub struct ReAct {
    mind: Mind,
}

/// What the role is given.
#[derive(Clone, Debug, Serialize)]
pub struct Input<'a> {
    /// The system message.
    pub system: &'a str,
    /// The tools, a line of JSON each.
    pub tools: Vec<String>,
    /// Whether `finish` is among them.
    pub structured: bool,
    /// What the user wants.
    pub request: &'a str,
}

/// What a turn of the model is.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// A call.
    Call(Call),
    /// The end of a goal.
    Finish(Finish),
    /// A question to the user.
    Ask(String),
    /// The final answer in words.
    Answer(String),
}

/// The messages that an episode opens with.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn prompt(view: &View) -> Result<Vec<Message>, PromptError> {
    let function = |tool: &Json| tool.get("function").map(Json::to_string);
    let tools: Vec<String> = view.tools.iter().filter_map(function).collect();
    let structured = view.tools.iter().any(|tool| tool["function"]["name"] == FINISH);
    let request = view.user_turns().last().unwrap_or_default();
    render("react/agent", &Input { system: &view.system, tools, structured, request })
}

/// Reads a turn: what follows the observation that a model makes up is not read.
///
/// # Errors
/// When there is neither an action with its input nor a final answer.
pub fn parse(reply: &str) -> Result<Turn, ParseError> {
    let reply = reply.split("\nObservation:").next().unwrap_or_default();
    if let Some((action, input)) = labelled(reply, "Action:", "Action Input:") {
        return act(action, input);
    }
    match reply.split_once("Final Answer:").map(|(_, answer)| answer.trim()) {
        Some(answer) if !answer.is_empty() => Ok(Turn::Answer(answer.to_owned())),
        _ => Err(ParseError::expected("`Action:` and `Action Input:`, or `Final Answer:`", reply)),
    }
}

fn act(action: &str, input: &str) -> Result<Turn, ParseError> {
    let name = action.trim().trim_matches(['`', '"', '*', '[', ']']).trim_end_matches("()");
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
        FINISH => match serde_json::from_value(Json::Object(arguments)) {
            Ok(end) => Ok(Turn::Finish(end)),
            Err(error) => Err(ParseError(format!("the input of `{FINISH}`: {error}"))),
        },
        _ => Ok(Turn::Call(Call { api: name.to_owned(), arguments })),
    }
}

/// What stands on the line of one label, and all that follows another.
fn labelled<'a>(text: &'a str, first: &str, second: &str) -> Option<(&'a str, &'a str)> {
    let at = text.find(first)?;
    let rest = &text[at + first.len()..];
    let (one, two) = rest.split_once(second)?;
    Some((one.trim().lines().next().unwrap_or_default(), two.trim()))
}

impl ReAct {
    /// The agent with a model.
    #[must_use]
    pub const fn new(mind: Mind) -> Self {
        Self { mind }
    }

    async fn converse(&self, environment: &mut dyn Environment) -> Result<(), Stop> {
        let mut messages = prompt(environment.view())?;
        let mut refused = 0;
        while !environment.view().over {
            let read = |reply: &str| parse(reply).map(|turn| (turn, reply.to_owned()));
            let (turn, reply) = self.mind.ask_and_parse(environment, ROLE, messages.clone(), read).await?;
            let kept = reply.split("\nObservation:").next().unwrap_or_default().to_owned();
            messages.push(Message::assistant(kept));
            let observed = match turn {
                Turn::Call(call) => {
                    let reply = environment.call(&call).await?;
                    format!("{} {}", reply.status, shortened(&reply.body, OBSERVATION))
                }
                Turn::Ask(words) | Turn::Answer(words) => {
                    let answer = environment.say(&words).await?;
                    format!("The user says: {}", answer.words.unwrap_or_default())
                }
                Turn::Finish(end) => match environment.finish(&end).await {
                    Ok(answer) => {
                        refused = 0;
                        let next = environment.view().tools.iter();
                        let finish = next.filter(|tool| tool["function"]["name"] == FINISH);
                        let schema: String = finish.map(|tool| tool["function"].to_string()).collect();
                        format!(
                            "The user says: {}\n`{FINISH}` is now: {schema}",
                            answer.words.unwrap_or_default()
                        )
                    }
                    Err(EnvironmentError::Refused { detail, .. }) => {
                        refused += 1;
                        if refused >= REFUSED {
                            return Err(Stop::Malformed { role: ROLE.to_owned(), what: detail });
                        }
                        format!("The ending was refused: {detail}")
                    }
                    Err(error) => return Err(error.into()),
                },
            };
            messages.push(Message::user(format!("Observation: {observed}")));
        }
        Ok(())
    }
}

impl Agent for ReAct {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            let result = self.converse(environment).await;
            rest(environment, result)
        })
    }
}
