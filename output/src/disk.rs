//! Files that are there in full or not at all.
//!
//! Everything is written under a temporary name in its own folder and renamed, so that a full disk, a crash or an
//! interrupt never leaves half a file under a final name. Files are flushed to the disk before they are renamed, except
//! those of a run in progress that a resumed run checks by checksum anyway.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The ending of temporary names.
pub const PART: &str = ".part";

/// A step on the disk that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}: {source}{}", path.display(), hint(source))]
pub struct DiskError {
    /// The operation that failed: `write`, `read`, `rename`.
    pub doing: &'static str,
    /// With which file or folder.
    pub path: PathBuf,
    /// Why it failed.
    pub source: io::Error,
}

/// The size and the hash of a finished file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// Its size in bytes.
    pub size: u64,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub blake3: String,
}

/// A file in the making. Dropped without [`PartFile::commit`], it leaves nothing behind.
pub struct PartFile {
    file: BufWriter<File>,
    part: PathBuf,
    path: PathBuf,
    hasher: blake3::Hasher,
    size: u64,
    committed: bool,
}

impl PartFile {
    /// Starts a file; an earlier unfinished one is replaced.
    ///
    /// # Errors
    /// When the temporary file cannot be made.
    pub fn create(path: &Path) -> Result<Self, DiskError> {
        let mut part = path.as_os_str().to_owned();
        part.push(PART);
        let part = PathBuf::from(part);
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

    /// The final name.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes the file to the disk and gives it its name.
    ///
    /// # Errors
    /// When the disk is full or the file cannot be renamed.
    pub fn commit(mut self) -> Result<Fingerprint, DiskError> {
        self.file.flush().map_err(at("write", &self.path))?;
        self.file.get_ref().sync_all().map_err(at("write", &self.path))?;
        self.rename()?;
        if let Some(folder) = self.path.parent() {
            sync_folder(folder)?;
        }
        Ok(self.fingerprint())
    }

    /// Gives the file its name and leaves it to the system when it reaches the disk: after a loss of power it may be
    /// missing or empty.
    ///
    /// # Errors
    /// When the disk is full or the file cannot be renamed.
    pub(crate) fn commit_unsynced(mut self) -> Result<Fingerprint, DiskError> {
        self.file.flush().map_err(at("write", &self.path))?;
        self.rename()?;
        Ok(self.fingerprint())
    }

    fn rename(&mut self) -> Result<(), DiskError> {
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
            // A destructor cannot report an error. A file that stays behind is replaced by the next attempt.
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Writes a whole file.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<Fingerprint, DiskError> {
    let mut file = PartFile::create(path)?;
    file.write_all(bytes).map_err(at("write", path))?;
    file.commit()
}

/// Writes a whole file that may be lost with the power: one that is made again then.
pub(crate) fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<Fingerprint, DiskError> {
    let mut file = PartFile::create(path)?;
    file.write_all(bytes).map_err(at("write", path))?;
    file.commit_unsynced()
}

/// Flushes files of one folder, and their names, to the disk. Several at a time: a disk serves flushes that wait
/// together in one go.
pub(crate) fn sync_files(folder: &Path, files: &[PathBuf]) -> Result<(), DiskError> {
    const TOGETHER: usize = 8;
    let threads = ThreadPoolBuilder::new().num_threads(TOGETHER).build();
    let threads = threads.map_err(io::Error::other).map_err(at("write", folder))?;
    threads.install(|| files.par_iter().try_for_each(|path| sync_file(path)))?;
    sync_folder(folder)
}

fn sync_file(path: &Path) -> Result<(), DiskError> {
    // Windows flushes only files that are open for writing.
    let opened = File::options().read(true).write(cfg!(windows)).open(path);
    opened.and_then(|file| file.sync_all()).map_err(at("write", path))
}

/// Size and checksum of a file, without holding it in memory.
///
/// # Errors
/// When it cannot be read.
pub fn fingerprint(path: &Path) -> Result<Fingerprint, DiskError> {
    let mut file = File::open(path).map_err(at("open", path))?;
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
    Ok(Fingerprint { size, blake3: hasher.finalize().to_hex().to_string() })
}

/// Size and checksum of bytes.
#[must_use]
pub fn fingerprint_bytes(bytes: &[u8]) -> Fingerprint {
    Fingerprint { size: bytes.len() as u64, blake3: blake3::hash(bytes).to_hex().to_string() }
}

/// Reads a file of at most `limit` bytes; one that is not there is `None`.
pub(crate) fn read_limited(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, DiskError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at("open", path)(error)),
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(at("read", path))?;
    if bytes.len() as u64 > limit {
        let too_large = io::Error::other(format!("it is larger than {limit} bytes"));
        return Err(at("read", path)(too_large));
    }
    Ok(Some(bytes))
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(path: &Path) -> Result<(), DiskError> {
    fs::create_dir_all(path).map_err(at("create folder", path))
}

/// Removes a file that may not be there.
pub(crate) fn remove(path: &Path) -> Result<(), DiskError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Names of the entries of a folder, sorted; none when it is not there.
pub(crate) fn entries(path: &Path) -> Result<Vec<String>, DiskError> {
    let listing = match fs::read_dir(path) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(at("list", path)(error)),
    };
    let mut names = Vec::new();
    for entry in listing {
        names.push(entry.map_err(at("list", path))?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Makes renames in a folder last. Only unix lets a folder be opened for that.
pub(crate) fn sync_folder(path: &Path) -> Result<(), DiskError> {
    if cfg!(unix) {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        File::open(path).and_then(|folder| folder.sync_all()).map_err(at("write", path))?;
    }
    Ok(())
}

/// Gives an error its place.
pub(crate) fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DiskError {
    let path = path.to_owned();
    move |source| DiskError { doing, path, source }
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; free some space and run the same command again with --resume",
        io::ErrorKind::PermissionDenied => "; choose a folder you may write to",
        _ => "",
    }
}
