//! Owns the worlds on the command line: files, folders of files, OpenAPI documents, and the catalog.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use diorama_benchmarks::entities::{Entities, MissingEntity};
use diorama_openapi as openapi;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::world::{self, Files, Report};

use super::documents::find::{self, is_several};
use super::documents::several;
use super::error::CliError;
use super::files::read_file;
use super::openapi::ImportArgs;
use super::{Streams, terminal};
use crate::catalog;
use crate::isolation::prepare::Refusal;

/// Worlds named by position, or by options.
#[derive(Clone, Debug, Default, Args)]
pub struct Sources {
    /// Worlds to use: world files, OpenAPI documents, folders of either, or names of worlds in the catalog [default: the catalog].
    #[arg(value_name = "WORLD|DOCUMENT")]
    pub named: Vec<PathBuf>,
    /// The same by options.
    #[command(flatten)]
    pub inputs: Inputs,
}

impl Sources {
    /// Returns true if the command line names no input.
    pub const fn is_empty(&self) -> bool {
        self.named.is_empty() && self.inputs.is_empty()
    }

    /// Returns the worlds and documents on the command line, by position and by options. The start of each
    /// file shows its kind.
    ///
    /// # Errors
    /// Returns an error if a file or a folder cannot be read.
    pub fn inputs(&self) -> Result<Inputs, CliError> {
        let mut inputs = self.inputs.clone();
        for path in &self.named {
            if path.is_dir() {
                let worlds = is_world_folder(path)?;
                if worlds { &mut inputs.world } else { &mut inputs.openapi }.push(path.clone());
            } else if path.is_file() && !is_world_file(path)? {
                inputs.openapi.push(path.clone());
            } else {
                // A path without a file may be a name in the catalog.
                inputs.world.push(path.clone());
            }
        }
        Ok(inputs)
    }
}

/// Worlds named by options.
#[derive(Clone, Debug, Default, Args)]
pub struct Inputs {
    /// World to use: a world file, a folder of world files (.yaml, .yml, .json), or the name of a world in the catalog. Repeatable.
    #[arg(long, value_name = "FILE|DIR|NAME")]
    pub world: Vec<PathBuf>,
    /// OpenAPI document to make a world from, or a folder of documents at any depth (.yaml, .yml, .json). Repeatable. Of several
    /// documents, those that cannot be imported are named and left out.
    #[arg(long, value_name = "FILE|DIR")]
    pub openapi: Vec<PathBuf>,
    /// How the documents are imported.
    #[command(flatten)]
    pub import: ImportArgs,
    /// YAML file of names and roles that the worlds must have (`person: [Sofia Coppola]`, `movie.job: [Director]`). For evaluation only.
    #[arg(long, value_name = "FILE")]
    pub entities: Option<PathBuf>,
}

/// Document on the command line that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RefusedDocument {
    /// Path of the document.
    pub document: String,
    /// The first error, with its position.
    pub reason: String,
}

/// DocumentWorld document: its path, and its world.
pub type DocumentWorld = (PathBuf, WorldDoc);

/// Worlds on the command line.
#[derive(Clone, Debug, Default)]
pub struct InputWorlds {
    /// Worlds of files, then those of documents, in order.
    pub docs: Vec<WorldDoc>,
    /// Documents without a world.
    pub refused: Vec<RefusedDocument>,
    /// Paths of the files, in the order of their worlds at the start of `docs`.
    pub files: Vec<PathBuf>,
}

impl InputWorlds {
    /// Adds the file and the line of each finding to an error in one of the worlds.
    #[must_use]
    pub fn located(docs: &[String], files: &[PathBuf], report: Report) -> Report {
        match docs.iter().zip(files).find(|(name, _)| **name == report.name) {
            Some((_, file)) => located(file, report),
            None => report,
        }
    }
}

impl Inputs {
    /// Returns true if the options name no input.
    pub const fn is_empty(&self) -> bool {
        self.world.is_empty() && self.openapi.is_empty()
    }

