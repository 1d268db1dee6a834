//! Putting finished shards together: the same bytes as one run over the whole.
//!
//! Everything is checked before anything is written: same run, every file once, checksums, worlds. Files are then
//! hard-linked where the file system allows it and copied where not, under temporary names first.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::dataset::{DatasetError, ShardRecord, Sidecar, Summary, assemble, one_hash_per_world};
use crate::disk::{self, DiskError, PART, PartFile};
use crate::manifest::{CARD, MANIFEST, Manifest, MetadataError, world_file};

/// Why shards cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// No shard was given.
    #[error("found no shard folders, expected at least one")]
    NoShards,
    /// A shard's record cannot be used.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// Two shards are of different runs.
    #[error("{} and {} are not shards of one run: they differ in {difference}", first.display(), other.display())]
    OtherRun {
        /// The first folder.
        first: PathBuf,
        /// The one that differs from it.
        other: PathBuf,
        /// The key that differs, with both values.
        difference: String,
    },
    /// A file is in two shards.
    #[error("{file} is in both {} and {}; give each shard once", first.display(), second.display())]
    Twice {
        /// The file.
        file: String,
        /// A folder that has it.
        first: PathBuf,
        /// Another folder that has it.
        second: PathBuf,
    },
    /// A file is in no shard.
    #[error(
        "{missing} of {all} files are in none of the shards, the first is {file}; give all shards of the run"
    )]
    Missing {
        /// How many are missing.
        missing: usize,
        /// Of how many.
        all: usize,
        /// The first of them.
        file: String,
    },
    /// A file is not as its shard recorded it.
    #[error("{} is not as its shard recorded it: {what}; make the shard again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// A description of the difference.
        what: String,
    },
    /// The output folder has something in it.
    #[error("{} is not empty (it holds `{found}`); choose a new folder", folder.display())]
    OutputNotEmpty {
        /// The folder.
        folder: PathBuf,
        /// One of the things in it.
        found: String,
    },
    /// The output folder cannot be used, or writing failed.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A step on the disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Merges finished shards into a new folder.
///
/// # Errors
/// When the shards are not the whole of one run, a file is not as it was recorded, the output folder is not empty, or
/// something cannot be written. What was written is removed again then.
pub fn merge(shards: &[PathBuf], out: &Path) -> Result<Summary, MergeError> {
    let sources = gather(shards)?;
    check_output(out)?;
    for (path, expected) in &sources.worlds {
        check(path, expected, None)?;
    }
    for (path, sidecar) in sources.files.values() {
        check(&path.join(&sidecar.file), &sidecar.fingerprint.blake3, Some(sidecar.fingerprint.size))?;
    }
    let existed = out.exists();
    let result = write(&sources, out);
    if result.is_err() {
        // The error says what went wrong; what cannot be removed now would only hide it.
        let _ = clear(out, existed);
    }
    result
}

struct Sources {
    manifest: Manifest,
    /// By name: the shard's folder and what it knows of the file.
    files: BTreeMap<String, (PathBuf, Sidecar)>,
    /// The file of each world, with its hash.
    worlds: Vec<(PathBuf, String)>,
}

fn gather(shards: &[PathBuf]) -> Result<Sources, MergeError> {
    let mut first: Option<(&PathBuf, ShardRecord)> = None;
    let mut files: BTreeMap<String, (PathBuf, Sidecar)> = BTreeMap::new();
    let mut worlds: BTreeMap<String, (PathBuf, String)> = BTreeMap::new();
    for folder in shards {
        let record = ShardRecord::read(folder)?;
        let (known, expected) = first.get_or_insert_with(|| (folder, record.clone()));
        if let Some(difference) = differs(&record, expected) {
            return Err(MergeError::OtherRun { first: known.clone(), other: folder.clone(), difference });
        }
        for (name, sidecar) in record.files {
            for (world, hash) in &sidecar.worlds {
                let path = folder.join(world_file(world));
                worlds.entry(world.clone()).or_insert_with(|| (path, hash.clone()));
            }
            if let Some((other, _)) = files.get(&name) {
                return Err(MergeError::Twice { file: name, first: other.clone(), second: folder.clone() });
            }
            files.insert(name, (folder.clone(), sidecar));
        }
    }
    let Some((_, record)) = first else { return Err(MergeError::NoShards) };
    let missing: Vec<&String> = record.all_files.iter().filter(|name| !files.contains_key(*name)).collect();
    if let Some(file) = missing.first() {
        let all = record.all_files.len();
        return Err(MergeError::Missing { missing: missing.len(), all, file: (*file).clone() });
    }
    one_hash_per_world(files.values().map(|(_, sidecar)| sidecar))?;
    Ok(Sources { manifest: Manifest::new(&record.run), files, worlds: worlds.into_values().collect() })
}

