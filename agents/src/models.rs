//! Owns the pipeline with a chat model: the model writes the words, the engine makes the calls, and the
//! gates prove both.
//!
//! The scenarios play a conversation without a model, and the gates prove its calls first ([`plan`]). Then
//! [`rewrite`] rewords the whole conversation, and the [`caller`] agent may solve the request in a live
//! session. The [`judge`] votes on the conversations that pass the gates. [`row`] makes one row, and [`run`]
//! makes all of them. This module must not read the environment, the clock of the machine or the terminal.

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

/// The author of the user's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UserWords {
    /// The rewriter, which rewords the scenario.
    Rewritten,
    /// The scenario, whose words stay unchanged.
    Scenario,
}

/// The author of the assistant's calls and words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AssistantWords {
    /// The caller agent, which solves the request in a live session.
    Caller,
    /// The rewriter, which rewords the scenario.
    Rewritten,
    /// The scenario, whose words stay unchanged.
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

/// Settings of a run with a model. Its rows depend on each of them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the model on its server.
    pub model: String,
    /// Terms of the model, for the licence of the rows.
    pub terms: String,
    /// Author of the user's words.
    pub user: UserWords,
    /// Author of the assistant's calls and words.
    pub assistant: AssistantWords,
    /// True if a row keeps the planned calls and words when the caller agent fails.
    pub falls_back: bool,
    /// Form of the caller agent's calls.
    pub protocol: Protocol,
    /// Maximum number of attempts at a row, each with another plan.
    pub attempts: u32,
    /// Votes of the judge on a row. Zero disables the judge.
    pub votes: u32,
    /// Sampling of tokens.
    pub sampling: Sampling,
}

impl Settings {
    /// Returns the settings on which rows depend, for the manifest.
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
