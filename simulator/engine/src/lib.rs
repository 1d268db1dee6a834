//! The engine: what a call does to a world, sessions of calls, injected faults, and the search for tools in a session.
//!
//! Owns states and the one function that moves them on, [`apply`]. It is pure: no clock, no randomness, no files;
//! time and seed are part of the state. Whatever the arguments are, a call ends in a reply, and a call that
//! does not succeed changes nothing.

mod aggregate;
mod apply;
mod arguments;
mod base;
mod consent;
mod contract;
mod digest;
mod draft;
pub mod embed;
pub mod eval;
mod extremes;
pub mod fault;
mod filter;
mod fit;
mod index;
mod names;
mod outage;
mod overlay;
mod page;
mod perform;
mod possible;
pub mod refusal;
mod reply;
mod run;
pub mod search;
mod select;
pub mod session;
mod show;
mod sign;
mod smoke;
mod standing;
mod state;
pub mod tools;
mod write;

pub use self::apply::unknown_api;
pub use self::apply::{Applied, apply, broken_rule};
pub use self::base::{Base, BaseError};
pub use self::consent::{Holder, NeededConsent, StatedValue};
pub use self::digest::Digest;
pub use self::extremes::extremes;
pub use self::page::{HOST, TOTALS};
pub use self::possible::never_succeeding;
pub use self::reply::{Body, Origin, Reply};
pub use self::smoke::{Smoke, smoke};
pub use self::state::kept::KeptState;
pub use self::state::{Reading, RecordChange, State, diff, net};

/// The version of the engine's behaviour. It changes with anything that could change a recorded reply or digest.
pub const ENGINE_VERSION: &str = "engine/1";

#[cfg(test)]
extern crate self as diorama_engine;
#[cfg(test)]
mod tests;
