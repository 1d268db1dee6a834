//! Records of an unfinished run: the run itself, each finished file, and each finished shard.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::error::{DatasetError, PROGRESS};
use crate::columns::SCHEMA_VERSION;
use crate::documents::{RowsByDocument, add_rows};
use crate::funnel::{Counts, Funnel};
use crate::manifest::{
    FileEntry, Identity, Manifest, MetadataError, RunRecord, allow_missing, config_hash, is_plain,
    is_world_id, read_metadata, to_json,
};
use crate::plan::{FilePlan, Plan, Shard};
use crate::storage::Storage;

/// The record of the run, below the location.
pub(super) const RUN: &str = ".progress/run.json";

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Counts over the rows.
    pub counts: Counts,
    /// The funnel of the proposed tasks.
    pub funnel: Funnel,
    /// Hashes of the rows' skeletons.
    #[serde(skip)]
    pub skeletons: BTreeSet<String>,
    /// The number of different skeletons; `None` in datasets of older versions.
    #[serde(rename = "skeletons")]
    pub skeleton_count: Option<u64>,
    /// The hash of each world that a row names.
    pub worlds: BTreeMap<String, String>,
    /// The rows of the documents that they are made of.
    #[serde(skip)]
    pub documents: RowsByDocument,
}

/// The record of a finished file of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sidecar {
    /// Version of the columns.
    pub schema_version: u32,
    /// The file's name below the folder.
    pub file: String,
    /// The files written with it: the file itself, its structured rows and its worlds.
    pub files: BTreeMap<String, FileEntry>,
    /// Counts over its rows.
    pub counts: Counts,
    /// The funnel of the tasks proposed for it.
    pub funnel: Funnel,
    /// Hashes of its rows' skeletons.
    pub skeletons: BTreeSet<String>,
    /// The hash of each world that its rows name.
    pub worlds: BTreeMap<String, String>,
    /// The rows of the documents that they are made of.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub documents: RowsByDocument,
}

/// The marker of a finished shard. The markers of all shards suffice to complete a dataset without reading
/// rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardRecord {
    /// Version of the columns.
    pub schema_version: u32,
    /// The run.
    pub run: RunRecord,
    /// The shard.
    pub shard: Shard,
    /// The shard's files.
    pub files: BTreeMap<String, Sidecar>,
}

impl RunRecord {
    pub(crate) fn new(identity: &Identity, plan: &Plan, shards: u32) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            identity: identity.clone(),
            config_hash: identity.config_hash(),
            plan: plan.sizes(),
            plan_hash: plan.digest(),
            shards,
        }
    }

    pub(crate) fn of_manifest(manifest: &Manifest, shards: u32) -> Self {
        Self {
            schema_version: manifest.schema_version,
            identity: manifest.identity(),
            config_hash: manifest.config_hash.clone(),
            plan: manifest.plan,
            plan_hash: manifest.plan_hash.clone(),
            shards,
        }
    }

    /// Reads the record of an unfinished run, if there is one.
    pub(crate) fn read(storage: &Storage) -> Result<Option<Self>, MetadataError> {
        allow_missing(read_metadata(storage, RUN, ""))
    }

    /// Returns the first key in which another run differs, with both values. Example: `` `seed` (found 1,
    /// expected 2) ``.
    pub fn difference(&self, expected: &Self) -> Option<String> {
        self.difference_of_rows(expected).or_else(|| differ("shards", &self.shards, &expected.shards))
    }

    /// Returns the first difference in identity or in the number of dialogues.
    pub(super) fn difference_of_identity(&self, other: &Identity, rows: u64) -> Option<String> {
        let found = &self.identity;
        differ("engine version", &found.versions.engine, &other.versions.engine)
            .or_else(|| differ("grader version", &found.versions.grader, &other.versions.grader))
            .or_else(|| differ("search version", &found.versions.search, &other.versions.search))
            .or_else(|| differ("generator version", &found.versions.generator, &other.versions.generator))
            .or_else(|| differ("seed", &found.seed, &other.seed))
            .or_else(|| config_difference(&found.config, &other.config))
            .or_else(|| differ("benchmark", &found.benchmark, &other.benchmark))
            .or_else(|| differ("dialogues", &self.plan.rows, &rows))
    }

    /// The same as [`RunRecord::difference`], but ignores the number of shards.
    fn difference_of_rows(&self, expected: &Self) -> Option<String> {
        self.difference_of_identity(&expected.identity, expected.plan.rows)
            .or_else(|| differ("rows per batch", &self.plan.rows_per_batch, &expected.plan.rows_per_batch))
            .or_else(|| {
                differ("batches per file", &self.plan.batches_per_file, &expected.plan.batches_per_file)
            })
            .or_else(|| differ("split of the batches", &self.plan_hash, &expected.plan_hash))
            .or_else(|| differ("config hash", &self.config_hash, &expected.config_hash))
    }
}

