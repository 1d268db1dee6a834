//! `manifest.json`: the content of a dataset. It is written last, so a dataset exists when its manifest does.
//!
//! It does not depend on the execution of the run: it has no times, threads, shards or paths of the machine.

use std::collections::{BTreeMap, HashMap};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::columns::{SAME_COLUMNS, SCHEMA_VERSION};
use crate::funnel::{Counts, Funnel};
use crate::older;
use crate::plan::PlanSizes;
use crate::storage::local::PART;
use crate::storage::{Fingerprint, Storage, StorageError};

/// The manifest's name.
pub const MANIFEST: &str = "manifest.json";
/// The dataset card's name.
pub const CARD: &str = "README.md";
/// The licence file, for datasets whose card cannot name the licence.
pub const LICENSES: &str = "LICENSE.md";
/// The folder of intermediate results of a run with a model. It is not part of the dataset, and no checksum
/// covers it.
pub const STEPS: &str = "steps";
/// The report on a run with a model. It is not part of the dataset.
pub const QUALITY: &str = "quality.json";

/// Maximum bytes of a metadata file.
const MAX_BYTES: u64 = 512 << 20;

/// The identity of a run: the same identity gives the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Versions of the programs and rules that made the rows.
    pub versions: Versions,
    /// The seed.
    pub seed: u64,
    /// All other settings that the rows depend on, by name. Paths, threads and shards are excluded.
    pub config: BTreeMap<String, Json>,
    /// True if benchmark worlds were allowed.
    pub benchmark: bool,
}

/// The record of a run: two runs with the same record make the same files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the columns.
    pub schema_version: u32,
    /// Versions, seed and configuration.
    pub identity: Identity,
    /// The hash of the configuration.
    pub config_hash: String,
    /// The layout's sizes.
    pub plan: PlanSizes,
    /// The layout's digest.
    pub plan_hash: String,
    /// The number of shards that make the files together.
    pub shards: u32,
}

/// Versions of the components that made the rows. `verify` refuses versions that it cannot reproduce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// Version of the engine.
    pub engine: String,
    /// Version of the grader.
    pub grader: String,
    /// Version of the search in sessions.
    pub search: String,
    /// Version of the generator.
    pub generator: String,
}

/// The content of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the columns and of this file.
    pub schema_version: u32,
    /// Version of the engine that ran the calls.
    pub engine_version: String,
    /// Version of the grader.
    pub grader_version: String,
    /// Version of the search inside a session.
    pub search_version: String,
    /// Version of the pipeline.
    pub generator_version: String,
    /// The seed.
    pub seed: u64,
    /// The other settings that the rows depend on, by name.
    pub config: BTreeMap<String, Json>,
    /// The [`config_hash`] of `config`.
    pub config_hash: String,
    /// True if benchmark worlds were allowed. Such rows must not be used for training.
    pub benchmark: bool,
    /// The layout.
    pub plan: PlanSizes,
    /// The digest of the plan ([`Plan::digest`](crate::plan::Plan::digest)).
    pub plan_hash: String,
    /// Counts over the rows.
    pub counts: Counts,
    /// Number of different API sequences; see [`skeleton`](crate::skeleton).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skeletons: Option<u64>,
    /// The funnel of the proposed tasks.
    pub funnel: Funnel,
    /// BLAKE3 of each world that a row names.
    pub worlds: BTreeMap<String, String>,
    /// Every file of the folder except this one, by name with `/`.
    pub files: BTreeMap<String, FileEntry>,
}

/// A file of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its size in bytes.
    pub size: u64,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub blake3: String,
    /// Number of rows, for a row file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// The world ids in the order of the row groups, for a world file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worlds: Vec<String>,
}

/// The position of a stored world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldPlace {
    /// The file.
    pub file: String,
    /// The row group of a Parquet file; `None` for the JSON file of an older dataset.
    pub group: Option<usize>,
}

/// The reason for which metadata cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MetadataError {
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The file does not exist.
    #[error("{place} holds no {name}; {hint}")]
    Missing {
        /// The dataset's location.
        place: String,
        /// The name of the missing file.
        name: String,
        /// Advice for the user.
        hint: &'static str,
    },
    /// The file has an invalid content.
    #[error("{path}: {what}")]
    Invalid {
        /// The file.
        path: String,
        /// A description of the error.
        what: String,
    },
}

impl Identity {
    /// Returns the hash of its configuration.
    pub fn config_hash(&self) -> String {
        config_hash(&self.config)
    }
}

impl Manifest {
    /// Reads a dataset's manifest and checks its version and the names of its files.
    ///
    /// # Errors
    /// Returns an error if there is none, or it is not one of this version.
    pub fn read(storage: &Storage) -> Result<Self, MetadataError> {
        let hint = "a dataset is complete when it has one: finish it with --resume, or merge its shards with `dataset merge`";
        let manifest: Self = read_metadata(storage, MANIFEST, hint)?;
        let invalid = |what| MetadataError::Invalid { path: storage.full_name(MANIFEST), what };
        if manifest.config_hash != config_hash(&manifest.config) {
            return Err(invalid(
                "`config_hash` is not the hash of `config`; the file was changed".to_owned(),
            ));
        }
        if let Some(name) = manifest.files.keys().find(|name| !is_plain(name)) {
            return Err(invalid(format!("found file name `{name}`, expected one inside the folder")));
        }
        Ok(manifest)
    }

