//! Opens a dataset's folder for a run, and keeps what of it is done.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::{DatasetError, PROGRESS};
use super::progress::{ShardRecord, Sidecar, Summary};
use crate::disk::{self, DiskError};
use crate::manifest::{
    Identity, MANIFEST, Manifest, QUALITY, RunRecord, SHARD, STEPS, is_world_id, world_file,
};
use crate::plan::{FilePlan, Plan, Shard};

/// How a folder is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which files are made.
    pub shard: Shard,
    /// What to do with a folder that is not empty.
    pub start: Start,
}

/// What to do with a folder that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Refuse it.
    Fresh,
    /// Go on with the run that it holds; an empty folder is started.
    Resume,
}

/// Writes a dataset into a folder. Its methods can be called from several threads.
#[derive(Debug)]
pub struct DatasetWriter {
    pub(super) folder: PathBuf,
    pub(super) run: RunRecord,
    pub(super) plan: Plan,
    /// Closing it ends the lock.
    pub(super) _lock: Option<File>,
    pub(super) state: Mutex<State>,
    /// The summary of a folder that was complete when it was opened.
    pub(super) complete: Option<Summary>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) done: BTreeMap<usize, Sidecar>,
    pub(super) worlds: BTreeMap<String, String>,
}

impl DatasetWriter {
    /// Opens a folder for a run.
    ///
    /// A folder that does not exist is made. Files that an interrupted run of the same identity finished are kept
    /// when their checksum still holds, all others are made anew.
    ///
    /// # Errors
    /// When the folder is not empty and nothing is to be resumed, holds another run, or cannot be written. Nothing
    /// in the folder is touched then.
    pub fn open(
        folder: &Path,
        identity: Identity,
        plan: Plan,
        options: Options,
    ) -> Result<Self, DatasetError> {
        let run = RunRecord::new(&identity, &plan, options.shard);
        if folder.is_file() {
            return Err(DatasetError::NotAFolder(folder.to_owned()));
        }
        let found = disk::entries(folder)?;
        let mut complete = None;
        if let Some(first) = found.first() {
            if options.start == Start::Fresh {
                return Err(DatasetError::NotEmpty { folder: folder.to_owned(), found: first.clone() });
            }
            let (held, summary) = held_run(folder, first)?;
            complete = summary;
            if let Some(difference) = held.and_then(|held| held.difference(&run)) {
                return Err(DatasetError::OtherRun { folder: folder.to_owned(), difference });
            }
        }
        let mut writer =
            Self { folder: folder.to_owned(), run, plan, _lock: None, state: Mutex::default(), complete };
        if writer.complete.is_none() {
            writer.start()?;
        } else {
            // A run that was interrupted between its last file and the removal of this folder has left it.
            remove_progress(folder)?;
        }
        Ok(writer)
    }

    /// The plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The files still to be made, in order.
    #[must_use]
    pub fn pending(&self) -> Vec<&FilePlan> {
        if self.complete.is_some() {
            return Vec::new();
        }
        let state = self.state();
        self.plan.files_of(self.run.shard).filter(|file| !state.done.contains_key(&file.index)).collect()
    }

    /// Rows in files that are finished.
    #[must_use]
    pub fn rows_done(&self) -> u64 {
        match &self.complete {
            Some(summary) => summary.counts.dialogues,
            None => self.state().done.values().map(|sidecar| sidecar.counts.dialogues).sum(),
        }
    }

