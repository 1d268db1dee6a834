//! A user's progress in a script, and the messages that move it on: types only.

use std::sync::Arc;

use diorama_engine::Base;
use diorama_engine::session::LogEntry;
use diorama_seeds::task::Outcome;
use diorama_seeds::value::Instant;
use serde::{Deserialize, Serialize};

/// How far a user has come in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The goal that is open.
    pub goal: u32,
    /// The withheld details that were told, by position.
    pub revealed: Vec<u32>,
    /// How many of its own lines were said.
    pub lines: u32,
    /// How many of its pleas were said.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pleas: u32,
    /// How many needless questions the user was asked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub needless: u32,
    /// How many calls the episode had when the goal opened.
    pub opened_at: usize,
    /// How the goals before it ended.
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
    /// The assistant's words.
    pub message: &'a str,
    /// The outcome of the goal that it ends with them; words alone end none.
    pub outcome: Option<Outcome>,
    /// The episode so far.
    pub scene: Scene<'a>,
}

/// The state of an episode.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The calls so far.
    pub log: &'a [Arc<LogEntry>],
    /// The world.
    pub base: &'a Base,
    /// The session's clock.
    pub clock: Instant,
}

/// The user's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The words; none when the conversation is over.
    pub content: Option<String>,
    /// Where the user stands now.
    pub progress: Progress,
    /// How the goal that was open ended, where this ended it.
    pub ended: Option<Outcome>,
}
