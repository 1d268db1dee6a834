//! Owns a hit of the tool search.

use diorama_seeds::model::ApiId;

/// An API that a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The API.
    pub api: ApiId,
    /// The fitness; greater is better. Comparable within one search only.
    pub score: u32,
}
