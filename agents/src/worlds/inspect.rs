//! Finds faults of a world that need no conversation.
//!
//! Owns the sum of all checks: those of the document, those that need the engine (APIs that never succeed),
//! and those of its scenarios. `diorama world check` prints it, and the API agent passes it to its model.

use diorama_engine::{Base, never_succeeding};
use diorama_seeds::check;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::materialise::Source;
use diorama_seeds::model::ApiId;
use diorama_seeds::world::{self, Files, Finding, Report};

use super::error::PipelineError;
use crate::scenarios::ScenarioSet;

/// The number of seeds for records on which each API is called.
const SEEDS: u64 = 3;

/// Returns all faults of a world; `text` is its source, without the scenarios beside it.
///
/// # Errors
/// Returns an error if a document without errors cannot run.
pub fn inspect(name: &str, text: &[u8], doc: &WorldDoc) -> Result<Report, PipelineError> {
    let files = Files { world: (name.to_owned(), text.to_vec()), ..Files::default() };
    deepened(check::examine(name, text), &files, doc)
}

/// Adds the findings of the engine and of the scenarios to the report on a document without errors.
///
/// # Errors
/// Returns an error if the document cannot run.
pub fn deepened(mut report: Report, files: &Files, doc: &WorldDoc) -> Result<Report, PipelineError> {
    if report.errors() > 0 {
        return Ok(report);
    }
    report.findings.extend(impossible(doc)?);
    report.findings.extend(ScenarioSet::new(doc, &world::compile(doc)?).1);
    Ok(files.locate(report))
}

/// Returns the APIs of which no call succeeds on the initial records, for any seed.
fn impossible(doc: &WorldDoc) -> Result<Vec<Finding>, PipelineError> {
    let source = Source::new(doc.clone())?;
    let mut found: Option<Vec<ApiId>> = None;
    for seed in 0..SEEDS {
        let base = Base::new(source.recorded(seed)?)?;
        let never = never_succeeding(&base);
        let known = found.get_or_insert_with(|| never.clone());
        known.retain(|api| never.contains(api));
        if known.is_empty() {
            break;
        }
    }
    Ok(found.unwrap_or_default().into_iter().map(|api| check::never_succeeds(doc, api)).collect())
}
