//! Queries of the benchmark, and what came of their gold paths.

use std::path::Path;

use serde::Deserialize;

use crate::material::{BenchmarkError, json_of};

/// A query of the benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Query {
    /// What a user asks.
    pub query: String,
    /// The calls that answer it, in order: `GET /movie/{movie_id}/credits`.
    pub solution: Vec<String>,
    /// What an answer must hold; RestBench's own files have none.
    #[serde(default)]
    pub answer: Option<Vec<String>>,
}

/// Which calls of a path are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// The path's own, and those that lead to an id which no earlier reply shows.
    Completed,
    /// The path's own only.
    AsWritten,
}

/// How one query went.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// The query's position.
    pub(super) index: usize,
    /// What a user asks.
    pub(super) query: String,
    /// The calls, as they were made.
    pub(super) calls: Vec<Called>,
    /// Those of them that the path leaves out, as they were made.
    pub(super) inserted: Vec<String>,
    /// Ids of earlier replies that were followed, or looked up, and led to a record of the same name.
    pub(super) agreeing: usize,
    /// Ids that did not.
    pub(super) disagreeing: usize,
    /// What is wrong; nothing when every call succeeded and every id and name agrees.
    pub(super) faults: Vec<String>,
}

/// A call of a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Called {
    /// Method and path, filled.
    pub(super) call: String,
    /// Status of the reply.
    pub(super) status: u16,
}

impl Outcome {
    /// Whether every call was made and succeeded.
    #[must_use]
    pub(super) fn every_call_succeeded(&self, planned: usize) -> bool {
        self.calls.len() == planned + self.inserted.len()
            && self.calls.iter().all(|call| (200..300).contains(&call.status))
    }
}

impl Query {
    /// Reads a file of queries: a JSON list.
    ///
    /// # Errors
    /// When it cannot be read, is of another form, or holds none.
    pub fn read(path: &Path) -> Result<Vec<Self>, BenchmarkError> {
        let queries: Vec<Self> = json_of(path, "a JSON list of {query, solution}")?;
        if queries.is_empty() {
            return Err(BenchmarkError::form(path, "found no queries, expected some"));
        }
        Ok(queries)
    }
}
