//! Queries of the benchmark.

use std::path::Path;

use serde::Deserialize;

use super::answer::AnswerFact;
use crate::material::{BenchmarkError, parse_json};

/// A query of the benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Query {
    /// The user's request.
    pub query: String,
    /// The calls that answer it, in order: `GET /movie/{movie_id}/credits`.
    pub solution: Vec<String>,
    /// Selects the facts that an answer must state in the gold path's replies. RestBench's own files do not
    /// have it.
    #[serde(default)]
    pub answer: Vec<AnswerFact>,
}

impl Query {
    /// Reads a file of queries: a JSON list.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, has another form, has no queries, or has a fact without a call
    /// in its path.
    pub fn read(path: &Path) -> Result<Vec<Self>, BenchmarkError> {
        let queries: Vec<Self> = parse_json(path, "a JSON list of {query, solution}")?;
        if queries.is_empty() {
            return Err(BenchmarkError::form(path, "found no queries, expected some"));
        }
        for query in &queries {
            for fact in &query.answer {
                let wrong =
                    |what| BenchmarkError::form(path, format!("the answer of `{}`: {what}", query.query));
                fact.check(query.solution.len()).map_err(wrong)?;
            }
        }
        Ok(queries)
    }
}
