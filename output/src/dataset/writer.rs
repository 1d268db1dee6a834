//! Opens a location for a run, and keeps the records of its finished files.

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

/// Number of reads after which a record counts as missing.
const READS: u32 = 5;
const PAUSE_BETWEEN_READS: Duration = Duration::from_millis(100);

/// The options with which a location is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The shard, which decides about the files to make. Shards of one run share a location and always
    /// continue their run.
    pub shard: Shard,
    /// The treatment of a location that is not empty, for runs without shards.
    pub start: Start,
}

/// The treatment of a location that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Refuse it.
    Fresh,
    /// Continue the run in the location, or start one if it is empty.
    Resume,
}

/// Writes a dataset. Its methods can be called from several threads.
#[derive(Debug)]
pub struct DatasetWriter {
    pub(super) storage: Storage,
    pub(super) run: RunRecord,
    pub(super) shard: Shard,
    pub(super) plan: Plan,
    /// The lock file. Closing it releases the lock.
    pub(super) lock: Option<File>,
    pub(super) state: Mutex<State>,
    /// The summary of a run that was already complete.
    pub(super) complete: Option<Summary>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) done: BTreeMap<usize, Sidecar>,
}

impl DatasetWriter {
    /// Opens a location for a run.
    ///
    /// Creates a missing folder. Keeps files that an interrupted run of the same identity finished, if their
    /// checksums hold, and makes all others again. A complete run or shard has no work left.
    ///
    /// # Errors
    /// Returns an error if the location is not empty and must not be resumed, has another run, or cannot be
    /// written. The location is then unchanged.
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
            // A run that was interrupted after its last file left this folder.
            writer.storage.remove_folder(PROGRESS)?;
        }
        Ok(writer)
    }

    /// The plan.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the files still to be made, in order.
    pub fn pending(&self) -> Vec<&FilePlan> {
        if self.complete.is_some() {
            return Vec::new();
        }
        let state = self.state();
        self.plan.files_of(self.shard).filter(|file| !state.done.contains_key(&file.index)).collect()
    }

    /// Stores the reports of the run's documents. Every shard must have the same ones. The end of the run
    /// makes `documents.json` from them.
    ///
    /// # Errors
    /// Returns an error if another shard stored different reports, or if they cannot be written.
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

    /// Returns the summary of the run, or of its shard, if it is already complete.
    ///
    /// # Errors
    /// Returns an error if the location has another run, is not empty for a new run, or cannot be read.
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
        // Two runs may start at once. One of them writes the record, and each compares itself with the record
        // it reads back.
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
        // A panic while the lock was held cannot leave the map half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the run of a location that is not empty, and the summary if the run or the shard is complete.
fn held_run(
    storage: &Storage,
    first: &str,
    shard: Shard,
) -> Result<(Option<RunRecord>, Option<Summary>), DatasetError> {
    if let Some(manifest) = allow_missing(Manifest::read(storage))? {
        // A complete dataset does not record its shards.
        let run = RunRecord::of_manifest(&manifest, shard.count());
        return Ok((Some(run), Some(Summary::of_manifest(&manifest))));
    }
    let mut run = RunRecord::read(storage)?;
    if run.is_none() {
        // A run was interrupted before it wrote its record, or has just started.
        if is_bare(storage)? {
            return Ok((None, None));
        }
        // A location with files must have a record. Another shard may have written both since the first read.
        run = read_again(|| RunRecord::read(storage))?;
    }
    if let Some(run) = run {
        let marker = if shard == Shard::WHOLE { None } else { ShardRecord::read(storage, shard)? };
        // A marker of another run is ignored. The caller compares the location's run.
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

/// Returns true if a location has only empty folders and the files that a run with a model keeps beside a
/// dataset.
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

/// Reads a record that another process may just have written. File systems and stores may show it a moment
/// later.
fn read_again<T>(read: impl Fn() -> Result<Option<T>, MetadataError>) -> Result<Option<T>, MetadataError> {
    for _ in 1..READS {
        if let Some(found) = read()? {
            return Ok(Some(found));
        }
        std::thread::sleep(PAUSE_BETWEEN_READS);
    }
    read()
}