impl Sidecar {
    /// Returns the name of a file's sidecar, below the location.
    pub(crate) fn name(file: &FilePlan) -> String {
        let name = file.name.trim_start_matches("data/").trim_end_matches(".parquet");
        format!("{PROGRESS}/{name}.json")
    }

    /// Reads the sidecar of a file. Returns none if it is missing or unreadable, and the file is then made
    /// again.
    pub(crate) fn read(storage: &Storage, file: &FilePlan) -> Result<Option<Self>, DatasetError> {
        let Some(bytes) = storage.read(&Self::name(file), 256 << 20)? else { return Ok(None) };
        let sidecar: Option<Self> = serde_json::from_slice(&bytes).ok();
        Ok(sidecar.filter(|sidecar| sidecar.schema_version == SCHEMA_VERSION && sidecar.file == file.name))
    }

    pub(crate) fn write(&self, storage: &Storage, file: &FilePlan) -> Result<(), DatasetError> {
        let name = Self::name(file);
        storage.write(&name, &to_json(self, &name)?)?;
        Ok(())
    }

    /// Returns true if its files are present with the same bytes.
    pub(crate) fn holds(&self, storage: &Storage) -> Result<bool, DatasetError> {
        for (name, entry) in &self.files {
            if !is_plain(name) || storage.fingerprint(name)?.is_none_or(|found| !entry.is(&found)) {
                return Ok(false);
            }
        }
        Ok(self.files.contains_key(&self.file))
    }
}

impl ShardRecord {
    /// Returns the name of a shard's marker, below the location.
    pub fn name(shard: Shard) -> String {
        format!("{PROGRESS}/{}.json", shard.file_stem())
    }

    /// Reads a shard's marker, if there is one, and checks that it is consistent in itself.
    ///
    /// # Errors
    /// Returns an error if it is not one of this version.
    pub fn read(storage: &Storage, shard: Shard) -> Result<Option<Self>, MetadataError> {
        let name = Self::name(shard);
        let record: Option<Self> = allow_missing(read_metadata(storage, &name, ""))?;
        let Some(record) = record else { return Ok(None) };
        let invalid = |what| MetadataError::Invalid { path: storage.full_name(&name), what };
        if record.run.config_hash != config_hash(&record.run.identity.config) {
            return Err(invalid(
                "`config_hash` is not the hash of `config`; the file was changed".to_owned(),
            ));
        }
        if record.shard != shard || record.run.shards != shard.count() {
            return Err(invalid(format!("found the marker of shard {}, expected {shard}", record.shard)));
        }
        for (name, sidecar) in &record.files {
            if sidecar.file != *name {
                return Err(invalid(format!("file `{name}` is recorded as `{}`", sidecar.file)));
            }
            if let Some(name) = sidecar.files.keys().find(|name| !is_plain(name)) {
                return Err(invalid(format!("found file name `{name}`, expected one inside the folder")));
            }
            if let Some(world) = sidecar.worlds.keys().find(|world| !is_world_id(world)) {
                return Err(invalid(format!("world id `{world}` cannot be a file name")));
            }
        }
        Ok(Some(record))
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

/// Formats a value for a message: shortened, or `nothing` for null.
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
            skeletons: BTreeSet::new(),
            skeleton_count: manifest.skeletons,
            worlds: manifest.worlds.clone(),
            documents: RowsByDocument::new(),
        }
    }

    pub(crate) fn of_sidecars<'a>(sidecars: impl IntoIterator<Item = &'a Sidecar>) -> Self {
        let mut summary = Self::default();
        for sidecar in sidecars {
            summary.counts.add(&sidecar.counts);
            summary.funnel.add(&sidecar.funnel);
            summary.skeletons.extend(sidecar.skeletons.iter().cloned());
            summary.worlds.extend(sidecar.worlds.clone());
            add_rows(&mut summary.documents, &sidecar.documents);
        }
        summary.skeleton_count = Some(summary.skeletons.len() as u64);
        summary
    }
}
