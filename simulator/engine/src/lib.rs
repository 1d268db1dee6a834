//! The engine: executes calls, keeps sessions, injects faults, and searches for tools.
//!
//! Owns states and the function [`apply`], which changes them. It is pure: no clock, no randomness, no files.
//! Time and seed are part of the state. Every call ends in a reply for any arguments, and a failed call
//! changes nothing.

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
pub use self::apply::{CallResult, apply, broken_rule, turning_misreadings};
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

/// Version of the engine's behaviour. It changes with anything that could change a recorded reply or digest.
pub const ENGINE_VERSION: &str = "engine/1";

#[cfg(test)]
extern crate self as diorama_engine;
#[cfg(test)]
mod tests;
