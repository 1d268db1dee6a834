//! RestBench: the gold paths of a benchmark's queries, executed in order against a mock of the real service, and agents.
//!
//! Owns reading the queries, finding the things that they name, and walking a path: each id in a path comes from an
//! earlier reply of the same query, and must lead to a record of the name under which it stood there. For an id that no
//! earlier reply holds, calls that lead to it are inserted, made and reported, or, as the paths are written, the path
//! has failed.

mod agents;
mod choose;
mod field;
mod insert;
mod named;
mod query;
mod replay;
mod service;
mod shown;
mod sightings;
mod template;
mod walk;

pub use agents::{Asked, Pool};
pub use field::{Field, entities, imported};
pub use named::{named, parts};
pub use query::{Paths, Query};
pub use replay::replay;
pub use service::{InSession, OverHttp, ServiceError};
pub use template::Templates;

#[cfg(test)]
mod tests;
