//! What a run leaves beside its files until it ends, and what a shard leaves for `merge`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::error::{DatasetError, PROGRESS};
use crate::columns::SCHEMA_VERSION;
use crate::disk::{self, Fingerprint};
use crate::funnel::{Counts, Funnel};
use crate::manifest::{
    Identity, Manifest, MetadataError, RunRecord, SHARD, config_hash, is_world_id, read_metadata, to_json,
    world_file,
};
use crate::plan::{FilePlan, Plan, Shard};

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// What the rows hold.
    pub counts: Counts,
    /// What became of the tasks proposed.
    pub funnel: Funnel,
    /// Hash of each world that a row names.
    pub worlds: BTreeMap<String, String>,
}

/// What is known of a finished file of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sidecar {
    /// Version of the columns.
    pub schema_version: u32,
    /// The file's name below the folder.
    pub file: String,
    /// Its bytes.
    pub fingerprint: Fingerprint,
    /// What its rows hold.
    pub counts: Counts,
    /// What became of the tasks proposed for it.
    pub funnel: Funnel,
    /// Hash of each world that its rows name.
    pub worlds: BTreeMap<String, String>,
}

/// `shard.json`: a finished shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardRecord {
    /// Version of the columns.
    pub schema_version: u32,
    /// The run, with the shard.
    pub run: RunRecord,
    /// Names of all files of the dataset, those of other shards too.
    pub all_files: Vec<String>,
    /// The shard's files.
    pub files: BTreeMap<String, Sidecar>,
}

