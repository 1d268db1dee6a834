//! Merges shards into a dataset with the same bytes as one run over the whole.
//!
//! Reads the markers of the shards and lists the files. Reads no rows and no worlds.

use std::collections::BTreeMap;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::dataset::{DatasetError, PROGRESS, ShardRecord, Sidecar, Summary, assemble, check_world_hashes};
use crate::manifest::{Manifest, MetadataError, RunRecord, allow_missing};
use crate::plan::Shard;
use crate::storage::{Storage, StorageError};

/// Number of markers read at the same time, because object stores are slow.
const MARKERS_AT_ONCE: usize = 16;

/// The reason for which shards cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The location has no run with shards.
    #[error("{0} holds no run of shards; expected what `diorama generate --shard I/K --out {0}` leaves")]
    NoRun(String),
    /// The run has no shards.
    #[error("{0} holds an interrupted run without shards; go on with it by `diorama generate --resume`")]
    NotSharded(String),
    /// Some shards are not finished.
    #[error("{} of {count} shards have not finished: {}; run them, then merge again", missing.len(), list(missing))]
    Missing {
        /// The shards without a marker, in order.
        missing: Vec<Shard>,
        /// The number of shards.
        count: u32,
    },
    /// A marker belongs to another run.
    #[error("{marker} is of another run: it differs in {difference}; remove it, and run the shard again")]
    OtherRun {
        /// The marker.
        marker: String,
        /// The key that differs, with both values.
        difference: String,
    },
    /// Two shards have the same file.
    #[error("{file} is in the markers of two shards; choose a new place and run the shards again")]
    Twice {
        /// The file.
        file: String,
    },
    /// A marker cannot be used.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// The dataset cannot be completed.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Threads cannot be started.
    #[error("cannot start the threads that read markers: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// A completed dataset.
#[derive(Clone, Debug)]
pub struct MergedDataset {
    /// Counts over the rows.
    pub summary: Summary,
    /// The number of shards; `None` if the dataset was complete before.
    pub shards: Option<u32>,
}

/// Completes a dataset from the markers of its shards.
///
/// # Errors
/// Returns an error if shards are missing or belong to different runs, if files differ from their records, or
/// if writing fails. In the first two cases it writes neither card nor manifest.
pub fn merge(storage: &Storage) -> Result<MergedDataset, MergeError> {
    if let Some(manifest) = allow_missing(Manifest::read(storage))? {
        let summary = Summary::of_manifest(&manifest);
        // An earlier merge was interrupted after its last file.
        storage.remove_folder(PROGRESS)?;
        return Ok(MergedDataset { summary, shards: None });
    }
    let place = || storage.location().to_string();
    let run = RunRecord::read(storage)?.ok_or_else(|| MergeError::NoRun(place()))?;
    if run.shards == Shard::WHOLE.count() {
        return Err(MergeError::NotSharded(place()));
    }
    let files = files(storage, &run)?;
    check_world_hashes(files.values())?;
    let manifest = assemble(storage, Manifest::new(&run), files.values())?;
    storage.remove_folder(PROGRESS)?;
    Ok(MergedDataset { summary: Summary::of_manifest(&manifest), shards: Some(run.shards) })
}

/// Returns the files of all shards by name.
fn files(storage: &Storage, run: &RunRecord) -> Result<BTreeMap<String, Sidecar>, MergeError> {
    let threads = ThreadPoolBuilder::new().num_threads(MARKERS_AT_ONCE).build()?;
    let shards: Vec<Shard> = Shard::all(run.shards).collect();
    let markers: Vec<Option<ShardRecord>> = threads.install(|| {
        shards.par_iter().map(|shard| ShardRecord::read(storage, *shard)).collect::<Result<_, _>>()
    })?;
    let missing: Vec<Shard> =
        shards.iter().zip(&markers).filter(|(_, marker)| marker.is_none()).map(|(shard, _)| *shard).collect();
    if !missing.is_empty() {
        return Err(MergeError::Missing { missing, count: run.shards });
    }
    let mut files = BTreeMap::new();
    for marker in markers.into_iter().flatten() {
        if let Some(difference) = marker.run.difference(run) {
            let marker = storage.full_name(&ShardRecord::name(marker.shard));
            return Err(MergeError::OtherRun { marker, difference });
        }
        for (name, sidecar) in marker.files {
            if files.insert(name.clone(), sidecar).is_some() {
                return Err(MergeError::Twice { file: name });
            }
        }
    }
    Ok(files)
}

/// Lists the first few shards for a message.
fn list(shards: &[Shard]) -> String {
    const MAX_NAMED: usize = 10;
    let named: Vec<String> = shards.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    let more = if shards.len() > MAX_NAMED { ", ..." } else { "" };
    format!("{}{more}", named.join(", "))
}
