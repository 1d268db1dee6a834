//! Storage of a dataset: a local folder, or a prefix of an object store.
//!
//! File names below it use `/`: `data/train-00000-of-00004.parquet`. Files are complete or missing: folders
//! write a temporary file and rename it, and object stores put whole objects. The caller supplies
//! credentials. They are never stored, and messages omit them. All methods block, inside or outside of an
//! async runtime.

mod client;
mod entry;
mod error;
pub mod local;
mod location;
mod message;
mod objects;
#[cfg(test)]
pub(crate) mod tests;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

pub use entry::{Entry, Fingerprint, Lock};
pub use error::{Cause, StorageError};
use local::{LocalFolder, PartFile};
pub use location::{Location, LocationError, Provider};
use objects::{ObjectWriter, Objects};

/// An opened location. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Storage {
    location: Location,
    backend: Backend,
}

#[derive(Clone, Debug)]
enum Backend {
    Local(LocalFolder),
    Objects(Arc<Objects>),
}

/// An unfinished file. Dropping it without [`NewFile::commit`] removes it.
pub enum NewFile {
    /// In a folder.
    Local(Box<PartFile>),
    /// In an object store.
    Object(Box<ObjectWriter>),
}

/// A file opened for reading.
#[derive(Clone, Debug)]
pub struct StoredFile {
    storage: Storage,
    name: String,
    size: u64,
}

/// The input of the Parquet reader: a file of a folder, or a range of an object in memory.
pub enum Chunks {
    /// A file of a folder.
    File(std::fs::File),
    /// Bytes of an object.
    Range {
        /// The size of the whole object.
        size: u64,
        /// Position of the first byte in memory.
        start: u64,
        /// The bytes in memory.
        bytes: Bytes,
        /// The file, for bytes outside of the range.
        file: StoredFile,
    },
}

impl Storage {
    /// Opens a location. `settings` have the names of the usual environment variables: `AWS_REGION`,
    /// `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME`. One request checks an object store, so that a
    /// wrong endpoint, bucket or key is reported at once. Later requests are retried for minutes.
    ///
    /// # Errors
    /// Returns an error if a setting is wrong or the store refuses.
    pub fn open(
        location: &Location,
        settings: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, StorageError> {
        let backend = match location {
            Location::Local(path) => Backend::Local(LocalFolder::new(path)),
            Location::Objects { provider, bucket, prefix } => {
                Backend::Objects(Arc::new(Objects::open(*provider, bucket, prefix, settings)?))
            }
        };
        Ok(Self { location: location.clone(), backend })
    }

    /// Opens a local folder.
    pub fn local(path: &Path) -> Self {
        let location = Location::Local(path.to_owned());
        Self { location, backend: Backend::Local(LocalFolder::new(path)) }
    }

    /// Opens a prefix of a test's store.
    #[cfg(test)]
    pub(crate) fn of_store(store: Arc<dyn objects::ListedStore>, prefix: &str) -> Self {
        let (provider, bucket, prefix) = (Provider::S3, "bucket".to_owned(), prefix.to_owned());
        let objects = Objects::of_store(store, "s3://bucket", &prefix, Vec::new());
        let location = Location::Objects { provider, bucket, prefix };
        Self { location, backend: Backend::Objects(Arc::new(objects.unwrap())) }
    }

    /// The location.
    pub const fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the full name of a file, for messages.
    pub fn full_name(&self, name: &str) -> String {
        self.location.join(name)
    }

    /// Reads a file of at most `limit` bytes. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or is larger.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, StorageError> {
        match &self.backend {
            Backend::Local(folder) => local::read_limited(&folder.path(name), limit),
            Backend::Objects(objects) => objects.read(name, limit),
        }
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<Fingerprint, StorageError> {
        match &self.backend {
            Backend::Local(folder) => local::write(&folder.path(name), bytes),
            Backend::Objects(objects) => objects.put(name, bytes),
        }
    }

    /// Writes a whole file if the name is free, and returns false otherwise. Of several concurrent writers,
    /// one succeeds.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn write_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StorageError> {
        match &self.backend {
            Backend::Local(folder) => local::write_new(&folder.path(name), bytes),
            Backend::Objects(objects) => objects.put_new(name, bytes),
        }
    }

    /// Starts a file.
    ///
    /// # Errors
    /// Returns an error if it cannot be started.
    pub fn create(&self, name: &str) -> Result<NewFile, StorageError> {
        match &self.backend {
            Backend::Local(folder) => {
                PartFile::create(&folder.path(name)).map(|file| NewFile::Local(Box::new(file)))
            }
            Backend::Objects(objects) => {
                Ok(NewFile::Object(Box::new(ObjectWriter::new(Arc::clone(objects), name))))
            }
        }
    }

