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
mod vectors;
pub(crate) mod words;

use diorama_seeds::model::Method;
use serde::Serialize;

pub use self::entry::{ApiEntry, Port, entries};
pub use self::finder::ToolFinder;
pub use self::fused::ApiIndex;
use crate::embed::EmbedError;

/// Why APIs cannot be searched.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The index of words cannot be made or read.
    #[error("the index of APIs: {0}")]
    Index(#[from] tantivy::TantivyError),
    /// Texts cannot be embedded.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

/// Which parts of the search count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchBy {
    /// BM25 only.
    Words,
    /// Vectors only.
    Meaning,
    /// Both, fused by rank.
    Fused,
    /// Both, and what the hits need.
    #[default]
    FusedAndNeeds,
}

impl SearchBy {
    /// All, in the order of their power.
    pub const ALL: [Self; 4] = [Self::Words, Self::Meaning, Self::Fused, Self::FusedAndNeeds];

    /// Its name: `lexical`, `embedding`, `fused`, `fused+needs`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "lexical",
            Self::Meaning => "embedding",
            Self::Fused => "fused",
            Self::FusedAndNeeds => "fused+needs",
        }
    }

    /// The one of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.name() == name)
    }
}

/// What is searched for.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApiQuery<'a> {
    /// In plain words.
    pub text: &'a str,
    /// So many hits at most.
    pub k: usize,
    /// Only APIs of this world.
    pub world: Option<&'a str>,
    /// Only APIs of the domain of this name.
    pub domain: Option<&'a str>,
    /// Only APIs of this method.
    pub method: Option<Method>,
    /// Which parts count.
    pub by: SearchBy,
}

/// A found API.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApiHit {
    /// Its name.
    pub api: String,
    /// The name of its domain.
    pub domain: String,
    /// The world that has it.
    pub world: String,
    /// Its HTTP method, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
    /// How well it fits, all parts together; greater is better. Comparable within one search only.
    pub score: f32,
    /// What each part says.
    pub scores: PartScores,
    /// What it does.
    pub description: String,
}

/// What each part of the search says of a hit; nothing where the part did not see it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PartScores {
    /// BM25 of the words.
    pub lexical: Option<f32>,
    /// Cosine of the vectors.
    pub embedding: Option<f32>,
    /// What it gained from hits that can fill its inputs.
    pub fed: Option<f32>,
    /// The share that comes from a hit that needs it.
    pub needed: Option<f32>,
    /// The hit that needs it.
    pub needed_by: Option<String>,
}

#[cfg(test)]
mod tests;
