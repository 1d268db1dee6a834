//! The search for APIs inside a session ([`ToolFinder`], `toolsearch/3`), and the parts that a search among many worlds shares with it.
//!
//! It fuses (`fusion`) words, meaning (`vectors`: the cosine of an embedder's vectors) and needs (`needs`: what returns the
//! arguments that a hit asks for). It is part of the replay contract: a change of what it finds is a new version.

mod entry;
mod finder;
pub mod fusion;
mod needs;
pub mod score;
mod vectors;
pub mod words;

pub use self::entry::{ApiEntry, Port, entries};
pub use self::finder::ToolFinder;
pub use self::needs::Exchanged;
pub use self::vectors::cosine;