    /// Opens a file for reading. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn open_file(&self, name: &str) -> Result<Option<StoredFile>, StorageError> {
        let size = match &self.backend {
            Backend::Local(folder) => local::size(&folder.path(name))?,
            Backend::Objects(objects) => objects.size(name)?,
        };
        Ok(size.map(|size| StoredFile { storage: self.clone(), name: name.to_owned(), size }))
    }

    /// Returns size and checksum of a file without loading it into memory. Returns `None` if it does not
    /// exist.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn fingerprint(&self, name: &str) -> Result<Option<Fingerprint>, StorageError> {
        match &self.backend {
            Backend::Local(folder) => local::fingerprint(&folder.path(name)),
            Backend::Objects(objects) => objects.fingerprint(name),
        }
    }

    /// Returns the entries of a folder, sorted by name. A missing folder has none. An empty name stands for
    /// the location itself.
    ///
    /// # Errors
    /// Returns an error if it cannot be listed.
    pub fn list(&self, folder: &str) -> Result<Vec<Entry>, StorageError> {
        let mut entries = match &self.backend {
            Backend::Local(root) => local::list(&root.path(folder))?,
            Backend::Objects(objects) => objects.list(folder)?,
        };
        entries.sort();
        Ok(entries)
    }

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// Returns an error if it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), StorageError> {
        match &self.backend {
            Backend::Local(folder) => local::remove(&folder.path(name)),
            Backend::Objects(objects) => objects.remove(name),
        }
    }

    /// Removes a folder with all of its files, if it exists.
    ///
    /// # Errors
    /// Returns an error if it cannot be removed.
    pub fn remove_folder(&self, folder: &str) -> Result<(), StorageError> {
        match &self.backend {
            Backend::Local(root) => local::remove_folder(&root.path(folder)),
            Backend::Objects(objects) => objects.remove_folder(folder),
        }
    }

    /// Creates the folders for files. Object stores have none.
    ///
    /// # Errors
    /// Returns an error if one cannot be made.
    pub fn make_folders(&self, folders: &[&str]) -> Result<(), StorageError> {
        match &self.backend {
            Backend::Local(root) => {
                folders.iter().try_for_each(|folder| local::make_folder(&root.path(folder)))
            }
            Backend::Objects(_) => Ok(()),
        }
    }

    /// Takes a lock against other processes of this machine. Object stores have no locks; concurrent equal
    /// runs write the same bytes.
    ///
    /// # Errors
    /// Returns an error if the lock's file cannot be made.
    pub fn lock(&self, name: &str) -> Result<Lock, StorageError> {
        match &self.backend {
            Backend::Local(folder) => local::lock(&folder.path(name)),
            Backend::Objects(_) => Ok(Lock::Unsupported),
        }
    }
}

impl NewFile {
    /// Gives the file its final name. It is stored when this returns.
    ///
    /// # Errors
    /// Returns an error if it cannot be written or named.
    pub fn commit(self) -> Result<Fingerprint, StorageError> {
        match self {
            Self::Local(file) => file.commit(),
            Self::Object(file) => file.commit(),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Local(file) => file.write(bytes),
            Self::Object(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Local(file) => file.flush(),
            Self::Object(_) => Ok(()),
        }
    }
}

impl StoredFile {
    /// Returns the full name, for messages.
    pub fn full_name(&self) -> String {
        self.storage.full_name(&self.name)
    }

    /// Returns the size in bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the bytes of a range for the Parquet reader. Those of an object are fetched in one request.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn chunks(&self, range: std::ops::Range<u64>) -> Result<Chunks, StorageError> {
        match &self.storage.backend {
            Backend::Local(folder) => local::open(&folder.path(&self.name)).map(Chunks::File),
            Backend::Objects(objects) => {
                let range = range.start.min(self.size)..range.end.min(self.size);
                let (start, size) = (range.start, self.size);
                let bytes = objects.read_range(&self.name, range)?;
                Ok(Chunks::Range { size, start, bytes, file: self.clone() })
            }
        }
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        match self {
            Self::File(file) => Length::len(file),
            Self::Range { size, .. } => *size,
        }
    }
}

impl ChunkReader for Chunks {
    type T = Box<dyn io::Read + Send>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        match self {
            Self::File(file) => Ok(Box::new(file.get_read(start)?)),
            Self::Range { size, start: first, bytes, .. } => {
                let held = (*first..first + bytes.len() as u64).contains(&start);
                let bytes = if held {
                    bytes.slice((start - first) as usize..)
                } else {
                    self.get_bytes(start, size.saturating_sub(start) as usize)?
                };
                Ok(Box::new(io::Cursor::new(bytes)))
            }
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self {
            Self::File(file) => file.get_bytes(start, length),
            Self::Range { size, start: first, bytes, file } => {
                let end = start.checked_add(length as u64).filter(|end| end <= size);
                let end = end.ok_or_else(|| {
                    ParquetError::EOF(format!("found {size} bytes, expected {length} at {start}"))
                })?;
                if start >= *first && end <= first + bytes.len() as u64 {
                    let from = (start - first) as usize;
                    return Ok(bytes.slice(from..from + length));
                }
                match file.chunks(start..end) {
                    Ok(Self::Range { bytes, .. }) if bytes.len() == length => Ok(bytes),
                    Ok(_) => Err(ParquetError::EOF(format!("found fewer than {length} bytes at {start}"))),
                    Err(error) => Err(ParquetError::External(Box::new(error))),
                }
            }
        }
    }
}
