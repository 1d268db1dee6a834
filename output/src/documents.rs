//! `documents.json`: the results of each document of a folder.
//!
//! A run knows its documents before its first row, and their rows at its end. Until then the reports are
//! under `.progress`, where every shard finds the same ones. [`complete`] adds the counts of the finished
//! files. The file has no times and no paths of the machine.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::manifest::MetadataError;
use crate::row::Split;
use crate::storage::Storage;

/// The file's name.
pub const DOCUMENTS: &str = "documents.json";
/// The folder for files that a run keeps about its documents until it ends.
pub const KEPT: &str = ".progress/documents";
/// The reports without counts, during the run.
pub(crate) const REPORTS: &str = ".progress/documents.json";
/// Maximum bytes of the reports.
const MAX_BYTES: u64 = 512 << 20;
/// The reason for an operation that scenarios call, but no row does.
pub const NO_TURN: &str = "its scenarios had no turn, or lost every try";

/// The properties of a document, and its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentReport {
    /// Its path below the input folder, with `/`.
    pub document: String,
    /// The name of its domain; empty if it has no world.
    pub name: String,
    /// The provider of the API.
    pub provider: String,
    /// The name of the API among the provider's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The version that the document states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The licence of its rows.
    pub license: String,
    /// The source of its rows.
    pub source: String,
    /// The split of its rows, or none if no row is requested from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Number of operations of its world.
    pub operations: u64,
    /// Operations by the level that their behaviour reaches.
    pub fidelity: BTreeMap<String, u64>,
    /// Number of notes on differences between document and world.
    pub notes: u64,
    /// Number of operations with scenarios.
    pub askable: u64,
    /// Number of requested rows.
    pub share: u64,
    /// Number of rows made.
    pub rows: u64,
    /// Operations that rows call, with the number of such rows.
    pub asked: BTreeMap<String, u64>,
    /// Operations that no row calls, by reason.
    pub unasked: BTreeMap<String, Vec<String>>,
    /// The reason for which it has no world, or for which its rows ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The rows of one document in a batch, a file or a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentRows {
    /// Number of rows made from it.
    pub rows: u64,
    /// Number of rows that call each of its operations.
    pub operations: BTreeMap<String, u64>,
    /// The reasons for which rows could not be made.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub failures: BTreeSet<String>,
}

/// The rows of documents, by domain name.
pub type RowsByDocument = BTreeMap<String, DocumentRows>;

/// Reads the document reports of a dataset or of an unfinished run. The latter have no counts yet. Returns
/// none if there are no documents.
///
/// # Errors
/// Returns an error if they are not reports.
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
