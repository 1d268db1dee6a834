//! Scenarios played: conversations that people wrote whole, over records that make them true.
//!
//! Owns how a scenario becomes a candidate: which records take its places, what its words say of them, and its calls,
//! made in a session. Whether the candidate is right is the tester's business.

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
mod policy;
mod prior;
pub mod rehearse;
pub mod render;
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
mod words;

pub use self::detour::Detour;
pub use self::play::{PlayOptions, Played, play};
pub(crate) use self::search::keywords;
pub use self::set::{Drawn, Further, Joins, ScenarioSet};
pub use self::shares::Shares;
pub use self::tools::Pool;
pub use self::unplayed::Unplayed;

#[cfg(test)]
mod tests;
