//! RestBench: the gold paths of a benchmark's queries, executed in order against a mock of the real service, and agents.
//!
//! Owns reading the queries, finding the records that they name, and replaying a path as it is written: each key in a path comes
//! from an earlier reply of the same query, and must lead to a record of the name under which it stood there. A path that leaves
//! a look-up out fails. No word of a document is part of it: parameters and replies are read as the document's world describes
//! them.

mod agents;
mod answer;
mod field;
mod names;
mod operation;
mod query;
mod replay;
mod shown;

pub use agents::{Asked, Pool};
pub use answer::AnswerFact;
pub use field::{Field, entities, imported};
pub use operation::Operations;
pub use query::Query;
pub use replay::replay;

#[cfg(test)]
mod tests;
