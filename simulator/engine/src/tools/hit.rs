//! A hit of a search for tools.

use diorama_seeds::model::ApiId;

/// An API that a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The API.
    pub api: ApiId,
    /// How well it fits; greater is better. Comparable within one search only.
    pub score: u32,
}
