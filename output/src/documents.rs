//! `documents.json`: what each document of a folder gave a dataset.
//!
//! A run knows the documents before its first row, and their rows when it ends. The reports stand under `.progress` until then,
//! where every shard finds the same ones; [`complete`] adds the counts of the finished files. It has no times and no paths of
//! the machine.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::manifest::MetadataError;
use crate::row::Split;
use crate::storage::Storage;

/// The file's name.
pub const DOCUMENTS: &str = "documents.json";
/// The folder, below the location, of what a run keeps of its documents until it ends.
pub const KEPT: &str = ".progress/documents";
/// The reports without counts, while the run goes on.
pub(crate) const REPORTS: &str = ".progress/documents.json";
/// Bytes of the reports, at most.
const MAX_BYTES: u64 = 512 << 20;
/// The reason of an operation that scenarios call and no row does.
pub const NO_TURN: &str = "its scenarios had no turn, or lost every try";

/// What is known of a document, and what rows came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentReport {
    /// Its path below the folder that was named, with `/`.
    pub document: String,
    /// The name of its domain; empty if it has no world.
    pub name: String,
    /// Who offers the API.
    pub provider: String,
    /// Which of the provider's APIs it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The version that it states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The licence of its rows.
    pub license: String,
    /// The source of its rows.
    pub source: String,
    /// The split of its rows; none if no row is asked of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Operations of its world.
    pub operations: u64,
    /// Operations by the level that their behaviour reaches.
    pub fidelity: BTreeMap<String, u64>,
    /// Notes on what is not served as the document says.
    pub notes: u64,
    /// Operations for which scenarios were written.
    pub askable: u64,
    /// Rows asked of it.
    pub share: u64,
    /// Rows that it gave.
    pub rows: u64,
    /// Operations that rows call, with the number of those rows.
    pub asked: BTreeMap<String, u64>,
    /// Operations that no row calls, by the reason.
    pub unasked: BTreeMap<String, Vec<String>>,
    /// The reason why it has no world, or why making its rows ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The rows of one document among those of a batch, a file or a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentRows {
    /// Rows made for it.
    pub rows: u64,
    /// Rows that call each of its operations.
    pub operations: BTreeMap<String, u64>,
    /// The reasons why rows of it could not be made.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub failures: BTreeSet<String>,
}

/// The rows of documents, by the names of their domains.
pub type RowsByDocument = BTreeMap<String, DocumentRows>;

/// Reads the reports of the documents of a dataset, or of a run that goes on, in which they have no counts yet; none where there are
/// no documents.
///
/// # Errors
/// When they are not reports.
pub fn read(storage: &Storage) -> Result<Option<Vec<DocumentReport>>, MetadataError> {
    match read_reports(storage, DOCUMENTS)? {
        Some(reports) => Ok(Some(reports)),
        None => read_reports(storage, REPORTS),
    }
}

pub(crate) fn read_reports(
    storage: &Storage,
    name: &str,
) -> Result<Option<Vec<DocumentReport>>, MetadataError> {
    let Some(bytes) = storage.read(name, MAX_BYTES)? else { return Ok(None) };
    let reports = serde_json::from_slice(&bytes);
    Ok(Some(reports.map_err(|error| MetadataError::Invalid {
        path: storage.full_name(name),
        what: format!("not valid: {error}; remove it, and run the same command again"),
    })?))
}

/// Adds the rows of another batch or file.
pub fn add_rows(sum: &mut RowsByDocument, other: &RowsByDocument) {
    for (name, rows) in other {
        let own = sum.entry(name.clone()).or_default();
        own.rows += rows.rows;
        for (operation, count) in &rows.operations {
            *own.operations.entry(operation.clone()).or_default() += count;
        }
        own.failures.extend(rows.failures.iter().cloned());
    }
}

/// Adds the rows of a run to the reports of its documents.
pub fn complete(reports: &mut [DocumentReport], rows: &RowsByDocument) {
    for report in reports {
        let Some(found) = rows.get(&report.name).filter(|_| !report.name.is_empty()) else { continue };
        report.rows = found.rows;
        report.asked.clone_from(&found.operations);
        for names in report.unasked.values_mut() {
            names.retain(|name| !found.operations.contains_key(name));
        }
        report.unasked.retain(|_, names| !names.is_empty());
        if report.failed.is_none() && !found.failures.is_empty() {
            report.failed = Some(found.failures.iter().cloned().collect::<Vec<_>>().join("; "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_all_files_complete_the_reports() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let report = |name: &str| DocumentReport {
            document: format!("{name}.json"),
            name: name.to_owned(),
            unasked: BTreeMap::from([
                (NO_TURN.to_owned(), names(&["Get", "List"])),
                ("x".to_owned(), names(&["Put"])),
            ]),
            ..DocumentReport::default()
        };
        let file = |operation: &str, failure: Option<&str>| {
            let rows = DocumentRows {
                rows: 2,
                operations: BTreeMap::from([(operation.to_owned(), 1)]),
                failures: failure.map(str::to_owned).into_iter().collect(),
            };
            RowsByDocument::from([("one".to_owned(), rows)])
        };
        let mut rows = file("Get", None);
        add_rows(&mut rows, &file("Put", Some("it took more than 60 s")));
        let mut reports = [report("one"), report("two")];
        complete(&mut reports, &rows);
        let [one, two] = reports;
        assert_eq!((one.rows, one.asked.len()), (4, 2));
        assert_eq!(one.unasked, BTreeMap::from([(NO_TURN.to_owned(), names(&["List"]))]));
        assert_eq!(one.failed.as_deref(), Some("it took more than 60 s"));
        assert_eq!((two.rows, two.unasked.len(), two.failed), (0, 2, None));
    }
}
