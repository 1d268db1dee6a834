//! Owns the contract between an agent under test and its conversation.
//!
//! An agent sees only what a user and a server would show it. It cannot name a check, a reference call or
//! withheld information, because those are in a package above this one. The contract has two implementations:
//! in process and over HTTP.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::ending::FINISH;
use diorama_seeds::task::Call;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::note::Note;
use crate::operation::Operation;

pub use diorama_seeds::ending::Finish;

/// The future result of an action, which may fail.
pub type EnvironmentFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, EnvironmentError>> + Send + 'a>>;

/// A conversation from an agent's point of view.
pub trait Environment: Send {
    /// Returns the agent's current view.
    fn view(&self) -> &View;

    /// Returns the rest of the budget.
    fn budget(&self) -> Budget;

    /// Calls an API by name.
    fn call<'a>(&'a mut self, call: &'a Call) -> EnvironmentFuture<'a, Reply>;

    /// Sends a message to the user, who may answer. It ends no goal.
    fn say<'a>(&'a mut self, words: &'a str) -> EnvironmentFuture<'a, Answer>;

    /// Ends the open goal.
    fn finish<'a>(&'a mut self, end: &'a Finish) -> EnvironmentFuture<'a, Answer>;

    /// Returns the JSON Schema of a visible API's reply, if the environment knows it.
    fn reply_schema(&self, _api: &str) -> Option<Json> {
        None
    }

    /// Returns a visible API's operation in the OpenAPI document, if the environment is a REST service.
    fn operation(&self, _api: &str) -> Option<Operation> {
        None
    }

    /// Records an event that is no action. Tokens of a request to a model are charged to the budget.
    ///
    /// # Errors
    /// Returns an error if the budget of tokens or of time is used up.
    fn note(&mut self, note: Note) -> Result<(), EnvironmentError>;
}

/// An agent under test.
pub trait Agent: Send + Sync {
    /// Acts until the conversation is over, or the agent gives up.
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> EnvironmentFuture<'a, ()>;
}

impl<A: Agent + ?Sized> Agent for Arc<A> {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> EnvironmentFuture<'a, ()> {
        (**self).act(environment)
    }
}

/// The part of a conversation that an agent sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The system message.
    pub system: String,
    /// Messages and calls, oldest first; the user's opening is the first.
    pub conversation: Vec<ConversationEntry>,
    /// The callable tools in OpenAI's function format. A search adds to them. One of them is `finish`, whose
    /// schema names the facts of the open goal. It is missing if a model transcribes the agent's messages.
    pub tools: Vec<Json>,
    /// True if the user has nothing more to say.
    pub over: bool,
}

/// A message, or a call with its reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ConversationEntry {
    /// Message of the user.
    User(String),
    /// Message of the agent.
    Agent(String),
    /// Call of the agent, and its reply.
    Call(Call, Reply),
}

/// A reply to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The body.
    pub body: Json,
}

/// The user's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// `None` when the user has nothing more to say.
    pub words: Option<String>,
    /// True if the conversation is over.
    pub over: bool,
    /// True if `finish` has not ended the goal, because the user keeps asking.
    pub keeps_open: bool,
}

/// The limits of an episode, or the rest of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Calls and messages.
    pub steps: u32,
    /// Calls only.
    pub calls: u32,
    /// Tokens of requests to a model, and of its replies.
    pub tokens: u64,
    /// Milliseconds since the episode began.
    pub time_ms: u64,
}

/// The reason for which an environment does not act.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum EnvironmentError {
    /// The budget is used up.
    #[error("the budget of {what} is used up")]
    Spent {
        /// The limit.
        what: BudgetLimit,
    },
    /// The conversation is over.
    #[error("the conversation is over")]
    Over,
    /// The server cannot be reached, or its answer is not that of a session server.
    #[error("{what}; start `diorama serve --tasks`, or check --server")]
    Transport {
        /// The server's answer, or the error of the connection.
        what: String,
    },
    /// The model gives no reply. The agent is not at fault.
    #[error("no reply of the model: {what}")]
    Model {
        /// The model's error.
        what: String,
    },
    /// The server refuses the action.
    #[error("the server answered {status}: {detail}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The server's explanation.
        detail: String,
    },
}

