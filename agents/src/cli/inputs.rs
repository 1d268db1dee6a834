//! Worlds named on the command line: files, folders of files, OpenAPI documents, or the catalog.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::entities::{Entities, Unplaced};
use diorama_seeds::world;

use super::error::CliError;
use super::openapi::ImportArgs;
use super::{Streams, terminal};
use crate::catalog;

/// Where worlds come from.
#[derive(Clone, Debug, Default, Args)]
pub struct Inputs {
    /// World file, folder of world files (.yaml, .yml, .json), or the name of a world of the catalog.
    #[arg(long, value_name = "FILE|DIR")]
    pub world: Vec<PathBuf>,
    /// OpenAPI document to make a world from.
    #[arg(long, value_name = "FILE")]
    pub openapi: Vec<PathBuf>,
    /// How the documents are imported.
    #[command(flatten)]
    pub import: ImportArgs,
    /// Names that the worlds must have (`person: [Sofia Coppola]`, `GET /search/movie: [...]`), for evaluation only.
    #[arg(long, value_name = "FILE")]
    pub entities: Option<PathBuf>,
}

impl Inputs {
    /// Whether nothing was named.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.world.is_empty() && self.openapi.is_empty()
    }

    /// Reads everything that was named, in order.
    ///
    /// # Errors
    /// The first file that cannot be read or is wrong.
    pub fn read(&self, streams: &mut Streams<'_>) -> Result<Vec<WorldDoc>, CliError> {
        let mut docs = Vec::new();
        for file in self.world_files()? {
            docs.push(read_world(&file)?);
        }
        for path in &self.openapi {
            docs.push(self.document(path, streams)?);
        }
        self.name(&mut docs, streams)?;
        Ok(docs)
    }

    /// The world files that were named, those of folders by name.
    ///
    /// # Errors
    /// When a folder cannot be read, or holds none.
    pub fn world_files(&self) -> Result<Vec<PathBuf>, CliError> {
        let all: Result<Vec<_>, _> = self.world.iter().map(|path| files(path)).collect();
        Ok(all?.concat())
    }

    /// Imports one of the OpenAPI documents.
    ///
    /// # Errors
    /// When it cannot be read or is wrong, or an overlay would be for several.
    pub fn document(&self, path: &Path, streams: &mut Streams<'_>) -> Result<WorldDoc, CliError> {
        if self.import.overlay.is_some() && self.openapi.len() > 1 {
            let found = self.openapi.len();
            return Err(CliError::Usage(format!(
                "--overlay: found {found} documents, expected one --openapi"
            )));
        }
        self.import.import(path, streams)
    }

    /// Puts the names of `--entities` into the worlds.
    ///
    /// # Errors
    /// When the file cannot be read, or no world has a place for a name.
    pub fn name(&self, docs: &mut [WorldDoc], streams: &mut Streams<'_>) -> Result<(), CliError> {
        let Some(path) = &self.entities else { return Ok(()) };
        if docs.is_empty() {
            return Err(CliError::Usage(
                "--entities: found no --world or --openapi to put names into".into(),
            ));
        }
        let entities = Entities::read(&path.display().to_string(), &read_file(path)?)?;
        let unplaced: Vec<Vec<Unplaced>> = docs.iter_mut().map(|doc| entities.put_into(doc)).collect();
        for entity in entities.iter() {
            let reasons: Vec<&str> = unplaced
                .iter()
                .flat_map(|list| list.iter().filter(|left| left.entity == *entity))
                .map(|left| left.reason.as_str())
                .collect();
            if reasons.len() == docs.len() {
                terminal::note(streams, &format!("no place for `{}`: {}", entity.name, reasons.join("; ")));
            }
        }
        Ok(())
    }
}

/// What the name of a file of scenarios ends in: `harbour.scenarios.yaml` stands beside `harbour.yaml`.
const SCENARIOS: &str = ".scenarios.yaml";

/// Reads one world file, and the scenarios that stand beside it; or a world of the catalog, by its name.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn read_world(path: &Path) -> Result<WorldDoc, CliError> {
    if !path.exists() {
        let named = path.to_str().map(catalog::world).transpose()?.flatten();
        return named.ok_or_else(|| {
            CliError::Usage(format!(
                "found no file `{}`, expected one, or a world of the catalog: {}",
                path.display(),
                diorama_catalog::names().join(", ")
            ))
        });
    }
    let text = read_file(path)?;
    let mut doc = world::read(&path.display().to_string(), &text)?;
    let beside = path.file_stem().map(|stem| path.with_file_name(format!("{}{SCENARIOS}", stem.display())));
    if let Some(beside) = beside.filter(|beside| beside.is_file()) {
        let text = read_file(&beside)?;
        world::add_scenarios(&mut doc, &beside.display().to_string(), &text)?;
    }
    Ok(doc)
}

/// Reads a file.
///
/// # Errors
/// When it cannot be read.
pub fn read_file(path: &Path) -> Result<Vec<u8>, CliError> {
    let read = || {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(io::Error::other(format!("found more than {MOST_BYTES} bytes, expected a document")));
        }
        Ok(bytes)
    };
    read().map_err(|source| CliError::Read { path: path.to_owned(), source })
}

/// Bytes of a file that is read whole, at most.
const MOST_BYTES: u64 = 512 << 20;

/// A file itself, or the world files of a folder by name.
fn files(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let fail = |source| CliError::Read { path: path.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(fail)? {
        let file = entry.map_err(fail)?.path();
        let known = file
            .extension()
            .is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending == *known));
        let beside = file.to_string_lossy().ends_with(SCENARIOS);
        if known && !beside && file.is_file() {
            found.push(file);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(CliError::Usage(format!(
            "{} holds no world file, expected .yaml, .yml or .json files",
            path.display()
        )));
    }
    Ok(found)
}
