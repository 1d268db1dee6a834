//! Owns the queries, hits and errors of the search.

use diorama_seeds::model::Method;
use schemars::JsonSchema;
use serde::Serialize;

use diorama_engine::embed::EmbedError;

/// Reasons for which APIs cannot be searched.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The index of words cannot be made or read.
    #[error("the index of APIs: {0}")]
    Index(#[from] tantivy::TantivyError),
    /// Texts cannot be embedded.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

/// Parts of the search that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchBy {
    /// BM25 only.
    Words,
    /// Vectors only.
    Meaning,
    /// Both, fused by rank.
    Fused,
    /// Both, and the needs of the hits.
    #[default]
    FusedAndNeeds,
}

impl SearchBy {
    /// All variants, in ascending order of power.
    pub const ALL: [Self; 4] = [Self::Words, Self::Meaning, Self::Fused, Self::FusedAndNeeds];

    /// Returns the name: `lexical`, `embedding`, `fused`, `fused+needs`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "lexical",
            Self::Meaning => "embedding",
            Self::Fused => "fused",
            Self::FusedAndNeeds => "fused+needs",
        }
    }

    /// Returns the variant with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.name() == name)
    }
}

/// Query for APIs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApiQuery<'a> {
    /// Text of the query, in plain words.
    pub text: &'a str,
    /// Maximum number of hits.
    pub k: usize,
    /// Name of the only world.
    pub world: Option<&'a str>,
    /// Name of the only domain.
    pub domain: Option<&'a str>,
    /// The only HTTP method.
    pub method: Option<Method>,
    /// Parts of the search that count.
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
