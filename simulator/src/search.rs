//! Search for APIs: among many worlds ([`ApiIndex`]), and inside a session ([`ToolFinder`], `toolsearch/3`).
//!
//! Both fuse (`fusion`) words, meaning (`vectors`: the cosine of an embedder's vectors) and needs (`needs`: what
//! returns the arguments that a hit asks for). The words of the first are tantivy's (`lexical`), those of the second BM25
//! in integers (`finder`). The first improves freely; the second is part of the replay contract, and with it `fusion`,
//! `needs`, `vectors` and `entry`: a change of what they find is a new version.

mod entry;
mod finder;
mod fused;
mod fusion;
mod lexical;
mod needs;
mod score;
mod types;
mod vectors;
pub(crate) mod words;

pub use self::entry::{ApiEntry, Port, entries};
pub use self::finder::ToolFinder;
pub use self::fused::ApiIndex;
pub use self::types::{ApiHit, ApiQuery, PartScores, SearchBy, SearchError};

#[cfg(test)]
mod tests;