impl EnvironmentError {
    /// Returns true if a model or a server failed, so that the episode tells nothing about the agent.
    #[must_use]
    pub const fn is_outage(&self) -> bool {
        matches!(self, Self::Model { .. } | Self::Transport { .. })
    }
}

/// A limit that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetLimit {
    /// Calls and messages together.
    Steps,
    /// Calls alone.
    Calls,
    /// Tokens of a model.
    Tokens,
    /// Time since the episode began.
    Time,
}

impl std::fmt::Display for BudgetLimit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Steps => "steps",
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Time => "time",
        })
    }
}

impl Budget {
    /// The default for agents without a model. It stops endless loops and leaves enough room otherwise.
    pub const USUAL: Self = Self { steps: 400, calls: 200, tokens: 1_000_000, time_ms: 600_000 };

    /// The default for agents that ask a model. It bounds the cost of an endless loop.
    pub const WITH_MODEL: Self = Self { steps: 60, calls: 40, tokens: 200_000, ..Self::USUAL };

    /// No limit, for replays of episodes with a limit.
    pub const UNBOUNDED: Self =
        Self { steps: u32::MAX, calls: u32::MAX, tokens: u64::MAX, time_ms: u64::MAX };

    /// Returns the budget with a time limit, if one is given.
    #[must_use]
    pub fn with_seconds(self, seconds: Option<u64>) -> Self {
        Self { time_ms: seconds.map_or(self.time_ms, |seconds| seconds.saturating_mul(1000)), ..self }
    }

    /// Takes a step, and a call if `is_call` is true. `used_ms` is the time since the episode began.
    ///
    /// # Errors
    /// The limit that is used up.
    pub fn take(&mut self, is_call: bool, used_ms: u64) -> Result<(), EnvironmentError> {
        let spent = |what| Err(EnvironmentError::Spent { what });
        if used_ms > self.time_ms {
            return spent(BudgetLimit::Time);
        }
        if is_call {
            let Some(left) = self.calls.checked_sub(1) else { return spent(BudgetLimit::Calls) };
            self.calls = left;
        }
        let Some(left) = self.steps.checked_sub(1) else { return spent(BudgetLimit::Steps) };
        self.steps = left;
        Ok(())
    }

    /// Takes the tokens of a request to a model.
    ///
    /// # Errors
    /// The limit that is used up.
    pub fn note(&mut self, note: &Note, used_ms: u64) -> Result<(), EnvironmentError> {
        let spent = |what| Err(EnvironmentError::Spent { what });
        if let Note::Asked(asked) = note {
            let Some(left) = self.tokens.checked_sub(asked.tokens()) else {
                return spent(BudgetLimit::Tokens);
            };
            self.tokens = left;
        }
        if used_ms > self.time_ms { spent(BudgetLimit::Time) } else { Ok(()) }
    }
}

impl View {
    /// Adds the tools in a search's reply.
    pub fn add_tools(&mut self, search: &Json) {
        for function in search.get("tools").and_then(Json::as_array).into_iter().flatten() {
            let tool = json!({"type": "function", "function": function});
            if !self.tools.contains(&tool) {
                self.tools.push(tool);
            }
        }
    }

    /// Adds a call with its reply, and the tools that a search has found.
    pub fn add_call(&mut self, call: &Call, reply: &Reply) {
        if call.api == TOOL_SEARCHER {
            self.add_tools(&reply.body);
        }
        self.conversation.push(ConversationEntry::Call(call.clone(), reply.clone()));
    }

    /// Adds a message of the agent, and the user's answer.
    pub fn add_message(&mut self, words: &str, answer: &Answer) {
        self.conversation.push(ConversationEntry::Agent(words.to_owned()));
        self.conversation.extend(answer.words.clone().map(ConversationEntry::User));
        self.over = answer.over;
    }

    /// Returns true if a tool is visible.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool["function"]["name"] == name)
    }

    /// Replaces the tool that ends the open goal.
    pub fn replace_finish(&mut self, finish: Option<Json>) {
        self.tools.retain(|tool| tool["function"]["name"] != FINISH);
        self.tools.extend(finish);
    }

    /// Returns the user's turns so far.
    pub fn user_turns(&self) -> impl Iterator<Item = &str> {
        self.conversation.iter().filter_map(|said| match said {
            ConversationEntry::User(words) => Some(&**words),
            _ => None,
        })
    }
}