    /// Reads all inputs, in order.
    ///
    /// # Errors
    /// Returns an error for the first unreadable or invalid world file, or if no document can be imported.
    pub fn read(&self, streams: &mut Streams<'_>) -> Result<InputWorlds, CliError> {
        let mut docs = Vec::new();
        let files = self.world_files()?;
        for file in &files {
            docs.push(read_world(file)?);
        }
        let (imported, refused) = self.documents(streams)?;
        docs.extend(imported.into_iter().map(|(_, doc)| doc));
        self.name(&mut docs, streams)?;
        Ok(InputWorlds { docs, refused, files })
    }

    /// Reads all inputs like [`Inputs::read`]. Without inputs, it returns the catalog.
    ///
    /// # Errors
    /// Returns the errors of [`Inputs::read`].
    pub fn read_or_catalog(&self, streams: &mut Streams<'_>) -> Result<InputWorlds, CliError> {
        if self.is_empty() {
            return Ok(InputWorlds { docs: catalog::worlds()?, ..InputWorlds::default() });
        }
        self.read(streams)
    }

    /// Returns the named world files, those of a folder by name.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be read, or holds no world file.
    pub fn world_files(&self) -> Result<Vec<PathBuf>, CliError> {
        let all: Result<Vec<_>, _> = self.world.iter().map(|path| files(path)).collect();
        Ok(all?.concat())
    }

    /// Imports the named OpenAPI documents, those of a folder by path. Each of several is read in a process
    /// of its own. If another world remains, a document that cannot be imported is reported on stderr and
    /// skipped.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be read, if an overlay is given for several documents, or if no
    /// world remains.
    pub fn documents(
        &self,
        streams: &mut Streams<'_>,
    ) -> Result<(Vec<DocumentWorld>, Vec<RefusedDocument>), CliError> {
        let found = find::documents(&self.openapi)?;
        if self.import.overlay.is_some() && found.len() > 1 {
            let found = found.len();
            return Err(CliError::Usage(format!(
                "--overlay: found {found} documents, expected one --openapi"
            )));
        }
        if let ([alone], true, false) = (found.as_slice(), self.world.is_empty(), is_several(&self.openapi)) {
            return Ok((vec![(alone.path.clone(), self.import.import(&alone.path, streams)?)], Vec::new()));
        }
        let (mut imported, mut refused) = (Vec::new(), Vec::new());
        for (found, result) in found.iter().zip(several::import(&found, &self.import)?) {
            let path = found.path.display();
            // A closed stderr must not end the work.
            match result {
                Ok(document) => {
                    let (operations, notes) = (document.doc.apis.len(), document.notes.len());
                    terminal::note(
                        streams,
                        &format!(
                            "{path}: {operations} operations; `diorama world import` shows its {notes} notes"
                        ),
                    );
                    imported.push((found.path.clone(), document.doc));
                }
                Err(Refusal { reason, report }) => {
                    let _ = writeln!(streams.err, "error: {report}\nnote: {path} is left out");
                    refused.push(RefusedDocument { document: path.to_string(), reason });
                }
            }
        }
        if let (true, Some(overlay), [(_, doc)]) =
            (refused.is_empty(), &self.import.overlay, imported.as_mut_slice())
        {
            *doc = openapi::overlay(doc, &overlay.display().to_string(), &read_file(overlay)?)?;
        }
        if imported.is_empty() && self.world.is_empty() && !refused.is_empty() {
            let count = refused.len();
            return Err(CliError::Empty(format!(
                "found {count} documents, none of which can be imported; the messages above say why"
            )));
        }
        Ok((imported, refused))
    }

