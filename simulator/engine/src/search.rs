//! Owns the search for APIs in a session ([`ToolFinder`], `toolsearch/3`), and the parts that the search over
//! many worlds shares with it.
//!
//! It fuses (`fusion`) words, meaning (`vectors`: the cosine of embeddings) and needs (`needs`: APIs that
//! return the arguments of a hit). It is part of the replay contract, so a change of its results needs a new
//! version.

mod entry;
mod finder;
pub mod fusion;
mod needs;
pub mod score;
mod vectors;
pub mod words;

pub use self::entry::{ApiEntry, Port, entries};
pub use self::finder::ToolFinder;
pub use self::needs::ExchangedScores;
pub use self::vectors::cosine;
