//! Owns the OpenAPI documents on the command line, with the files to which they refer.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use diorama_openapi::{self as openapi, Files, ImportOptions, ImportedWorld};
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::world;
use serde::{Deserialize, Serialize};

use super::error::CliError;
use super::files::read_file;
use super::{Streams, terminal};
use crate::isolation::bounds::Bounds;

/// The strictness of the import, and whether it tests its guesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args, Serialize, Deserialize)]
pub struct ImportMode {
    /// Refuse documents with broken references. Without it they give warnings.
    #[arg(long)]
    pub strict: bool,
    /// Take the importer's first guesses, without playing the world and replacing those that fail.
    #[arg(long)]
    pub first_guesses: bool,
}

/// How documents are imported.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ImportArgs {
    /// The strictness, and whether guesses are tested.
    #[command(flatten)]
    pub mode: ImportMode,
    /// Part of a world file that corrects the imported world.
    #[arg(long, value_name = "FILE")]
    pub overlay: Option<PathBuf>,
    /// The limits for each of several documents.
    #[command(flatten)]
    pub bounds: Bounds,
}

impl ImportArgs {
    /// Imports an OpenAPI document, and reports the parts that it could not model.
    ///
    /// # Errors
    /// Returns an error if the document or its overlay cannot be read, or is invalid.
    pub fn import(&self, path: &Path, streams: &mut Streams<'_>) -> Result<WorldDoc, CliError> {
        let ImportedWorld { doc, notes, .. } = import_file(path, self.mode)?;
        if let Ok(compiled) = world::compile(&doc) {
            let _ = write!(streams.err, "{}", world::fidelity(&compiled));
        }
        for note in &notes {
            terminal::note(streams, &format!("{}: {}", note.operation, note.reason));
        }
        match &self.overlay {
            Some(overlay) => {
                let text = read_file(overlay)?;
                Ok(openapi::overlay(&doc, &overlay.display().to_string(), &text)?)
            }
            None => Ok(doc),
        }
    }
}

/// Imports a document with the files beside it to which it refers. The most important notes come first.
///
/// # Errors
/// Returns an error if the document cannot be read, or is invalid.
pub fn import_file(path: &Path, mode: ImportMode) -> Result<ImportedWorld, CliError> {
    let text = read_document(path)?;
    let name = path.display().to_string();
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let options = ImportOptions { strict: mode.strict, ..ImportOptions::default() };
    let draft = openapi::Draft::read(&name, &text, &options, &Folder { folder: folder.to_owned() })?;
    let mut imported = if mode.first_guesses {
        draft.world(&openapi::Choices::default())?
    } else {
        diorama_import::choose_guesses(&draft)?
    };
    imported.notes.sort_by_key(|note| note.severity);
    Ok(imported)
}

/// Reads a document, up to one byte more than the maximum length.
///
/// # Errors
/// Returns an error if the document cannot be read.
pub fn read_document(path: &Path) -> Result<Vec<u8>, CliError> {
    let fail = |source| CliError::Read { path: path.to_owned(), source };
    read_bounded(path).map_err(fail)
}

fn read_bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // One extra byte shows the parser that the document is too long.
    std::fs::File::open(path)?.take(openapi::MAX_BYTES as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}

/// Folder of a document. The document may refer to the files in it, after links are resolved.
struct Folder {
    folder: PathBuf,
}

impl Files for Folder {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let root = self.folder.canonicalize().map_err(|error| error.to_string())?;
        let file = match root.join(path).canonicalize() {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err("there is no such file".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        };
        if !file.starts_with(&root) {
            return Err("it leads out of the document's folder".to_owned());
        }
        if !file.is_file() {
            return Err("it is no file".to_owned());
        }
        read_bounded(&file).map_err(|error| error.to_string())
    }
}
