//! The user simulator: what a user answers to an assistant, and the conversation that results.
//!
//! Generation, `eval` and the server all use this one. The user gives what was asked for and nothing more: a message that
//! asks nothing brings nothing out. This package must not see checks, reference calls or hidden records.

mod answer;
mod asks;
pub mod conversation;
mod detail;
mod message;
mod phrases;
mod reply;
mod topic;

pub use self::answer::{Answer, AssistantTurn, Progress, answer, joined};
pub use self::reply::tells_nothing;

#[cfg(test)]
#[path = "../../engine/src/tests/shared.rs"]
mod shared;
