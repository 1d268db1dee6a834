//! Scenarios played: conversations that people wrote whole, over records that make them true.
//!
//! Owns how a scenario becomes a candidate: which records take its places, what its words say of them, and its calls,
//! made in a session. Whether the candidate is right is the tester's business.

mod aside;
mod bridge;
mod check;
mod claims;
pub mod detour;
mod filters;
mod hand;
mod leaf;
mod look_up;
pub(super) mod names;
pub(super) mod play;
mod player;
mod prior;
pub mod rehearse;
mod search;
pub(super) mod set;
pub(super) mod shares;
mod sign_in;
mod signing_in;
mod state;
mod templates;
mod token;
mod unplayed;
mod words;

pub use self::detour::Detour;
pub use self::play::{PlayOptions, Played, play};
pub(super) use self::search::keywords;
pub use self::set::{Drawn, Joins, ScenarioSet};
pub use self::shares::Shares;
pub use self::unplayed::Unplayed;

#[cfg(test)]
mod tests;
