//! Owns the import of several documents, each in a process of its own.

use rayon::prelude::*;

use super::find::DocumentFile;
use super::names;
use crate::cli::error::CliError;
use crate::cli::openapi::ImportArgs;
use crate::isolation::prepare::{ImportRequest, ImportedDocument, Refusal};
use crate::isolation::process::Isolation;
use crate::isolation::worker::{Reply, Request, read_reply, write_request};

/// Imports documents, in order. Names that occur several times are numbered.
///
/// # Errors
/// Returns an error if a signal from outside ended a process.
pub fn import(
    found: &[DocumentFile],
    import: &ImportArgs,
) -> Result<Vec<Result<ImportedDocument, Refusal>>, CliError> {
    let isolation = Isolation::of_this_program();
    let one = |found: &DocumentFile| -> Result<Result<ImportedDocument, Refusal>, CliError> {
        let document =
            ImportRequest { path: found.path.clone(), label: found.label.clone(), mode: import.mode };
        let refused =
            |reason: String| Err(Refusal { report: format!("{}: {reason}", found.path.display()), reason });
        let reply = match isolation.ask(write_request(&Request::Import(document), &[]), import.bounds) {
            Ok(reply) => reply,
            Err(ended) if ended.is_from_outside => {
                return Err(CliError::Ended { document: found.label.clone(), reason: ended.reason });
            }
            Err(ended) => return Ok(refused(ended.reason)),
        };
        Ok(match read_reply(&reply) {
            Ok((Reply::Imported(document), _)) => Ok(*document),
            Ok((Reply::Refused(refusal), _)) => Err(refusal),
            Ok(_) => refused("its process answered another request".to_owned()),
            Err(reason) => refused(reason),
        })
    };
    let mut documents: Vec<Result<ImportedDocument, Refusal>> =
        found.par_iter().map(one).collect::<Result<_, CliError>>()?;
    let mut names: Vec<String> =
        documents.iter().flatten().map(|document| document.doc.name.clone()).collect();
    names::number(&mut names);
    for (document, name) in documents.iter_mut().flatten().zip(names) {
        if let Some(head) = &mut document.doc.domain {
            head.name.clone_from(&name);
        }
        document.doc.name = name;
    }
    Ok(documents)
}
