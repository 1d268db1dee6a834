//! RestBench: executes the gold paths of its queries against a mock of the real service, and measures agents
//! on them.
//!
//! Owns reading the queries, finding the records that they name, and replaying paths exactly as written. Each
//! key in a path must come from an earlier reply of the query and lead to a record of the same name. A path
//! that omits a lookup fails. No word of a particular document is built in. Parameters and replies are read
//! as the document's world describes them.

mod agents;
mod answer;
mod field;
mod names;
mod operation;
mod query;
mod replay;
mod shown;

pub use agents::{Pool, QueryCase};
pub use answer::AnswerFact;
pub use field::{Field, entities, imported};
pub use operation::Operations;
pub use query::Query;
pub use replay::replay;

#[cfg(test)]
mod tests;
