//! Files of a local folder, which are complete or missing.
//!
//! Files are written under a temporary name in the same folder and then renamed. So a full disk, a crash or
//! an interrupt leaves no partial file under a final name. Files are flushed to the disk before renaming. An
//! unfinished run's own files are exceptions, since a resumed run checks their checksums.

use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::entry::{Entry, Fingerprint, Lock};
use super::error::{Cause, MAX_ENTRIES, StorageError};

/// The extension of temporary names.
pub const PART: &str = ".part";

/// A folder, which may not exist yet.
#[derive(Clone, Debug)]
pub(super) struct LocalFolder(PathBuf);

impl LocalFolder {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Returns the path of a file below it. Names have `/` on every platform.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        name.split('/').filter(|part| !part.is_empty()).fold(self.0.clone(), |path, part| path.join(part))
    }
}

/// An unfinished file. Dropping it without [`PartFile::commit`] removes it.
pub struct PartFile {
    file: BufWriter<File>,
    part: PathBuf,
    path: PathBuf,
    hasher: blake3::Hasher,
    size: u64,
    committed: bool,
}

impl PartFile {
    /// Starts a file.
    ///
    /// # Errors
    /// Returns an error if the temporary file cannot be made.
    pub fn create(path: &Path) -> Result<Self, StorageError> {
        Self::create_as(path, part_name(path))
    }

    /// Starts a file under a temporary name.
    pub(crate) fn create_as(path: &Path, part: PathBuf) -> Result<Self, StorageError> {
        let file = File::create(&part).map_err(at("create", &part))?;
        Ok(Self {
            file: BufWriter::with_capacity(1 << 18, file),
            part,
            path: path.to_owned(),
            hasher: blake3::Hasher::new(),
            size: 0,
            committed: false,
        })
    }

    /// Returns the final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes the file to the disk and gives it its final name.
    ///
    /// # Errors
    /// Returns an error if the disk is full or the file cannot be renamed.
    pub fn commit(mut self) -> Result<Fingerprint, StorageError> {
        self.file.flush().map_err(at("write", &self.path))?;
        self.file.get_ref().sync_all().map_err(at("write", &self.path))?;
        self.rename()?;
        if let Some(folder) = self.path.parent() {
            sync_folder(folder)?;
        }
        Ok(self.fingerprint())
    }

    fn rename(&mut self) -> Result<(), StorageError> {
        fs::rename(&self.part, &self.path).map_err(at("rename to", &self.path))?;
        self.committed = true;
        Ok(())
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint { size: self.size, blake3: self.hasher.finalize().to_hex().to_string() }
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or_default());
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.committed {
            // A destructor cannot report an error. The next attempt replaces a file that stays behind.
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Writes a whole file.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<Fingerprint, StorageError> {
    let mut file = PartFile::create(path)?;
    file.write_all(bytes).map_err(at("write", path))?;
    file.commit()
}

/// Returns size and checksum of a file without loading it into memory. Returns `None` if it does not exist.
///
/// # Errors
/// Returns an error if it cannot be read.
pub fn fingerprint(path: &Path) -> Result<Option<Fingerprint>, StorageError> {
    let Some(mut file) = open_if_there(path)? else { return Ok(None) };
    let mut hasher = blake3::Hasher::new();
    let mut size = 0;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(at("read", path)(error)),
        };
        hasher.update(buffer.get(..read).unwrap_or_default());
        size += read as u64;
    }
    Ok(Some(Fingerprint { size, blake3: hasher.finalize().to_hex().to_string() }))
}

/// Returns size and checksum of bytes.
pub fn fingerprint_bytes(bytes: &[u8]) -> Fingerprint {
    Fingerprint { size: bytes.len() as u64, blake3: blake3::hash(bytes).to_hex().to_string() }
}