fn differs(record: &ShardRecord, expected: &ShardRecord) -> Option<String> {
    let plans = || (record.all_files != expected.all_files).then(|| "the names of the files".to_owned());
    record.run.difference_of_rows(&expected.run).or_else(plans)
}

fn check_output(out: &Path) -> Result<(), MergeError> {
    if out.is_file() {
        return Err(DatasetError::NotAFolder(out.to_owned()).into());
    }
    match disk::entries(out)?.into_iter().next() {
        Some(found) => Err(MergeError::OutputNotEmpty { folder: out.to_owned(), found }),
        None => Ok(()),
    }
}

fn check(path: &Path, blake3: &str, size: Option<u64>) -> Result<(), MergeError> {
    let changed = |what: String| MergeError::Changed { path: path.to_owned(), what };
    if !path.is_file() {
        return Err(changed("it is missing".to_owned()));
    }
    let found = disk::fingerprint(path)?;
    if let Some(size) = size.filter(|size| *size != found.size) {
        return Err(changed(format!("found {} bytes, expected {size}", found.size)));
    }
    if found.blake3 != blake3 {
        return Err(changed(format!("found checksum {}, expected {blake3}", found.blake3)));
    }
    Ok(())
}

fn write(sources: &Sources, out: &Path) -> Result<Summary, MergeError> {
    for folder in ["data", "worlds"] {
        disk::make_folder(&out.join(folder))?;
    }
    for (folder, sidecar) in sources.files.values() {
        take_over(&folder.join(&sidecar.file), &out.join(&sidecar.file))?;
    }
    for (path, _) in &sources.worlds {
        if let Some(name) = path.file_name() {
            take_over(path, &out.join("worlds").join(name))?;
        }
    }
    let sidecars = sources.files.values().map(|(_, sidecar)| sidecar);
    let manifest = assemble(out, sources.manifest.clone(), sidecars)?;
    Ok(Summary::of_manifest(&manifest))
}

/// The same file under another name; a copy where the file system has no links or it is another one.
fn take_over(from: &Path, to: &Path) -> Result<(), DiskError> {
    let mut part = to.as_os_str().to_owned();
    part.push(PART);
    let part = PathBuf::from(part);
    disk::remove(&part)?;
    if fs::hard_link(from, &part).is_ok() {
        fs::rename(&part, to).map_err(disk::at("rename to", to))?;
        return to.parent().map_or(Ok(()), disk::sync_folder);
    }
    let mut source = File::open(from).map_err(disk::at("open", from))?;
    let mut copy = PartFile::create(to)?;
    io::copy(&mut source, &mut copy).map_err(disk::at("write", to))?;
    copy.commit()?;
    Ok(())
}

/// Removes what a failed merge wrote into a folder that was empty.
fn clear(out: &Path, existed: bool) -> io::Result<()> {
    for folder in ["data", "worlds"] {
        let folder = out.join(folder);
        if folder.is_dir() {
            fs::remove_dir_all(folder)?;
        }
    }
    for name in [CARD, MANIFEST] {
        let path = out.join(name);
        if path.is_file() {
            fs::remove_file(path)?;
        }
    }
    if existed { Ok(()) } else { fs::remove_dir(out) }
}
