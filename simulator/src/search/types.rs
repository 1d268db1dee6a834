//! Queries, hits and errors of the search.

use diorama_seeds::model::Method;
use schemars::JsonSchema;
use serde::Serialize;

use diorama_engine::embed::EmbedError;

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

/// A search for APIs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApiQuery<'a> {
    /// In plain words.
    pub text: &'a str,
    /// The maximum number of hits.
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
    /// The scores by part of the search.
    pub scores: PartScores,
    /// The description of the API.
    pub description: String,
}

/// The scores of a hit by part of the search; none where the part did not see it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PartScores {
    /// BM25 of the words.
    pub lexical: Option<f32>,
    /// Cosine of the vectors.
    pub embedding: Option<f32>,
    /// The gain from hits that can fill its inputs.
    pub fed: Option<f32>,
    /// The share that comes from a hit that needs it.
    pub needed: Option<f32>,
    /// The hit that needs it.
    pub needed_by: Option<String>,
}
