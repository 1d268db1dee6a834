//! Opens a finished dataset: its manifest, its rows and its worlds.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::manifest::{Manifest, MetadataError, WorldPlace, is_world_id};
use crate::row::{Dialogue, Split};
use crate::rows::{ReadError, RowFile, RowHead, Rows, WorldFile};
use crate::storage::{Storage, StorageError};

/// Maximum bytes of a world.
const MAX_WORLD_BYTES: u64 = 1 << 30;

/// A finished dataset. Clones share its manifest.
#[derive(Clone, Debug)]
pub struct Folder {
    storage: Storage,
    manifest: Arc<Manifest>,
    worlds: Arc<HashMap<String, WorldPlace>>,
}

/// A row group of a file, which one thread reads at a time.
#[derive(Clone, Debug)]
pub struct Part {
    /// The file's name below the folder.
    pub file: String,
    /// The row group.
    pub group: usize,
    rows: RowFile,
}

/// A failed check.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Failure {
    /// The file, below the folder.
    pub file: String,
    /// The id of the row, if the failure concerns one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// A message that names the value found and the value expected.
    pub what: String,
}

impl Folder {
    /// Opens a dataset by its manifest.
    ///
    /// # Errors
    /// Returns an error if it has no manifest, or one of another version.
    pub fn open(storage: Storage) -> Result<Self, MetadataError> {
        let manifest = Manifest::read(&storage)?;
        let worlds = Arc::new(manifest.world_places());
        Ok(Self { storage, manifest: Arc::new(manifest), worlds })
    }

    /// Returns the storage of the dataset.
    pub const fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the names of the row files, train first, in order.
    pub fn row_files(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.manifest.files.keys().map(String::as_str).filter(|name| is_rows(name)).collect();
        // Train comes first, as in the plan, but names would sort it last.
        names.sort_by_key(|name| (!name.starts_with("data/train-"), *name));
        names
    }

    /// Opens a row file.
    ///
    /// # Errors
    /// Returns an error if it is not a readable file of dialogues.
    pub fn open_rows(&self, name: &str) -> Result<RowFile, ReadError> {
        RowFile::open(&self.storage, name)
    }

    /// Returns all row groups of all files, in order.
    ///
    /// # Errors
    /// Returns an error if a file is not a readable file of dialogues.
    pub fn parts(&self) -> Result<Vec<Part>, ReadError> {
        let mut parts = Vec::new();
        for name in self.row_files() {
            let rows = self.open_rows(name)?;
            let part = |group| Part { file: name.to_owned(), group, rows: rows.clone() };
            parts.extend((0..rows.groups()).map(part));
        }
        Ok(parts)
    }

    /// Returns the rows of a part in order, with few of them in memory at a time.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or is damaged.
    pub fn read(&self, part: &Part) -> Result<Rows, ReadError> {
        part.rows.read_group(part.group)
    }

    /// Returns the heads of a part's rows, in order, without decoding other columns.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or is damaged.
    pub fn read_heads(&self, part: &Part) -> Result<Vec<RowHead>, ReadError> {
        part.rows.read_heads(part.group)
    }

    /// Returns all rows in order, with few of them in memory at a time. After an error in a file, the next
    /// file follows.
    pub fn rows(&self) -> impl Iterator<Item = Result<Dialogue, ReadError>> + '_ {
        self.rows_of(self.row_files())
    }

    /// Returns the rows of one split, or of both, like [`rows`](Self::rows). Does not open files of the other
    /// split.
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

    /// Returns the canonical JSON of a world, after comparing its hash with the manifest.
    ///
    /// # Errors
    /// Returns an error if the world is unknown or unreadable, or if its hash differs.
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

    /// Returns the position of a stored world.
    pub fn world_place(&self, id: &str) -> Option<&WorldPlace> {
        self.worlds.get(id)
    }

    /// Checks that a world file has the worlds of the manifest, with the same hashes.
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

/// The reason for which a world cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The manifest does not know it.
    #[error("the manifest has no world `{0}`")]
    Unknown(String),
    /// Its file does not exist.
    #[error("{0} is missing")]
    Missing(String),
    /// The manifest's position has another world.
    #[error("found world `{found}`, expected `{world}`, where the manifest places it")]
    Other {
        /// The world.
        world: String,
        /// The id that was found.
        found: String,
    },
    /// Its hash differs.
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

/// Returns true if a file name is that of a row file.
pub(crate) fn is_rows(name: &str) -> bool {
    name.starts_with("data/") && name.ends_with(".parquet")
}
