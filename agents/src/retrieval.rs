//! The search bench: how well a search finds the APIs that a request needs.
//!
//! Owns the benchmark's material (requests with the APIs that answer them, over one pool), its measures and their
//! intervals. The searches are the simulator's.

mod measure;
mod read;

use diorama_simulator::search::ApiEntry;

pub use self::measure::{CUTS, Interval, Measured, compare, summary};
pub use self::read::{MaterialError, of_dataset, of_lines, of_reverse_chain};

/// Requests over one pool of APIs.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// The pool.
    pub pool: Vec<ApiEntry>,
    /// The requests.
    pub cases: Vec<Case>,
}

/// A request and the APIs that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The request.
    pub query: String,
    /// The positions in the pool of the APIs that answer it, sorted, at least one.
    pub gold: Vec<usize>,
}
