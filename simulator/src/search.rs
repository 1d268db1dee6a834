//! Search for APIs among many worlds ([`ApiIndex`]): words are tantivy's (`lexical`); meaning, needs and their fusion are those of
//! the search inside a session ([`diorama_engine::search`]). It improves freely.

mod fused;
mod lexical;
mod types;

pub use self::fused::ApiIndex;
pub use self::types::{ApiHit, ApiQuery, PartScores, SearchBy, SearchError};
pub use diorama_engine::search::{ApiEntry, Port, entries};

#[cfg(test)]
mod tests;
