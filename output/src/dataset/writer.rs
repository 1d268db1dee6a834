//! Opens a location for a run, and keeps what of it is done.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::{DatasetError, PROGRESS};
use super::progress::{RUN, ShardRecord, Sidecar, Summary};
use crate::documents::{DocumentReport, REPORTS};
use crate::manifest::{Identity, Manifest, MetadataError, QUALITY, RunRecord, STEPS, allow_missing, to_json};
use crate::plan::{FilePlan, Plan, Shard};
use crate::storage::{Lock, Storage};

/// Times that a record is read before it counts as missing.
const READS: u32 = 5;
const PAUSE_BETWEEN_READS: Duration = Duration::from_millis(100);

/// How a location is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which files are made. Shards of one run share a location, and always go on with what is there of their run.
    pub shard: Shard,
    /// The treatment of a location that is not empty, of a run that is not sharded.
    pub start: Start,
}

/// The treatment of a location that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Refuse it.
    Fresh,
    /// Go on with the run that it holds; an empty one is started.
    Resume,
}

/// Writes a dataset. Its methods can be called from several threads.
#[derive(Debug)]
pub struct DatasetWriter {
    pub(super) storage: Storage,
    pub(super) run: RunRecord,
    pub(super) shard: Shard,
    pub(super) plan: Plan,
    /// Closing it ends the lock.
    pub(super) lock: Option<File>,
    pub(super) state: Mutex<State>,
    /// The summary of a run that was complete when it was opened.
    pub(super) complete: Option<Summary>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) done: BTreeMap<usize, Sidecar>,
}

impl DatasetWriter {
    /// Opens a location for a run.
    ///
    /// A folder that does not exist is made. Files that an interrupted run of the same identity finished are kept
    /// when their checksum still holds, all others are made anew. A run, or a shard, that is complete has nothing to do.
    ///
    /// # Errors
    /// When the location is not empty and nothing is to be resumed, holds another run, or cannot be written. Nothing
    /// in it is touched then.
    pub fn open(
        storage: Storage,
        identity: Identity,
        plan: Plan,
        options: Options,
    ) -> Result<Self, DatasetError> {
        let Options { shard, start } = options;
        let run = RunRecord::new(&identity, &plan, shard.count());
        let place = storage.location().to_string();
        if storage.location().as_local().is_some_and(std::path::Path::is_file) {
            return Err(DatasetError::NotAFolder(place));
        }
        let mut complete = None;
        if let Some(first) = storage.list("")?.into_iter().next() {
            if start == Start::Fresh && shard == Shard::WHOLE {
                return Err(DatasetError::NotEmpty { place, found: first.name });
            }
            let (held, summary) = held_run(&storage, &first.name, shard)?;
            complete = summary;
            if let Some(difference) = held.and_then(|held| held.difference(&run)) {
                return Err(DatasetError::OtherRun { place, difference });
            }
        }
        let mut writer = Self { storage, run, shard, plan, lock: None, state: Mutex::default(), complete };
        if writer.complete.is_none() {
            writer.start()?;
        } else if shard == Shard::WHOLE {
            // A run that was interrupted between its last file and the removal of this folder has left it.
            writer.storage.remove_folder(PROGRESS)?;
        }
        Ok(writer)
    }

    /// The plan.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The files still to be made, in order.
    pub fn pending(&self) -> Vec<&FilePlan> {
        if self.complete.is_some() {
            return Vec::new();
        }
        let state = self.state();
        self.plan.files_of(self.shard).filter(|file| !state.done.contains_key(&file.index)).collect()
    }

    /// Stores the reports of the run's documents, which every shard must find to be the same. `documents.json` is made of them
    /// when the run ends.
    ///
    /// # Errors
    /// When another shard found something else, or they cannot be written.
    pub fn put_reports(&self, reports: &[DocumentReport]) -> Result<(), DatasetError> {
        if self.complete.is_some() {
            return Ok(());
        }
        let bytes = to_json(&reports, REPORTS)?;
        if self.storage.write_new(REPORTS, &bytes)? {
            return Ok(());
        }
        let held = read_again(|| Ok(self.storage.read(REPORTS, bytes.len() as u64 + 1)?));
        if held.is_ok_and(|held| held.as_deref() == Some(bytes.as_slice())) {
            return Ok(());
        }
        let place = self.storage.location().to_string();
        Err(DatasetError::OtherRun { place, difference: "the reports of its documents".to_owned() })
    }

