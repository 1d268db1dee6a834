//! Owns the agents under test.
//!
//! Owns the [`environment`] of an agent, the [`trace`] of an episode, the [`prompts`], and the methods of the
//! papers ([`Method`]), which share one engine. It also owns the detection of [`question`]s to the user, and
//! the counts that evaluations share ([`meter`], [`shares`], [`rouge`]). It knows no task, no check and no
//! judge. Those are in a package above it, so no agent can name them.

mod baseline;
mod document;
pub mod environment;
mod episode;
mod form;
mod function_calling;
pub mod jq;
mod labels;
pub mod meter;
mod note;
pub mod operation;
pub mod plan;
mod planned;
mod prompted;
pub mod prompts;
pub mod question;
mod react;
mod restgpt;
mod reverse_chain;
pub mod role_model;
pub mod rouge;
pub mod shares;
pub mod toolbox;
pub mod trace;
pub mod types;

pub use self::baseline::{Baseline, Method};
pub use self::environment::Agent;
pub use self::plan::Execution;
pub use self::restgpt::{CallerForm, Parsing, Planning};
pub use self::reverse_chain::Completion;