impl RunRecord {
    pub(crate) fn new(identity: &Identity, plan: &Plan, shard: Shard) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            identity: identity.clone(),
            config_hash: identity.config_hash(),
            plan: plan.sizes(),
            plan_hash: plan.digest(),
            shard,
        }
    }

    pub(crate) fn of_manifest(manifest: &Manifest) -> Self {
        Self {
            schema_version: manifest.schema_version,
            identity: manifest.identity(),
            config_hash: manifest.config_hash.clone(),
            plan: manifest.plan,
            plan_hash: manifest.plan_hash.clone(),
            shard: Shard::WHOLE,
        }
    }

    /// The record of an interrupted run, if there is one.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, MetadataError> {
        match read_metadata(&folder.join(PROGRESS), "run.json", "") {
            Ok(run) => Ok(Some(run)),
            Err(MetadataError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The first key in which another run differs, with both values: `` `seed` (found 1, expected 2) ``.
    #[must_use]
    pub fn difference(&self, expected: &Self) -> Option<String> {
        self.difference_of_rows(expected).or_else(|| differ("shard", &self.shard, &expected.shard))
    }

    /// Like [`RunRecord::difference`], shards apart.
    pub(crate) fn difference_of_rows(&self, expected: &Self) -> Option<String> {
        let (found, other) = (&self.identity, &expected.identity);
        differ("engine version", &found.versions.engine, &other.versions.engine)
            .or_else(|| differ("grader version", &found.versions.grader, &other.versions.grader))
            .or_else(|| differ("search version", &found.versions.search, &other.versions.search))
            .or_else(|| differ("generator version", &found.versions.generator, &other.versions.generator))
            .or_else(|| differ("seed", &found.seed, &other.seed))
            .or_else(|| config_difference(&found.config, &other.config))
            .or_else(|| differ("benchmark", &found.benchmark, &other.benchmark))
            .or_else(|| differ("dialogues", &self.plan.rows, &expected.plan.rows))
            .or_else(|| differ("rows per batch", &self.plan.rows_per_batch, &expected.plan.rows_per_batch))
            .or_else(|| {
                differ("batches per file", &self.plan.batches_per_file, &expected.plan.batches_per_file)
            })
            .or_else(|| differ("split of the batches", &self.plan_hash, &expected.plan_hash))
            .or_else(|| differ("config hash", &self.config_hash, &expected.config_hash))
    }
}

impl Sidecar {
    /// Where a file's sidecar stands.
    pub(crate) fn path(folder: &Path, file: &FilePlan) -> PathBuf {
        folder.join(PROGRESS).join(Self::name(file))
    }

    fn name(file: &FilePlan) -> String {
        format!("{}.json", file.name.trim_start_matches("data/").trim_end_matches(".parquet"))
    }

    /// The sidecar of a file, if it has one that can be read. One that cannot is as good as none: its file is made
    /// anew.
    pub(crate) fn read(folder: &Path, file: &FilePlan) -> Result<Option<Self>, DatasetError> {
        let Some(bytes) = disk::read_limited(&Self::path(folder, file), 256 << 20)? else { return Ok(None) };
        let sidecar: Option<Self> = serde_json::from_slice(&bytes).ok();
        Ok(sidecar.filter(|sidecar| sidecar.schema_version == SCHEMA_VERSION && sidecar.file == file.name))
    }

    pub(crate) fn write(&self, folder: &Path, file: &FilePlan) -> Result<(), DatasetError> {
        let path = Self::path(folder, file);
        // Lost with the power, it costs one file made again.
        disk::write_unsynced(&path, &to_json(self, &path)?)?;
        Ok(())
    }

    /// Whether the file and its worlds are still there, byte for byte.
    pub(crate) fn holds(&self, folder: &Path) -> Result<bool, DatasetError> {
        let path = folder.join(&self.file);
        if !path.is_file() || disk::fingerprint(&path)? != self.fingerprint {
            return Ok(false);
        }
        for (world, hash) in &self.worlds {
            let path = folder.join(world_file(world));
            if !is_world_id(world) || !path.is_file() || disk::fingerprint(&path)?.blake3 != *hash {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl ShardRecord {
    /// Reads a shard's record and checks that it is consistent in itself.
    ///
    /// # Errors
    /// When there is none, or it is not one of this version.
    pub fn read(folder: &Path) -> Result<Self, MetadataError> {
        let hint = "expected a finished shard, as `generate --shard I/K` leaves it";
        let record: Self = read_metadata(folder, SHARD, hint)?;
        let invalid = |what| MetadataError::Invalid { path: folder.join(SHARD).display().to_string(), what };
        if record.run.config_hash != config_hash(&record.run.identity.config) {
            return Err(invalid(
                "`config_hash` is not the hash of `config`; the file was changed".to_owned(),
            ));
        }
        for (name, sidecar) in &record.files {
            let planned = record.all_files.iter().position(|file| file == name);
            if sidecar.file != *name || !planned.is_some_and(|index| record.run.shard.has(index)) {
                return Err(invalid(format!("file `{name}` is not one of shard {}", record.run.shard)));
            }
            if let Some(world) = sidecar.worlds.keys().find(|world| !is_world_id(world)) {
                return Err(invalid(format!("world id `{world}` cannot be a file name")));
            }
        }
        Ok(record)
    }
}

fn config_difference(found: &BTreeMap<String, Json>, expected: &BTreeMap<String, Json>) -> Option<String> {
    let mut keys: Vec<&String> = found.keys().chain(expected.keys()).collect();
    keys.sort();
    keys.into_iter().find_map(|key| differ(key, &found.get(key), &expected.get(key)))
}

fn differ<T: PartialEq + Serialize>(key: &str, found: &T, expected: &T) -> Option<String> {
    (found != expected).then(|| format!("`{key}` (found {}, expected {})", show(found), show(expected)))
}

/// A value in a message: short, and `nothing` when there is none.
fn show<T: Serialize>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    if text == "null" {
        return "nothing".to_owned();
    }
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

impl Summary {
    pub(crate) fn of_manifest(manifest: &Manifest) -> Self {
        Self {
            counts: manifest.counts.clone(),
            funnel: manifest.funnel.clone(),
            worlds: manifest.worlds.clone(),
        }
    }

    pub(crate) fn of_sidecars<'a>(sidecars: impl IntoIterator<Item = &'a Sidecar>) -> Self {
        let mut summary = Self::default();
        for sidecar in sidecars {
            summary.counts.add(&sidecar.counts);
            summary.funnel.add(&sidecar.funnel);
            summary.worlds.extend(sidecar.worlds.clone());
        }
        summary
    }
}
