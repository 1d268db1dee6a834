//! Owns the play of scenarios: conversations that people wrote, over records that make them true.
//!
//! It turns a scenario into a candidate: it binds records, fills in the words, and makes the calls in a
//! session. The tester decides whether the candidate is right.

mod act;
mod articles;
mod aside;
mod assurance;
mod bridge;
pub mod by_rule;
mod check;
mod claims;
mod consent;
pub mod detour;
mod filters;
mod further;
mod hand;
mod leaf;
mod look_up;
pub(crate) mod names;
mod pages;
pub(crate) mod play;
mod player;
mod plead;
mod policy;
mod prior;
mod push;
pub mod rehearse;
pub mod render;
mod revise;
pub(crate) mod rule;
mod search;
pub(crate) mod set;
pub(crate) mod shares;
mod sign_in;
mod signing_in;
pub mod speech;
mod state;
mod steps;
pub mod system;
pub mod tags;
mod templates;
mod token;
pub(crate) mod tools;
mod unplayed;
pub(crate) mod weights;
mod wish;
mod words;

pub use self::detour::Detour;
pub use self::play::{PlayOptions, PlayResult, play};
pub use self::push::Push;
pub(crate) use self::search::keywords;
pub use self::set::{Further, Joins, ScenarioDraw, ScenarioSet};
pub use self::shares::Shares;
pub use self::tools::Pool;
pub use self::unplayed::PlayError;

#[cfg(test)]
pub(crate) mod tests;
