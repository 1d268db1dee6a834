//! `manifest.json`: what a dataset is made of, written last. A dataset exists when it does.
//!
//! Nothing in it depends on how the run went: no times, threads, shards or paths of the machine.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::columns::SCHEMA_VERSION;
use crate::disk::{self, DiskError, Fingerprint};
use crate::funnel::{Counts, Funnel};
use crate::older;
use crate::plan::{PlanSizes, Shard};

/// The manifest's name.
pub const MANIFEST: &str = "manifest.json";
/// The dataset card's name.
pub const CARD: &str = "README.md";
/// The folder of what the steps of a run with a model came to. It is no part of the dataset: no checksum covers it.
pub const STEPS: &str = "steps";
/// The report on a run with a model; no part of the dataset either.
pub const QUALITY: &str = "quality.json";
/// The name of what stands in for the manifest in a shard's folder.
pub const SHARD: &str = "shard.json";

/// Metadata larger than this is refused before it is parsed.
const MAX_BYTES: u64 = 512 << 20;

/// What a run is: the same identity gives the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// What made the rows.
    pub versions: Versions,
    /// The seed.
    pub seed: u64,
    /// Everything else the rows depend on, by name. Paths, threads and shards have no place here.
    pub config: BTreeMap<String, Json>,
    /// Whether benchmark worlds were allowed.
    pub benchmark: bool,
}

/// What a run is; two runs with the same record make the same files.
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
    /// Which files the run makes.
    pub shard: Shard,
}

/// Versions of what made the rows. `verify` refuses what it cannot reproduce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// Of the engine that ran the calls.
    pub engine: String,
    /// Of the grader.
    pub grader: String,
    /// Of the search inside a session.
    pub search: String,
    /// Of the pipeline.
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
    /// What else the rows depend on.
    pub config: BTreeMap<String, Json>,
    /// [`config_hash`] of it.
    pub config_hash: String,
    /// Whether benchmark worlds were allowed: such rows are no training data.
    pub benchmark: bool,
    /// The layout.
    pub plan: PlanSizes,
    /// [`Plan::digest`](crate::plan::Plan::digest).
    pub plan_hash: String,
    /// What the rows hold.
    pub counts: Counts,
    /// What became of the tasks proposed.
    pub funnel: Funnel,
    /// BLAKE3 of each world that a row names.
    pub worlds: BTreeMap<String, String>,
    /// Every file of the folder but this one, by its name with `/`.
    pub files: BTreeMap<String, FileEntry>,
}

/// A file of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its size in bytes.
    pub size: u64,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub blake3: String,
    /// Rows, in a file of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
}

/// Metadata that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MetadataError {
    /// It cannot be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// There is none.
    #[error("{folder} holds no {name}; {hint}")]
    Missing {
        /// The folder.
        folder: String,
        /// What it should hold.
        name: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// It is not what it should be.
    #[error("{path}: {what}")]
    Invalid {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
}

impl Identity {
    /// The hash of its configuration.
    #[must_use]
    pub fn config_hash(&self) -> String {
        config_hash(&self.config)
    }
}

impl Manifest {
    /// Reads a folder's manifest and checks its version and the names of its files.
    ///
    /// # Errors
    /// When there is none, or it is not one of this version.
    pub fn read(folder: &Path) -> Result<Self, MetadataError> {
        let hint = "a dataset is complete when it has one: finish it with --resume, or merge its shards";
        let manifest: Self = read_metadata(folder, MANIFEST, hint)?;
        let invalid =
            |what| MetadataError::Invalid { path: folder.join(MANIFEST).display().to_string(), what };
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

    /// What the run was.
    #[must_use]
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

    /// The manifest of a run, without files yet.
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
            funnel: Funnel::default(),
            worlds: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }
}

impl FileEntry {
    pub(crate) fn new(fingerprint: Fingerprint, rows: Option<u64>) -> Self {
        Self { size: fingerprint.size, blake3: fingerprint.blake3, rows }
    }

    /// Whether a file has these bytes.
    #[must_use]
    pub fn is(&self, fingerprint: &Fingerprint) -> bool {
        self.size == fingerprint.size && self.blake3 == fingerprint.blake3
    }
}

/// BLAKE3 of a configuration's canonical JSON: members sorted by name at every depth, no white space.
#[must_use]
pub fn config_hash(config: &BTreeMap<String, Json>) -> String {
    let mut text = String::new();
    canonical(
        &Json::Object(config.iter().map(|(name, value)| (name.clone(), value.clone())).collect()),
        &mut text,
    );
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The path of a world below a dataset's folder.
#[must_use]
pub fn world_file(world_id: &str) -> String {
    format!("worlds/{world_id}.json")
}

/// Whether a world's id can be a file name everywhere: letters, digits, `_`, `-` and inner dots.
#[must_use]
pub fn is_world_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=128).contains(&id.len()) && id.bytes().all(plain) && !id.starts_with('.') && !id.ends_with('.')
}

/// Reads a JSON file whose `schema_version` is ours.
pub(crate) fn read_metadata<T: DeserializeOwned>(
    folder: &Path,
    name: &'static str,
    hint: &'static str,
) -> Result<T, MetadataError> {
    let path = folder.join(name);
    let invalid = |what| MetadataError::Invalid { path: path.display().to_string(), what };
    let bytes = disk::read_limited(&path, MAX_BYTES)?.ok_or_else(|| MetadataError::Missing {
        folder: folder.display().to_string(),
        name,
        hint,
    })?;
    let version: Version =
        serde_json::from_slice(&bytes).map_err(|error| invalid(format!("not valid: {error}")))?;
    let not_valid = |error: serde_json::Error| invalid(format!("not valid: {error}"));
    match version.schema_version {
        SCHEMA_VERSION => serde_json::from_slice(&bytes).map_err(not_valid),
        // Unfinished runs of the older version are not gone on with.
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

/// The bytes of a metadata file.
pub(crate) fn to_json<T: Serialize>(value: &T, path: &Path) -> Result<Vec<u8>, MetadataError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| MetadataError::Invalid {
        path: path.display().to_string(),
        what: format!("cannot be written as JSON: {error}"),
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

fn is_plain(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && !part.contains(['\\', ':', '\0'])
            && !part.ends_with(disk::PART)
    };
    let parts: Vec<&str> = name.split('/').collect();
    parts.len() <= 2 && parts.into_iter().all(plain)
}

fn canonical(value: &Json, text: &mut String) {
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
                canonical(member, text);
            }
            text.push('}');
        }
        Json::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                canonical(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}
