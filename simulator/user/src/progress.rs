//! Defines the user's progress in a script, the assistant's message and the user's answer: types only.

use std::sync::Arc;

use diorama_engine::Base;
use diorama_engine::session::LogEntry;
use diorama_seeds::task::Outcome;
use diorama_seeds::value::Instant;
use serde::{Deserialize, Serialize};

/// The user's position in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Index of the open goal.
    pub goal: u32,
    /// Positions of the withheld details that the user has told.
    pub revealed: Vec<u32>,
    /// The number of the goal's lines that the user has said.
    pub lines: u32,
    /// The number of the goal's pleas that the user has said.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pleas: u32,
    /// The number of needless questions that the user was asked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub needless: u32,
    /// The number of calls of the episode when the goal opened.
    pub opened_at: usize,
    /// The outcomes of the goals before it.
    pub ended: Vec<Outcome>,
    /// True if the user has nothing more to say.
    pub over: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A message of the assistant, in an episode.
#[derive(Clone, Copy, Debug)]
pub struct AssistantTurn<'a> {
    /// The text of the message; empty for none.
    pub message: &'a str,
    /// The outcome of the goal that it ends; words alone end none.
    pub outcome: Option<Outcome>,
    /// The state of the episode.
    pub scene: Scene<'a>,
}

/// The state of an episode.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The calls so far.
    pub log: &'a [Arc<LogEntry>],
    /// The world with its initial records.
    pub base: &'a Base,
    /// The session's clock.
    pub clock: Instant,
}

/// The user's answer to an assistant's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The words; none when the conversation is over.
    pub content: Option<String>,
    /// The user's progress after the answer.
    pub progress: Progress,
    /// The outcome of the goal that the message ended, if it ended one.
    pub ended: Option<Outcome>,
}
