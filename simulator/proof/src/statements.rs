//! Statements: what the messages of a dialogue state, held against what was visible when they were written.
//!
//! They protect the dialogues that models are trained on: a stated value stands in something visible or follows from it
//! ([`unsupported`]), no state is stated that a reply shows to be another ([`contradicts`]), and the last message of a goal
//! states the facts asked for ([`states`]). No agent is graded by its words.

mod facts;
mod states;
mod support;
mod value;
mod visible;

pub(crate) use self::facts::states;
pub(crate) use self::states::contradicts;
pub(crate) use self::support::{Kind, Unsupported, unsupported};
pub(crate) use self::visible::Visible;

#[cfg(test)]
mod tests;
