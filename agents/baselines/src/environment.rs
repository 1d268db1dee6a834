//! What an agent under test holds: a view of the conversation, and a few things to do in it.
//!
//! An agent sees what a user and a server would show it. It cannot name a check, a gold call or what the user holds back:
//! those are a judge's, in a package that this one does not know. In process and over HTTP are two implementations of one
//! contract.

use std::future::Future;
use std::pin::Pin;

use diorama_seeds::ending::FINISH;
use diorama_seeds::task::Call;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::trace::Note;

pub use diorama_seeds::ending::{Answers, Finish};

/// What an environment gives when it is asked for something: soon, and it may fail.
pub type Soon<'a, T> = Pin<Box<dyn Future<Output = Result<T, EnvironmentError>> + Send + 'a>>;

/// A conversation that an agent is in.
pub trait Environment: Send {
    /// What the agent sees now.
    fn view(&self) -> &View;

    /// What is left of the budget.
    fn budget(&self) -> Budget;

    /// Calls an API by name.
    fn call<'a>(&'a mut self, call: &'a Call) -> Soon<'a, Reply>;

    /// Says something to the user, who may answer. Where answers are prose, a message that asks nothing ends the goal.
    fn say<'a>(&'a mut self, words: &'a str) -> Soon<'a, Answer>;

    /// Ends the goal that is open.
    fn finish<'a>(&'a mut self, end: &'a Finish) -> Soon<'a, Answer>;

    /// The JSON Schema of a visible API's reply, where the environment knows it; what a served document would say.
    fn reply_schema(&self, _api: &str) -> Option<Json> {
        None
    }

    /// Takes note of what an agent does beside acting. The tokens of a request to a model are taken from the budget.
    ///
    /// # Errors
    /// That the budget of tokens or of time is used up.
    fn note(&mut self, note: Note) -> Result<(), EnvironmentError>;
}

/// What an agent sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The system message.
    pub system: String,
    /// What was said and called so far, oldest first; the user's opening is the first.
    pub conversation: Vec<Said>,
    /// The tools that may be called, in OpenAI's function format. A search adds to them. Where answers are structured, one
    /// of them is `finish`, whose schema names the facts that the open goal asks for.
    pub tools: Vec<Json>,
    /// Whether the user has nothing more to say.
    pub over: bool,
}

/// Something that was said or done.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// By the user.
    User(String),
    /// By the agent.
    Agent(String),
    /// A call of the agent, and its reply.
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

/// What the user answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The words; none when the user has nothing more to say.
    pub words: Option<String>,
    /// Whether the conversation is over.
    pub over: bool,
}

/// What an agent may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Steps: calls and messages together.
    pub steps: u32,
    /// Calls.
    pub calls: u32,
    /// Tokens of a model, counted by whoever asks it.
    pub tokens: u64,
    /// Milliseconds.
    pub time_ms: u64,
}

/// Why an environment does not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum EnvironmentError {
    /// The budget is used up.
    #[error("the budget of {what} is used up")]
    Spent {
        /// Of what.
        what: Spent,
    },
    /// The conversation is over.
    #[error("the conversation is over")]
    Over,
    /// The server cannot be reached, or answers something else than a server of sessions does.
    #[error("{what}; start `diorama serve --tasks`, or check --server")]
    Transport {
        /// What was found.
        what: String,
    },
    /// The model gives no reply; that is no fault of the agent's.
    #[error("no reply of the model: {what}")]
    Model {
        /// What went wrong.
        what: String,
    },
    /// The server does not do it.
    #[error("the server answered {status}: {detail}")]
    Refused {
        /// Its status.
        status: u16,
        /// What it says.
        detail: String,
    },
}

impl EnvironmentError {
    /// Whether a model or a server was wanting: what ended so says nothing of the agent.
    #[must_use]
    pub const fn is_want(&self) -> bool {
        matches!(self, Self::Model { .. } | Self::Transport { .. })
    }
}

