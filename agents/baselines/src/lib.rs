//! The agents under test, and what they hold.
//!
//! Owns the [`environment`] that an agent acts in, the [`trace`] of what it did, and each
//! agent's protocol: its prompts, and how replies are read; and what every evaluation of them counts with ([`meter`],
//! [`shares`], [`rouge`]). It knows no task, no check and no judge: those are in a package
//! above it, so that no agent can name them.

pub mod ending;
pub mod environment;
pub mod function_calling;
pub mod jq;
pub mod meter;
pub mod mind;
pub mod plan;
pub mod planned;
pub mod prompted;
pub mod prompts;
pub mod react;
pub mod restgpt;
pub mod reverse_chain;
pub mod rouge;
pub mod shares;
pub mod toolbox;
pub mod trace;
pub mod types;

use crate::environment::{Environment, Soon};

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
