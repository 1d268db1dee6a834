//! Gold paths, executed in order.

use super::query::{Outcome as Walked, Paths, Query};
use super::service::{Service, ServiceError};
use super::template::Templates;
use super::walk::Walk;
use crate::summary::{Measure, Outcome, Summary};

const MEASURES: &[Measure] = &[
    ("passed", "queries: every call 2xx, every id under its name"),
    ("passed_as_written", "of them: without an inserted call"),
    ("every_call_succeeded", "queries: every call 2xx"),
    ("calls_succeeded", "calls 2xx"),
    ("inserted_calls", "calls that were inserted"),
    ("ids_agree", "ids that lead to a record of the same name"),
];

/// Runs all queries. `fresh` prepares the service for a query: a benchmark's queries do not see each other's writes.
///
/// # Errors
/// When the service gives no reply at all.
pub fn replay<S: Service>(
    queries: &[Query],
    templates: &Templates,
    paths: Paths,
    mut fresh: impl FnMut() -> S,
) -> Result<Summary, ServiceError> {
    let mut outcomes = Vec::with_capacity(queries.len());
    for (index, query) in queries.iter().enumerate() {
        let mut service = fresh();
        let walked = Walk::new(templates, &mut service, query, paths).run(index)?;
        outcomes.push(measured(query, walked));
    }
    Ok(Summary::of("gold paths", None, MEASURES, outcomes))
}

fn measured(query: &Query, walked: Walked) -> Outcome {
    let mut outcome = Outcome::new(walked.index.to_string());
    outcome.groups.push(("path", query.solution.len().to_string()));
    let every = walked.every_call_succeeded(query.solution.len());
    let passed = every && walked.faults.is_empty();
    outcome.share("passed", passed);
    outcome.share("passed_as_written", passed && walked.inserted.is_empty());
    outcome.share("every_call_succeeded", every);
    let succeeded = walked.calls.iter().filter(|call| (200..300).contains(&call.status)).count();
    let calls = walked.calls.len() as u64;
    outcome.part("calls_succeeded", succeeded as u64, calls);
    outcome.part("inserted_calls", walked.inserted.len() as u64, calls);
    outcome.part("ids_agree", walked.agreeing as u64, (walked.agreeing + walked.disagreeing) as u64);
    if let Some(fault) = walked.faults.first() {
        outcome.errors.insert("fault", fault.split(':').next().unwrap_or_default().to_owned());
    }
    outcome.notes.extend(walked.inserted.iter().map(|call| format!("inserted {call}")));
    outcome.notes.extend(walked.faults.iter().cloned());
    outcome.detail("query", query.query.trim());
    outcome.detail("calls", walked.calls.into_iter().map(|call| call.call).collect::<Vec<_>>());
    outcome.detail("inserted", walked.inserted);
    outcome.detail("faults", walked.faults);
    outcome
}

/// Returns the calls of a gold path, filled; none where it does not run through.
pub(super) fn walked<S: Service>(
    templates: &Templates,
    service: &mut S,
    query: &Query,
) -> Result<Option<Vec<String>>, ServiceError> {
    let outcome = Walk::new(templates, service, query, Paths::Completed).run(0)?;
    if !outcome.faults.is_empty() || !outcome.every_call_succeeded(query.solution.len()) {
        return Ok(None);
    }
    let mut inserted = outcome.inserted.iter().peekable();
    let own = outcome.calls.into_iter().filter(|called| {
        let is_inserted = inserted.peek() == Some(&&called.call);
        if is_inserted {
            inserted.next();
        }
        !is_inserted
    });
    Ok(Some(own.map(|called| called.call.split('?').next().unwrap_or_default().to_owned()).collect()))
}
