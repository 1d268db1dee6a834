//! Owns the search for APIs among many worlds ([`ApiIndex`]). Words come from tantivy (`lexical`); meaning,
//! needs and their fusion come from the search inside a session ([`diorama_engine::search`]). It has no
//! version, so that its ranking may change.

mod fused;
mod lexical;
mod types;

pub use self::fused::ApiIndex;
pub use self::types::{ApiHit, ApiQuery, PartScores, SearchBy, SearchError};
pub use diorama_engine::search::{ApiEntry, Port, entries};

#[cfg(test)]
mod tests;
