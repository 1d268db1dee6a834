//! A finished dataset, opened: its manifest, its rows and its worlds.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::manifest::{Manifest, MetadataError, WorldPlace, is_world_id};
use crate::row::{Dialogue, Split};
use crate::rows::{ReadError, RowFile, RowHead, Rows, WorldFile};
use crate::storage::{Storage, StorageError};

/// A world larger than this is not read.
const MAX_WORLD_BYTES: u64 = 1 << 30;

/// A finished dataset. Clones share its manifest.
#[derive(Clone, Debug)]
pub struct Folder {
    storage: Storage,
    manifest: Arc<Manifest>,
    worlds: Arc<HashMap<String, WorldPlace>>,
}

/// A row group of a file: what one thread reads at a time.
#[derive(Clone, Debug)]
pub struct Part {
    /// The file's name below the folder.
    pub file: String,
    /// The row group.
    pub group: usize,
    rows: RowFile,
}

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Failure {
    /// The file, below the folder.
    pub file: String,
    /// The row's id, when it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// A message that names the value found and the value expected.
    pub what: String,
}

impl Folder {
    /// Opens a dataset by its manifest.
    ///
    /// # Errors
    /// When it has none, or one of another version.
    pub fn open(storage: Storage) -> Result<Self, MetadataError> {
        let manifest = Manifest::read(&storage)?;
        let worlds = Arc::new(manifest.world_places());
        Ok(Self { storage, manifest: Arc::new(manifest), worlds })
    }

    /// Where it is.
    pub const fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The names of the files of rows, train first, in order.
    pub fn row_files(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.manifest.files.keys().map(String::as_str).filter(|name| is_rows(name)).collect();
        // Train comes before test, as in the plan; names sort the other way round.
        names.sort_by_key(|name| (!name.starts_with("data/train-"), *name));
        names
    }

    /// A file of rows.
    ///
    /// # Errors
    /// When it is not a readable file of dialogues.
    pub fn open_rows(&self, name: &str) -> Result<RowFile, ReadError> {
        RowFile::open(&self.storage, name)
    }

    /// All row groups of all files, in order.
    ///
    /// # Errors
    /// When a file is not a readable file of dialogues.
    pub fn parts(&self) -> Result<Vec<Part>, ReadError> {
        let mut parts = Vec::new();
        for name in self.row_files() {
            let rows = self.open_rows(name)?;
            let part = |group| Part { file: name.to_owned(), group, rows: rows.clone() };
            parts.extend((0..rows.groups()).map(part));
        }
        Ok(parts)
    }

    /// The rows of a part, in order, a few of them in memory at a time.
    ///
    /// # Errors
    /// When the file cannot be opened or is damaged.
    pub fn read(&self, part: &Part) -> Result<Rows, ReadError> {
        part.rows.read_group(part.group)
    }

    /// What tells the rows of a part apart, in order; nothing else of them is decoded.
    ///
    /// # Errors
    /// When the file cannot be opened or is damaged.
    pub fn read_heads(&self, part: &Part) -> Result<Vec<RowHead>, ReadError> {
        part.rows.read_heads(part.group)
    }

    /// All rows in order, a few of them in memory at a time. After an error in a file its next file follows.
    pub fn rows(&self) -> impl Iterator<Item = Result<Dialogue, ReadError>> + '_ {
        self.rows_of(self.row_files())
    }

    /// The rows of a split, or of both, in order, like [`rows`](Self::rows). Files of another split are not opened.
    pub fn rows_of_split(
        &self,
        split: Option<Split>,
    ) -> impl Iterator<Item = Result<Dialogue, ReadError>> + '_ {
        let mut files = self.row_files();
        if let Some(split) = split {
            let prefix = format!("data/{split}-");
            files.retain(|name| name.starts_with(&prefix));
        }
        self.rows_of(files)
    }

    fn rows_of<'a>(&'a self, files: Vec<&'a str>) -> impl Iterator<Item = Result<Dialogue, ReadError>> + 'a {
        files.into_iter().flat_map(|name| {
            let opened = self.open_rows(name).and_then(|file| file.read());
            let (rows, error) = match opened {
                Ok(rows) => (Some(rows), None),
                Err(error) => (None, Some(Err(error))),
            };
            error.into_iter().chain(rows.into_iter().flatten())
        })
    }

    /// The canonical JSON of a world that rows name, with the hash the manifest has for it.
    ///
    /// # Errors
    /// When there is no such world, it cannot be read, or it is not the one the manifest means.
    pub fn world(&self, id: &str) -> Result<Vec<u8>, WorldError> {
        let hash = self.manifest.worlds.get(id).filter(|_| is_world_id(id));
        let (Some(hash), Some(place)) = (hash, self.worlds.get(id)) else {
            return Err(WorldError::Unknown(id.to_owned()));
        };
        let bytes = match place.group {
            Some(group) => {
                self.read_stored_world(id, &WorldFile::open(&self.storage, &place.file)?, group)?
            }
            None => {
                let bytes = self.storage.read(&place.file, MAX_WORLD_BYTES)?;
                bytes.ok_or_else(|| WorldError::Missing(place.file.clone()))?
            }
        };
        check_world_hash(id, &bytes, hash)?;
        Ok(bytes)
    }

    /// Where a world is stored.
    pub fn world_place(&self, id: &str) -> Option<&WorldPlace> {
        self.worlds.get(id)
    }

    /// Checks that a file of worlds holds those that the manifest names, with their hashes.
    pub(super) fn check_worlds(&self, file: &str, ids: &[String]) -> Result<(), WorldError> {
        if ids.is_empty() {
            return Ok(());
        }
        let worlds = WorldFile::open(&self.storage, file)?;
        for (group, id) in ids.iter().enumerate() {
            let hash = self.manifest.worlds.get(id).ok_or_else(|| WorldError::Unknown(id.clone()))?;
            check_world_hash(id, &self.read_stored_world(id, &worlds, group)?, hash)?;
        }
        Ok(())
    }

    fn read_stored_world(&self, id: &str, file: &WorldFile, group: usize) -> Result<Vec<u8>, WorldError> {
        let (found, text) = file.read(group)?;
        if found != id {
            return Err(WorldError::Other { world: id.to_owned(), found });
        }
        Ok(text.into_bytes())
    }
}

fn check_world_hash(id: &str, text: &[u8], expected: &str) -> Result<(), WorldError> {
    let found = blake3::hash(text).to_hex().to_string();
    match found == expected {
        true => Ok(()),
        false => Err(WorldError::Changed { world: id.to_owned(), found, expected: expected.to_owned() }),
    }
}

/// Why a world cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The manifest does not know it.
    #[error("the manifest has no world `{0}`")]
    Unknown(String),
    /// Its file is not there.
    #[error("{0} is missing")]
    Missing(String),
    /// Another world stands in its place.
    #[error("found world `{found}`, expected `{world}`, where the manifest places it")]
    Other {
        /// The world.
        world: String,
        /// The id that was found.
        found: String,
    },
    /// It is another one.
    #[error("world `{world}`: found hash {found}, expected {expected}")]
    Changed {
        /// The world.
        world: String,
        /// The hash of the file.
        found: String,
        /// The hash in the manifest.
        expected: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its file cannot be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Returns true if a file holds rows, by its name.
pub(crate) fn is_rows(name: &str) -> bool {
    name.starts_with("data/") && name.ends_with(".parquet")
}
