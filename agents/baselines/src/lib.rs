//! The agents under test, and what they hold.
//!
//! Owns the [`environment`] that an agent acts in, the [`trace`] of what it did, and each
//! agent's protocol: its prompts, and how replies are read. It knows no task, no check and no judge: those are in a package
//! above it, so that no agent can name them.

mod baseline;
pub mod environment;
mod episode;
mod function_calling;
mod jq;
pub mod mind;
mod note;
pub mod plan;
mod planned;
mod prompted;
pub mod prompts;
mod react;
mod restgpt;
mod reverse_chain;
pub mod toolbox;
pub mod trace;
pub mod types;

pub use self::baseline::{Baseline, Method};
use self::environment::{Environment, Soon};
pub use self::restgpt::{Parsing, Planning};
pub use self::reverse_chain::Completion;

/// An agent under test.
pub trait Agent: Send + Sync {
    /// Acts until the conversation is over, or it gives up.
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()>;
}

impl<A: Agent + ?Sized> Agent for std::sync::Arc<A> {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        (**self).act(environment)
    }
}
