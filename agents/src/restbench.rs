//! RestBench: the gold paths of a benchmark's queries, executed in order against a mock of the real service.
//!
//! Owns reading the queries, finding the things that they name, and walking a path: each id in a path comes from an
//! earlier reply of the same query, and must lead to a record of the name under which it stood there. For an id that no
//! earlier reply holds, calls that lead to it are inserted, made and reported, or, as the paths are written, the path
//! has failed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

pub mod agents;
mod choose;
mod insert;
mod named;
pub mod service;
mod shown;
mod sightings;
mod template;
mod walk;

pub use named::{Named, named, parts};
use service::ServiceError;
pub use template::Templates;
use walk::Walk;

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

/// Whoever answers calls: a session in this process, or a server.
pub trait Service {
    /// Makes a call of the document. `template` is the document's path, `arguments` its path and query parameters.
    ///
    /// # Errors
    /// When there is no reply at all.
    fn call(
        &mut self,
        method: &str,
        template: &str,
        arguments: &Map<String, Json>,
    ) -> Result<(u16, Json), ServiceError>;
}

/// How one query went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The query's position.
    pub index: usize,
    /// What a user asks.
    pub query: String,
    /// The calls, as they were made.
    pub calls: Vec<Called>,
    /// Those of them that the path leaves out, as they were made.
    pub inserted: Vec<String>,
    /// Ids of earlier replies that were followed, or looked up, and led to a record of the same name.
    pub agreeing: usize,
    /// What is wrong; nothing when every call succeeded and every id and name agrees.
    pub faults: Vec<String>,
}

/// A call of a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Called {
    /// Method and path, filled.
    pub call: String,
    /// Status of the reply.
    pub status: u16,
}

/// How all queries went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Queries.
    pub queries: usize,
    /// Those of which every call succeeded.
    pub every_call_succeeded: usize,
    /// Those of which every call succeeded and every id leads to the name it stood under.
    pub passed: usize,
    /// Those of them whose path leaves no call out.
    pub passed_as_written: usize,
    /// Calls that were inserted, of all queries.
    pub inserted_calls: usize,
    /// Calls made.
    pub calls: usize,
    /// Calls that succeeded.
    pub calls_succeeded: usize,
    /// Ids that led to a record of the same name.
    pub ids_agreeing: usize,
    /// Faults by kind.
    pub faults: BTreeMap<String, usize>,
    /// Query by query.
    pub outcomes: Vec<Outcome>,
}

impl Outcome {
    /// Whether every call was made and succeeded.
    #[must_use]
    pub fn every_call_succeeded(&self, planned: usize) -> bool {
        self.calls.len() == planned + self.inserted.len()
            && self.calls.iter().all(|call| (200..300).contains(&call.status))
    }
}

/// Runs all queries. `fresh` prepares the service for a query: a benchmark's queries do not see each other's writes.
///
/// # Errors
/// When the service gives no reply at all.
pub fn run<S: Service>(
    queries: &[Query],
    templates: &Templates,
    paths: Paths,
    mut fresh: impl FnMut() -> S,
) -> Result<Summary, ServiceError> {
    let mut outcomes = Vec::with_capacity(queries.len());
    for (index, query) in queries.iter().enumerate() {
        let mut service = fresh();
        outcomes.push(Walk::new(templates, &mut service, query, paths).run(index)?);
    }
    let calls = || outcomes.iter().flat_map(|outcome| &outcome.calls);
    let planned = |outcome: &&Outcome| {
        queries.get(outcome.index).is_some_and(|query| outcome.every_call_succeeded(query.solution.len()))
    };
    let passed = || outcomes.iter().filter(planned).filter(|outcome| outcome.faults.is_empty());
    let mut faults = BTreeMap::new();
    for fault in outcomes.iter().flat_map(|outcome| &outcome.faults) {
        let kind = fault.split(':').next().unwrap_or_default().to_owned();
        *faults.entry(kind).or_insert(0) += 1;
    }
    Ok(Summary {
        queries: queries.len(),
        every_call_succeeded: outcomes.iter().filter(planned).count(),
        passed: passed().count(),
        passed_as_written: passed().filter(|outcome| outcome.inserted.is_empty()).count(),
        inserted_calls: outcomes.iter().map(|outcome| outcome.inserted.len()).sum(),
        calls: calls().count(),
        calls_succeeded: calls().filter(|call| (200..300).contains(&call.status)).count(),
        ids_agreeing: outcomes.iter().map(|outcome| outcome.agreeing).sum(),
        faults,
        outcomes,
    })
}

#[cfg(test)]
mod tests;