    /// Adds the names of `--entities` to the worlds.
    ///
    /// # Errors
    /// Returns an error if there are no worlds, or if the file cannot be read. A name without a place gives a note only.
    pub fn name(&self, docs: &mut [WorldDoc], streams: &mut Streams<'_>) -> Result<(), CliError> {
        let Some(path) = &self.entities else { return Ok(()) };
        if docs.is_empty() {
            return Err(CliError::Usage(
                "--entities: found no --world or --openapi to put names into".into(),
            ));
        }
        let entities = Entities::read(&path.display().to_string(), &read_file(path)?)?;
        let unplaced: Vec<Vec<MissingEntity>> = docs.iter_mut().map(|doc| entities.put_into(doc)).collect();
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

/// Number of bytes at the start of a file that show whether it is a world file.
const MAX_START_BYTES: u64 = 16 << 10;

/// Suffixes of the files beside a world: `harbour.scenarios.yaml` beside `harbour.yaml`.
pub(super) const BESIDE: [&str; 2] = [".scenarios.yaml", ".words.yaml"];

/// Minimum similarity (Jaro-Winkler, 0 to 1) of a name that is suggested for an unknown one.
const MIN_SIMILARITY: f64 = 0.85;

/// Returns the most similar name of the catalog, if it is similar enough.
fn nearest_domain(name: &str) -> Option<&'static str> {
    let near = diorama_catalog::names().map(|known| (strsim::jaro_winkler(name, known), known));
    let near = near.filter(|(similarity, _)| *similarity >= MIN_SIMILARITY);
    near.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, known)| known)
}

/// Reads a world file with the scenarios and words beside it, or a world of the catalog by its name.
///
/// # Errors
/// Returns an error if the world cannot be read, or is invalid.
pub fn read_world(path: &Path) -> Result<WorldDoc, CliError> {
    if !path.exists() {
        let named = path.to_str().map(catalog::world).transpose()?.flatten();
        return named.ok_or_else(|| {
            let name = path.display().to_string();
            let meant = nearest_domain(&name).map(|near| format!(" Did you mean `{near}`?"));
            CliError::Usage(format!(
                "found no file `{name}`, expected one, or a world of the catalog; `diorama world list` names them.{}",
                meant.unwrap_or_default()
            ))
        });
    }
    let files = texts_of(path)?;
    let (name, text) = &files.world;
    let mut doc = world::read(name, text)?;
    if let Some((name, text)) = &files.scenarios {
        world::add_scenarios(&mut doc, name, text)?;
    }
    if let Some((name, text)) = &files.words {
        world::add_words(&mut doc, name, text)?;
    }
    Ok(doc)
}

/// Returns the texts of a world file and of the files beside it.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub fn texts_of(path: &Path) -> Result<Files, CliError> {
    let beside = |suffix: &str| {
        let stem = path.file_stem().unwrap_or_default();
        let beside = path.with_file_name(format!("{}{suffix}", stem.display()));
        let text = beside.is_file().then(|| read_file(&beside)).transpose()?;
        Ok::<_, CliError>(text.map(|text| (beside.display().to_string(), text)))
    };
    let [scenarios, words] = BESIDE.map(beside);
    Ok(Files { world: (path.display().to_string(), read_file(path)?), scenarios: scenarios?, words: words? })
}

/// Adds the file and the line of each finding to an error in a world from [`read_world`].
#[must_use]
pub fn located(path: &Path, report: Report) -> Report {
    let named = || path.to_str().and_then(catalog::texts_of);
    match if path.exists() { texts_of(path).ok() } else { named() } {
        Some(files) => files.locate(report),
        None => report,
    }
}

/// Returns the file itself, or the world files of a folder by name.
fn files(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let found = files_directly_in(path)?;
    if found.is_empty() {
        return Err(CliError::Usage(format!(
            "{} holds no world or document, expected .yaml, .yml or .json files",
            path.display()
        )));
    }
    Ok(found)
}