/// Reads a file of at most `limit` bytes. Returns `None` if it does not exist.
pub(super) fn read_limited(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, StorageError> {
    let Some(file) = open_if_there(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(at("read", path))?;
    if bytes.len() as u64 > limit {
        let place = path.display().to_string();
        return Err(StorageError { doing: "read", place, cause: Cause::TooLarge(limit) });
    }
    Ok(Some(bytes))
}

/// Writes a whole file if the name is free, and returns false otherwise.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, StorageError> {
    let part = part_name(path);
    let written = File::create(&part).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let linked = written.map(|()| fs::hard_link(&part, path));
    // If removal fails, the file keeps its temporary name, and the end of the run removes it.
    let _ = fs::remove_file(&part);
    match linked.map_err(at("write", path))? {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // File systems without hard links do not detect concurrent writers here. The caller reads the file
        // back.
        Err(_) if path.exists() => Ok(false),
        Err(_) => write(path, bytes).map(|_| true),
    }
}

/// Opens a file for reading.
pub(super) fn open(path: &Path) -> Result<File, StorageError> {
    open_file(path).map_err(at("open", path))
}

/// Opens a file or a folder. Refuses pipes and devices, because opening or reading them may never end.
fn open_file(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "found a pipe, a socket or a device, expected a file",
        ));
    }
    File::open(path)
}

/// Returns the size of a file. Returns `None` if it does not exist or is a folder.
pub(super) fn size(path: &Path) -> Result<Option<u64>, StorageError> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_file().then_some(metadata.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at("read", path)(error)),
    }
}

/// Creates a folder and its parents.
pub(super) fn make_folder(path: &Path) -> Result<(), StorageError> {
    fs::create_dir_all(path).map_err(at("create folder", path))
}

/// Removes a file, if it exists.
pub(super) fn remove(path: &Path) -> Result<(), StorageError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Removes a folder with everything in it, if it exists.
pub(super) fn remove_folder(path: &Path) -> Result<(), StorageError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Returns the entries of a folder. A missing folder has none.
pub(super) fn list(path: &Path) -> Result<Vec<Entry>, StorageError> {
    let listing = match fs::read_dir(path) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(at("list", path)(error)),
    };
    let mut entries = Vec::new();
    for entry in listing {
        if entries.len() == MAX_ENTRIES {
            let place = path.display().to_string();
            return Err(StorageError { doing: "list", place, cause: Cause::TooMany });
        }
        let entry = entry.map_err(at("list", path))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Links count as their targets.
        let metadata = fs::metadata(entry.path()).or_else(|_| entry.metadata());
        let size = metadata.map_err(at("list", path))?;
        entries.push(Entry { name, size: (!size.is_dir()).then_some(size.len()) });
    }
    Ok(entries)
}

/// Takes a lock on a file, which is created if it is missing.
pub(super) fn lock(path: &Path) -> Result<Lock, StorageError> {
    let file = File::create(path).map_err(at("create", path))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock::Held(file)),
        Err(TryLockError::WouldBlock) => Ok(Lock::Taken),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
            Ok(Lock::Unsupported)
        }
        Err(TryLockError::Error(error)) => Err(at("lock", path)(error)),
    }
}

fn open_if_there(path: &Path) -> Result<Option<File>, StorageError> {
    match open_file(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at("open", path)(error)),
    }
}

/// Returns a unique temporary name. Two processes that write the same file, on any machines that share the
/// folder, must not write into the same temporary file.
fn part_name(path: &Path) -> PathBuf {
    let random = RandomState::new().build_hasher().finish();
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{random:016x}{PART}"));
    PathBuf::from(name)
}

/// Makes renames in a folder durable. Only Unix allows a folder to be opened for that.
pub(super) fn sync_folder(path: &Path) -> Result<(), StorageError> {
    if cfg!(unix) {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        File::open(path).and_then(|folder| folder.sync_all()).map_err(at("write", path))?;
    }
    Ok(())
}

/// Adds operation and path to an I/O error.
pub(crate) fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StorageError {
    let place = path.display().to_string();
    move |error| StorageError { doing, place, cause: Cause::Io(error) }
}