    /// Returns the identity of the run.
    pub fn identity(&self) -> Identity {
        Identity {
            versions: Versions {
                engine: self.engine_version.clone(),
                grader: self.grader_version.clone(),
                search: self.search_version.clone(),
                generator: self.generator_version.clone(),
            },
            seed: self.seed,
            config: self.config.clone(),
            benchmark: self.benchmark,
        }
    }

    /// Returns the position of each world: the first file that has it.
    pub(crate) fn world_places(&self) -> HashMap<String, WorldPlace> {
        let mut places = HashMap::new();
        for (file, entry) in &self.files {
            let mut add = |id: &str, group| {
                let place = || WorldPlace { file: file.clone(), group };
                places.entry(id.to_owned()).or_insert_with(place);
            };
            if let Some(id) = file.strip_prefix("worlds/").and_then(|name| name.strip_suffix(".json")) {
                add(id, None);
            }
            entry.worlds.iter().enumerate().for_each(|(group, id)| add(id, Some(group)));
        }
        places
    }

    /// Makes the manifest of a run, without files.
    pub(crate) fn new(run: &RunRecord) -> Self {
        let identity = run.identity.clone();
        Self {
            schema_version: run.schema_version,
            engine_version: identity.versions.engine,
            grader_version: identity.versions.grader,
            search_version: identity.versions.search,
            generator_version: identity.versions.generator,
            seed: identity.seed,
            config: identity.config,
            config_hash: run.config_hash.clone(),
            benchmark: identity.benchmark,
            plan: run.plan,
            plan_hash: run.plan_hash.clone(),
            counts: Counts::default(),
            skeletons: None,
            funnel: Funnel::default(),
            worlds: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }
}

impl FileEntry {
    pub(crate) fn new(fingerprint: Fingerprint, rows: Option<u64>) -> Self {
        Self { size: fingerprint.size, blake3: fingerprint.blake3, rows, worlds: Vec::new() }
    }

    /// Returns true if the file has this size and hash.
    pub fn is(&self, fingerprint: &Fingerprint) -> bool {
        self.size == fingerprint.size && self.blake3 == fingerprint.blake3
    }
}

/// Returns the BLAKE3 hash of a configuration's canonical JSON: members sorted by name at every depth,
/// without white space.
pub fn config_hash(config: &BTreeMap<String, Json>) -> String {
    let mut text = String::new();
    write_canonical(
        &Json::Object(config.iter().map(|(name, value)| (name.clone(), value.clone())).collect()),
        &mut text,
    );
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Returns the name of the structured file that belongs to a row file.
pub(crate) fn structured_file(rows: &str) -> String {
    rows.replacen("data/", "structured/", 1)
}

/// Returns the name of the world file that belongs to a row file. Its name has no total, because files
/// without new worlds are left out.
pub(crate) fn worlds_file(rows: &str) -> String {
    let name = rows.trim_start_matches("data/").trim_end_matches(".parquet");
    format!("worlds/{}.parquet", name.split("-of-").next().unwrap_or(name))
}

/// Returns true if a world id is valid: 1 to 128 letters, digits, `_`, `-` and inner dots. Such ids are valid
/// file names on every platform.
pub fn is_world_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=128).contains(&id.len()) && id.bytes().all(plain) && !id.starts_with('.') && !id.ends_with('.')
}

/// Reads a JSON file of the present schema version.
pub(crate) fn read_metadata<T: DeserializeOwned>(
    storage: &Storage,
    name: &str,
    hint: &'static str,
) -> Result<T, MetadataError> {
    let invalid = |what| MetadataError::Invalid { path: storage.full_name(name), what };
    let bytes = storage.read(name, MAX_BYTES)?.ok_or_else(|| MetadataError::Missing {
        place: storage.location().to_string(),
        name: name.to_owned(),
        hint,
    })?;
    let not_valid = |error: serde_json::Error| invalid(format!("not valid: {error}"));
    let version: Version = serde_json::from_slice(&bytes).map_err(not_valid)?;
    match version.schema_version {
        // Unfinished runs of older versions cannot be resumed.
        found if found == SCHEMA_VERSION || (name == MANIFEST && SAME_COLUMNS.contains(&found)) => {
            serde_json::from_slice(&bytes).map_err(not_valid)
        }
        older::OLDER_VERSION if name == MANIFEST => {
            let mut json = serde_json::from_slice(&bytes).map_err(not_valid)?;
            older::manifest(&mut json);
            serde_json::from_value(json).map_err(not_valid)
        }
        found => Err(invalid(format!(
            "found schema version {found}, expected {SCHEMA_VERSION}; use the release that wrote it"
        ))),
    }
}

/// Returns `None` for missing metadata.
pub(crate) fn allow_missing<T>(read: Result<T, MetadataError>) -> Result<Option<T>, MetadataError> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(MetadataError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the bytes of a metadata file.
pub(crate) fn to_json<T: Serialize>(value: &T, name: &str) -> Result<Vec<u8>, MetadataError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| MetadataError::Invalid {
        path: name.to_owned(),
        what: format!("cannot be written as JSON: {error}"),
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

pub(crate) fn is_plain(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && !part.contains(['\\', ':', '\0'])
            && !part.ends_with(PART)
    };
    let parts: Vec<&str> = name.split('/').collect();
    parts.len() <= 2 && parts.into_iter().all(plain)
}

fn write_canonical(value: &Json, text: &mut String) {
    match value {
        Json::Object(members) => {
            let sorted: BTreeMap<&String, &Json> = members.iter().collect();
            text.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Json::from(name.as_str()).to_string());
                text.push(':');
                write_canonical(member, text);
            }
            text.push('}');
        }
        Json::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}