    /// Stores a materialised world, once, and gives the hash that its rows must name.
    ///
    /// `canonical` is the world's canonical JSON; it becomes `worlds/{id}.json` as it is. Rows are only taken when
    /// their world has been stored. Worlds that no row names in the end are removed.
    ///
    /// # Errors
    /// When the id cannot be a file name, another world has the same id, or the file cannot be written.
    pub fn put_world(&self, id: &str, canonical: &[u8]) -> Result<String, DatasetError> {
        let refused = |what: &str| DatasetError::World { world: id.to_owned(), what: what.to_owned() };
        if !is_world_id(id) {
            return Err(refused(
                "found an id with other characters than letters, digits, `_`, `-` and inner dots",
            ));
        }
        let hash = blake3::hash(canonical).to_hex().to_string();
        match self.state().worlds.entry(id.to_owned()) {
            Entry::Occupied(known) if *known.get() == hash => return Ok(hash),
            Entry::Occupied(_) => {
                return Err(refused("another world has this id, expected one world per id"));
            }
            Entry::Vacant(free) => free.insert(hash.clone()),
        };
        // Only the thread that took the id comes here, and it need not keep the others from theirs. The file is flushed
        // to the disk when the run ends.
        let path = self.folder.join(world_file(id));
        let stored = path.is_file() && disk::fingerprint(&path)?.blake3 == hash;
        if !stored {
            disk::write_unsynced(&path, canonical)?;
        }
        Ok(hash)
    }

    fn start(&mut self) -> Result<(), DatasetError> {
        let progress = self.folder.join(PROGRESS);
        for folder in [progress.clone(), self.folder.join("data"), self.folder.join("worlds")] {
            disk::make_folder(&folder)?;
        }
        self._lock = Some(lock(&progress, &self.folder)?);
        let run = progress.join("run.json");
        disk::write(&run, &crate::manifest::to_json(&self.run, &run)?)?;
        for name in ["data", "worlds"] {
            remove_parts(&self.folder.join(name))?;
        }
        let mut done = BTreeMap::new();
        for file in self.plan.files_of(self.run.shard) {
            match Sidecar::read(&self.folder, file)? {
                Some(sidecar) if sidecar.holds(&self.folder)? => {
                    done.insert(file.index, sidecar);
                }
                Some(_) => disk::remove(&Sidecar::path(&self.folder, file))?,
                None => {}
            }
        }
        self.state().done = done;
        Ok(())
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked while it held the lock left maps that are still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The run a folder that is not empty holds: finished, or interrupted.
fn held_run(folder: &Path, first: &str) -> Result<(Option<RunRecord>, Option<Summary>), DatasetError> {
    if folder.join(MANIFEST).is_file() {
        let manifest = Manifest::read(folder)?;
        let run = RunRecord::of_manifest(&manifest);
        return Ok((Some(run), Some(Summary::of_manifest(&manifest))));
    }
    if folder.join(SHARD).is_file() {
        let shard = ShardRecord::read(folder)?;
        return Ok((Some(shard.run.clone()), Some(Summary::of_sidecars(shard.files.values()))));
    }
    match RunRecord::read(folder)? {
        Some(run) => Ok((Some(run), None)),
        // Interrupted before the first file of the run was written.
        None if disk::entries(folder)?
            .iter()
            .all(|name| [PROGRESS, "data", "worlds", STEPS, QUALITY].contains(&name.as_str()))
            && ["data", "worlds"]
                .iter()
                .all(|name| disk::entries(&folder.join(name)).is_ok_and(|names| names.is_empty())) =>
        {
            Ok((None, None))
        }
        None => Err(DatasetError::NothingToResume { folder: folder.to_owned(), found: first.to_owned() }),
    }
}

fn lock(progress: &Path, folder: &Path) -> Result<File, DatasetError> {
    let path = progress.join("lock");
    let file = File::create(&path).map_err(disk::at("create", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DatasetError::Locked(folder.to_owned())),
        // A file system without locks: two runs at once are then the user's to avoid.
        Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(disk::at("lock", &path)(error).into()),
    }
}

/// Removes what a crash left under temporary names.
fn remove_parts(folder: &Path) -> Result<(), DiskError> {
    for name in disk::entries(folder)?.iter().filter(|name| name.ends_with(disk::PART)) {
        disk::remove(&folder.join(name))?;
    }
    Ok(())
}

/// Removes the folder that only a run that has not ended needs.
pub(super) fn remove_progress(folder: &Path) -> Result<(), DiskError> {
    let progress = folder.join(PROGRESS);
    match fs::remove_dir_all(&progress) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(disk::at("remove", &progress)(error))
        }
        _ => Ok(()),
    }
}
