//! Owns the import of a document in its worker: reading, naming, and preparing it for rows.

use std::path::PathBuf;

use diorama_openapi::ImportedWorld;
use diorama_output::documents::DocumentReport;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::world::{self, Report};
use serde::{Deserialize, Serialize};

use crate::cli::documents::names::{Naming, naming};
use crate::cli::error::CliError;
use crate::cli::openapi::{ImportMode, import_file, read_document};
use crate::rows::documents::prepared::{PreparedWorld, prepare};

/// Request to import a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRequest {
    /// Path of the document.
    pub path: PathBuf,
    /// Path of the document relative to the folder on the command line.
    pub label: String,
    /// Strictness of the importer.
    pub mode: ImportMode,
}

/// ImportedWorld document.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImportedDocument {
    /// World with the name of [`ImportedDocument::naming`].
    pub doc: WorldDoc,
    /// Provider, service and name of the document.
    pub naming: Naming,
    /// Notes of the importer: the operation, and the text.
    pub notes: Vec<(String, String)>,
}

/// Reasons for which a document gives no world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The first reason, on one line.
    pub reason: String,
    /// All reasons, with their positions in the document.
    pub report: String,
}

impl From<CliError> for Refusal {
    fn from(error: CliError) -> Self {
        match error {
            CliError::Document(report) => Self::from(report),
            CliError::Read { source, .. } => {
                let reason = format!("it cannot be read: {source}");
                Self { report: reason.clone(), reason }
            }
            other => Self { reason: other.to_string(), report: other.to_string() },
        }
    }
}

impl From<Report> for Refusal {
    fn from(report: Report) -> Self {
        Self { reason: first_finding(&report), report: report.to_string() }
    }
}

/// Returns the first finding of a report on one line.
pub fn first_finding(report: &Report) -> String {
    let Some(finding) = report.findings.first() else { return "it is no world".to_owned() };
    let place =
        finding.line.map(|line| format!("{line}:{}: ", finding.column.unwrap_or(1))).unwrap_or_default();
    format!("{place}{}", finding.message)
}

/// Imports a document.
///
/// # Errors
/// Returns the reasons for which the document gives no world.
pub fn import_document(request: &ImportRequest) -> Result<ImportedDocument, Refusal> {
    let text = read_document(&request.path)?;
    let ImportedWorld { mut doc, notes, .. } = import_file(&request.path, request.mode)?;
    let naming = naming(&request.label, &text);
    naming.name.clone_into(&mut doc.name);
    if let Some(head) = &mut doc.domain {
        naming.name.clone_into(&mut head.name);
    }
    world::compile(&doc)?;
    let notes = notes.into_iter().map(|note| (note.operation, note.reason)).collect();
    Ok(ImportedDocument { doc, naming, notes })
}

/// Imports a document and writes scenarios for it.
///
/// # Errors
/// Returns the reasons for which the document gives no world.
pub fn prepare_document(
    request: &ImportRequest,
    seed: u64,
) -> Result<(PreparedWorld, DocumentReport), Refusal> {
    let ImportedDocument { doc, naming, notes, .. } = import_document(request)?;
    let (world, report) = prepare(doc, seed)?;
    let report = DocumentReport {
        document: request.label.clone(),
        provider: naming.provider,
        service: naming.service,
        notes: notes.len() as u64,
        ..report
    };
    Ok((world, report))
}
