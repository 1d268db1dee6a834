//! The pipeline with a chat model: people's words from a model, calls from the engine, and the gates between.
//!
//! Owns how a model's words become a candidate. A scenario is played without a model, and its chain of calls has run and been proven
//! before a model hears of it ([`plan`]); [`rewrite`] words the whole conversation anew, the [`caller`] agent solves the request in a
//! live session, and the [`judge`] reads what passed the gates. [`row`] does this for one row, [`run`] for all of them at once. It must not read the
//! environment, the clock of the machine or the terminal.

pub mod ask;
pub mod caller;
pub mod judge;
pub mod lines;
pub mod plan;
pub mod prompts;
pub mod quality;
pub mod rewrite;
pub mod row;
pub mod run;
pub mod run_context;
pub mod searches;
pub mod steps;

use diorama_llm::Sampling;
use serde::Serialize;
use serde_json::{Value as Json, json};

/// Who writes what the user says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UserWords {
    /// The rewriter, from the words of the scenario.
    Rewritten,
    /// The words of the scenario as they are.
    Scenario,
}

/// Who writes what the assistant does and says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AssistantWords {
    /// The caller agent, which solves the request in a live session.
    Caller,
    /// The rewriter, from the words of the scenario.
    Rewritten,
    /// The words of the scenario as they are.
    Scenario,
}

/// How the caller agent calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// By the server's function calling.
    Tools,
    /// By actions with JSON input in the text, for servers without tools.
    Text,
}

/// How a run asks its model. Everything here is part of what its rows depend on.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The model, as the server names it.
    pub model: String,
    /// Its terms, for the licence of the rows.
    pub terms: String,
    /// Who writes the user's words.
    pub user: UserWords,
    /// Who writes the assistant's side.
    pub assistant: AssistantWords,
    /// True where the planned side stands in for a caller agent that fails.
    pub falls_back: bool,
    /// How the caller agent calls.
    pub protocol: Protocol,
    /// Attempts at a slot before it is given up, each with another plan.
    pub attempts: u32,
    /// Votes of the judge on a row; none switches it off.
    pub votes: u32,
    /// How tokens are drawn.
    pub sampling: Sampling,
}

impl Settings {
    /// Collects what rows depend on, for the manifest.
    pub fn config(&self, prompt_hash: &str) -> Json {
        json!({
            "name": self.model,
            "terms": self.terms,
            "user": self.user,
            "assistant": self.assistant,
            "falls_back": self.falls_back,
            "protocol": self.protocol,
            "attempts": self.attempts,
            "judge_votes": self.votes,
            "prompts": prompt_hash,
            "sampling": self.sampling,
        })
    }
}