/// What was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spent {
    /// Steps.
    Steps,
    /// Calls.
    Calls,
    /// Tokens.
    Tokens,
    /// Time.
    Time,
}

impl std::fmt::Display for Spent {
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
    /// The budget of an episode where nobody asks for another: generous for an agent, finite for a loop.
    pub const USUAL: Self = Self { steps: 400, calls: 200, tokens: 1_000_000, time_ms: 600_000 };

    /// The same for agents that ask a model: one that a loop does not make expensive.
    pub const WITH_MODEL: Self = Self { steps: 60, calls: 40, tokens: 200_000, ..Self::USUAL };

    /// No bound: what was done within one is done again.
    pub const UNBOUNDED: Self =
        Self { steps: u32::MAX, calls: u32::MAX, tokens: u64::MAX, time_ms: u64::MAX };

    /// Takes a step, and a call where it is one; `used_ms` is how long the episode has taken so far.
    ///
    /// # Errors
    /// What is used up.
    pub fn take(&mut self, is_call: bool, used_ms: u64) -> Result<(), EnvironmentError> {
        let spent = |what| Err(EnvironmentError::Spent { what });
        if used_ms > self.time_ms {
            return spent(Spent::Time);
        }
        if is_call {
            let Some(left) = self.calls.checked_sub(1) else { return spent(Spent::Calls) };
            self.calls = left;
        }
        let Some(left) = self.steps.checked_sub(1) else { return spent(Spent::Steps) };
        self.steps = left;
        Ok(())
    }

    /// Takes what a note stands for: the tokens of a request to a model.
    ///
    /// # Errors
    /// What is used up.
    pub fn note(&mut self, note: &Note, used_ms: u64) -> Result<(), EnvironmentError> {
        if let Note::Asked(asked) = note {
            self.spend_tokens(asked.tokens())?;
        }
        if used_ms > self.time_ms {
            return Err(EnvironmentError::Spent { what: Spent::Time });
        }
        Ok(())
    }

    /// Takes tokens.
    ///
    /// # Errors
    /// That they are used up.
    pub const fn spend_tokens(&mut self, tokens: u64) -> Result<(), EnvironmentError> {
        match self.tokens.checked_sub(tokens) {
            Some(left) => {
                self.tokens = left;
                Ok(())
            }
            None => Err(EnvironmentError::Spent { what: Spent::Tokens }),
        }
    }
}

impl View {
    /// Adds the tools that a search has found.
    pub fn found(&mut self, search: &Json) {
        for function in search.get("tools").and_then(Json::as_array).into_iter().flatten() {
            let tool = json!({"type": "function", "function": function});
            if !self.tools.contains(&tool) {
                self.tools.push(tool);
            }
        }
    }

    /// Takes in a call: its reply is shown, and what a search has found.
    pub fn called(&mut self, call: &Call, reply: &Reply) {
        if call.api == TOOL_SEARCHER {
            self.found(&reply.body);
        }
        self.conversation.push(Said::Call(call.clone(), reply.clone()));
    }

    /// Takes in what the agent says, and what the user answers.
    pub fn heard(&mut self, words: &str, answer: &Answer) {
        self.conversation.push(Said::Agent(words.to_owned()));
        self.conversation.extend(answer.words.clone().map(Said::User));
        self.over = answer.over;
    }

    /// Whether a tool is visible.
    #[must_use]
    pub fn shows(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool["function"]["name"] == name)
    }

    /// Shows the tool that ends the goal that is open, instead of the one before.
    pub fn ends_with(&mut self, finish: Option<Json>) {
        self.tools.retain(|tool| tool["function"]["name"] != FINISH);
        self.tools.extend(finish);
    }

    /// The user's turns so far.
    pub fn user_turns(&self) -> impl Iterator<Item = &str> {
        self.conversation.iter().filter_map(|said| match said {
            Said::User(words) => Some(&**words),
            _ => None,
        })
    }
}
