//! Compares the statements of a dialogue's messages with everything that was visible when they were written.
//!
//! A stated value must be visible or follow from a visible one ([`find_unsupported`]). A stated state must
//! not differ from the shown one ([`contradicts`]). The last message of a goal must state the requested facts
//! ([`states`]). No agent is graded by its words.

mod facts;
mod states;
mod support;
mod value;
mod visible;

pub(crate) use self::facts::states;
pub(crate) use self::states::contradicts;
pub(crate) use self::support::{Kind, UnsupportedStatement, find_unsupported};
pub(crate) use self::visible::Visible;

#[cfg(test)]
mod tests;
