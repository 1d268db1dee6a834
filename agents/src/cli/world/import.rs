//! Owns the command `diorama world import`.

use std::path::{Path, PathBuf};

use clap::Args;
use diorama_output::documents::DocumentReport;
use diorama_seeds::world;
use serde_json::json;

use crate::cli::documents::find;
use crate::cli::documents::several;
use crate::cli::error::CliError;
use crate::cli::inputs::RefusedDocument;
use crate::cli::openapi::ImportArgs;
use crate::cli::{CommandEnd, Streams};
use crate::isolation::prepare::{ImportedDocument, Refusal};

/// Import an OpenAPI document as a world file, or a folder of documents as a folder of world files.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// OpenAPI document, or a folder of documents at any depth.
    #[arg(value_name = "FILE|DIR")]
    source: PathBuf,
    /// World file to write [default: stdout]. For a folder of documents: the folder of the world files (required).
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// How it is imported.
    #[command(flatten)]
    import: ImportArgs,
}

impl Import {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        if self.source.is_dir() {
            let what = "--out: found none, expected the folder that the worlds of the documents go to";
            let out = self.out.as_deref().ok_or_else(|| CliError::Usage(what.to_owned()))?;
            return self.folder(out, streams);
        }
        let doc = self.import.import(&self.source, streams)?;
        let Some(path) = self.out else {
            let text = world::to_yaml(&doc)?;
            streams.print(&doc, || text)?;
            return Ok(CommandEnd::Met);
        };
        diorama_output::storage::local::write(&path, world::to_yaml(&doc)?.as_bytes())?;
        let (operations, out) = (doc.apis.len(), path.display().to_string());
        let data = json!({ "name": doc.name, "operations": operations, "out": out });
        streams.print(&data, || format!("{operations} operations\n{out}\n"))?;
        Ok(CommandEnd::Met)
    }

    /// Writes a world file for each document of the folder, by its name, and reports on all of them.
    fn folder(&self, out: &Path, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        if self.import.overlay.is_some() {
            return Err(CliError::Usage("--overlay: found a folder, expected one document".to_owned()));
        }
        let found = find::documents(std::slice::from_ref(&self.source))?;
        std::fs::create_dir_all(out)?;
        let (mut reports, mut refused) = (Vec::new(), Vec::new());
        // Worlds are written and dropped in groups, which bounds the memory.
        const AT_ONCE: usize = 64;
        let mut names = Vec::new();
        for some in found.chunks(AT_ONCE) {
            for (found, result) in some.iter().zip(several::import(some, &self.import)?) {
                match result {
                    Ok(document) => {
                        names.push(document.doc.name.clone());
                        crate::cli::documents::names::number(&mut names);
                        let name = names.last().cloned().unwrap_or_default();
                        reports.push(write(out, &found.label, &name, document)?);
                    }
                    Err(Refusal { reason, .. }) => {
                        let _ = writeln!(streams.err, "error: {}: {reason}", found.label);
                        refused.push(RefusedDocument { document: found.label.clone(), reason });
                    }
                }
            }
        }
        let _ = writeln!(
            streams.err,
            "documents: {}, of which {} have a world, and {} have none",
            found.len(),
            reports.len(),
            refused.len()
        );
        streams.print(&json!({ "documents": reports, "refused": refused }), || {
            let line = |report: &DocumentReport| {
                let levels: Vec<String> =
                    report.fidelity.iter().map(|(level, count)| format!("{level} {count}")).collect();
                let (operations, levels) = (report.operations, levels.join(", "));
                format!("{}: {operations} operations ({levels}), {} notes\n", report.name, report.notes)
            };
            reports.iter().map(line).collect()
        })?;
        if reports.is_empty() {
            return Err(CliError::Empty(format!(
                "found {} documents, none of which can be imported; the messages above say why",
                found.len()
            )));
        }
        Ok(CommandEnd::Met)
    }
}

/// Writes the world of a document, and returns the report on it.
fn write(
    out: &Path,
    label: &str,
    name: &str,
    document: ImportedDocument,
) -> Result<DocumentReport, CliError> {
    let ImportedDocument { mut doc, naming, notes } = document;
    name.clone_into(&mut doc.name);
    if let Some(head) = &mut doc.domain {
        name.clone_into(&mut head.name);
    }
    let fidelity = world::fidelity_counts(&world::compile(&doc)?);
    let path = out.join(format!("{name}.yaml"));
    diorama_output::storage::local::write(&path, world::to_yaml(&doc)?.as_bytes())?;
    Ok(DocumentReport {
        document: label.to_owned(),
        name: name.to_owned(),
        provider: naming.provider,
        service: naming.service,
        license: doc.license().to_owned(),
        source: doc.source().to_owned(),
        operations: doc.apis.len() as u64,
        fidelity,
        notes: notes.len() as u64,
        ..DocumentReport::default()
    })
}
