//! Queries of the benchmark.

use std::path::Path;

use serde::Deserialize;

use crate::material::{BenchmarkError, json_of};

/// A query of the benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Query {
    /// The user's request.
    pub query: String,
    /// The calls that answer it, in order: `GET /movie/{movie_id}/credits`.
    pub solution: Vec<String>,
    /// Texts that an answer must hold; RestBench's own files have none.
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