/// Returns true if a folder holds world files directly. Otherwise it may hold documents, at any depth.
fn is_world_folder(folder: &Path) -> Result<bool, CliError> {
    for file in files_directly_in(folder)? {
        if is_world_file(&file)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if the first key of a YAML or JSON file is `world`, as the world format requires.
fn is_world_file(path: &Path) -> Result<bool, CliError> {
    let fail = |source| CliError::Read { path: path.to_owned(), source };
    let mut start = Vec::new();
    std::fs::File::open(path).map_err(fail)?.take(MAX_START_BYTES).read_to_end(&mut start).map_err(fail)?;
    Ok(begins_with_world(&String::from_utf8_lossy(&start)))
}

fn begins_with_world(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    // The loop skips comments, directives, and the line that begins a YAML document.
    while rest.starts_with(['#', '%']) || rest.starts_with("---") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    let rest = rest.strip_prefix('{').unwrap_or(rest).trim_start();
    let key = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
    let after = key.strip_prefix("world").map(|rest| rest.trim_start_matches(['"', '\'']).trim_start());
    after.is_some_and(|rest| rest.starts_with(':'))
}

/// Returns the YAML and JSON files directly in a folder, by name, without those beside a world.
fn files_directly_in(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    let fail = |source| CliError::Read { path: path.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(fail)? {
        let file = entry.map_err(fail)?.path();
        let known = find::has_ending(&file);
        let beside = BESIDE.iter().any(|suffix| file.to_string_lossy().ends_with(suffix));
        if known && !beside && file.is_file() {
            found.push(file);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const GOOD: &str = r#"{"openapi": "3.0.3", "info": {"title": "Pets", "version": "1", "license": {"name": "MIT"}},
        "paths": {"/pets": {"get": {"responses": {"200": {"description": "d"}}}}}}"#;

    fn read(folder: &Path, openapi: &[&str], world: &[&str]) -> (Result<InputWorlds, CliError>, String) {
        let paths = |names: &[&str]| names.iter().map(|name| folder.join(name)).collect();
        let inputs = Inputs { openapi: paths(openapi), world: paths(world), ..Inputs::default() };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let found = inputs.read(&mut Streams { out: &mut out, err: &mut err, json: true });
        (found, String::from_utf8(err).unwrap())
    }

    #[test]
    fn a_document_that_cannot_be_imported_is_left_out_of_several() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        fs::create_dir(folder.path().join("all")).unwrap();
        fs::create_dir(folder.path().join("none")).unwrap();
        for name in ["all/b.json", "all/d.yaml"] {
            write(name, GOOD);
        }
        for name in ["all/a.json", "none/a.json", "none/b.json"] {
            write(name, "{\n  \"openapi\" 3}");
        }
        write("all/c.json", r#"{"openapi": "3.0.3", "paths": {}}"#);
        let (found, err) = read(folder.path(), &["all"], &[]);
        let found = found.unwrap();
        let names: Vec<&str> = found.docs.iter().map(|doc| doc.name.as_str()).collect();
        assert_eq!(names, ["b", "d"]);
        assert_eq!(found.docs[0].license(), "MIT");
        let refused: Vec<&str> = found.refused.iter().map(|refused| &*refused.document).collect();
        assert!(refused[0].ends_with("a.json") && refused[1].ends_with("c.json"), "{refused:?}");
        assert!(found.refused[0].reason.starts_with("2:"), "{:?}", found.refused);
        assert!(found.refused[1].reason.contains("no operations"), "{:?}", found.refused);
        assert!(err.contains("a.json:2:") && err.contains("c.json is left out"), "{err}");

        // Without any world, the command fails.
        let (none, err) = read(folder.path(), &["none"], &[]);
        assert_eq!(none.unwrap_err().exit_code(), 1);
        assert!(err.contains("b.json is left out"), "{err}");
        assert!(matches!(read(folder.path(), &["none/a.json"], &[]).0, Err(CliError::Document(_))));
    }

    #[test]
    fn world_files_are_told_from_documents_by_their_first_key() {
        let check = |text: &str, expect: bool| assert_eq!(begins_with_world(text), expect, "{text}");
        check("world: 1\nname: x", true);
        check("\u{feff}# A world.\n\n---\nworld : 1", true);
        check("{\"world\": 1}", true);
        check("{\n  'world': 1}", true);
        check("openapi: 3.0.3\nworld: 1", false);
        check("worlds: 1", false);
        check("{\"openapi\": \"3.1.0\"}", false);
        check("", false);
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("worlds")).unwrap();
        fs::create_dir(folder.path().join("documents")).unwrap();
        fs::write(folder.path().join("worlds/b.yaml"), "world: 1").unwrap();
        fs::write(folder.path().join("documents/a.json"), GOOD).unwrap();
        let named: Vec<PathBuf> =
            ["worlds", "documents", "documents/a.json", "doctor"].map(|name| folder.path().join(name)).into();
        let inputs = Sources { named: named.clone(), ..Sources::default() }.inputs().unwrap();
        assert_eq!(inputs.world, [named[0].clone(), named[3].clone()]);
        assert_eq!(inputs.openapi, named[1..3]);
    }
}