    /// Returns what a location holds of a run, if all of it, or of its shard, is there already.
    ///
    /// # Errors
    /// When it holds another run, or anything where a new run is to start, or cannot be read.
    pub fn finished(
        storage: &Storage,
        identity: &Identity,
        rows: u64,
        options: Options,
    ) -> Result<Option<Summary>, DatasetError> {
        let Options { shard, start } = options;
        let Some(first) = storage.list("")?.into_iter().next() else { return Ok(None) };
        let place = storage.location().to_string();
        if start == Start::Fresh && shard == Shard::WHOLE {
            return Err(DatasetError::NotEmpty { place, found: first.name });
        }
        let (held, summary) = held_run(storage, &first.name, shard)?;
        if let Some(difference) = held.and_then(|held| held.difference_of_identity(identity, rows)) {
            return Err(DatasetError::OtherRun { place, difference });
        }
        Ok(summary)
    }

    fn start(&mut self) -> Result<(), DatasetError> {
        let place = || self.storage.location().to_string();
        self.storage.make_folders(&[PROGRESS, "data", "structured", "worlds"])?;
        let lock = format!("{PROGRESS}/{}.lock", self.shard.file_stem());
        self.lock = match self.storage.lock(&lock)? {
            Lock::Held(file) => Some(file),
            Lock::Unsupported => None,
            Lock::Taken => return Err(DatasetError::Locked(place())),
        };
        // Two runs may start at once: one of them writes the record, and each compares itself with what it reads back.
        self.storage.write_new(RUN, &to_json(&self.run, RUN)?)?;
        let held = read_again(|| RunRecord::read(&self.storage))?;
        let held = held.ok_or_else(|| DatasetError::Unreadable(self.storage.full_name(RUN)))?;
        if let Some(difference) = held.difference(&self.run) {
            return Err(DatasetError::OtherRun { place: place(), difference });
        }
        let mut done = BTreeMap::new();
        for file in self.plan.files_of(self.shard) {
            match Sidecar::read(&self.storage, file)? {
                Some(sidecar) if sidecar.holds(&self.storage)? => {
                    done.insert(file.index, sidecar);
                }
                Some(_) => self.storage.remove(&Sidecar::name(file))?,
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

/// The run that a location holds which is not empty, and the summary if it, or the shard, is complete.
fn held_run(
    storage: &Storage,
    first: &str,
    shard: Shard,
) -> Result<(Option<RunRecord>, Option<Summary>), DatasetError> {
    if let Some(manifest) = allow_missing(Manifest::read(storage))? {
        // Shards leave no trace in a complete dataset.
        let run = RunRecord::of_manifest(&manifest, shard.count());
        return Ok((Some(run), Some(Summary::of_manifest(&manifest))));
    }
    let mut run = RunRecord::read(storage)?;
    if run.is_none() {
        // A run was interrupted, or starts at this moment, before its record was written.
        if is_bare(storage)? {
            return Ok((None, None));
        }
        // Where files are, a record must be: another shard may have written both since this one looked.
        run = read_again(|| RunRecord::read(storage))?;
    }
    if let Some(run) = run {
        let marker = if shard == Shard::WHOLE { None } else { ShardRecord::read(storage, shard)? };
        // A marker is only believed if its run is the one asked for; the run of the place is compared by the caller.
        let marker = marker.filter(|marker| marker.run == run);
        let summary = marker.map(|marker| Summary::of_sidecars(marker.files.values()));
        return Ok((Some(run), summary));
    }
    let (place, found) = (storage.location().to_string(), first.to_owned());
    Err(match shard {
        Shard::WHOLE => DatasetError::NothingToResume { place, found },
        _ => DatasetError::NotEmpty { place, found },
    })
}

/// Returns true if a location holds nothing but empty folders and what a run with a model keeps beside a dataset.
fn is_bare(storage: &Storage) -> Result<bool, DatasetError> {
    let folders = ["data", "structured", "worlds"];
    let beside = [PROGRESS, STEPS, QUALITY];
    let is_known = |name: &str| beside.contains(&name) || folders.contains(&name);
    if !storage.list("")?.iter().all(|entry| is_known(&entry.name)) {
        return Ok(false);
    }
    for folder in folders {
        if !storage.list(folder)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads a record that another process may just have written: file systems and stores show it a moment later.
fn read_again<T>(read: impl Fn() -> Result<Option<T>, MetadataError>) -> Result<Option<T>, MetadataError> {
    for _ in 1..READS {
        if let Some(found) = read()? {
            return Ok(Some(found));
        }
        std::thread::sleep(PAUSE_BETWEEN_READS);
    }
    read()
}
