//! The end of a run: writes card and manifest, or the marker of a shard.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{DatasetError, PROGRESS};
use super::progress::{ShardRecord, Sidecar, Summary};
use super::writer::DatasetWriter;
use crate::card;
use crate::columns::SCHEMA_VERSION;
use crate::documents::{DOCUMENTS, REPORTS, complete, read_reports};
use crate::manifest::{CARD, FileEntry, LICENSES, MANIFEST, Manifest, to_json};
use crate::plan::Shard;
use crate::storage::Storage;
use crate::storage::local::PART;

/// The remedy for a file that differs from its record.
const REMAKE: &str =
    "remove the marker of its shard under .progress and run the shard again, or go on with --resume";

impl DatasetWriter {
    /// Ends the run: writes card and manifest, or the shard's marker.
    ///
    /// # Errors
    /// Returns an error if files are missing, two files disagree about a world, or something cannot be
    /// written.
    pub fn finish(mut self) -> Result<Summary, DatasetError> {
        if let Some(summary) = self.complete.take() {
            return Ok(summary);
        }
        let pending = self.pending();
        if let Some(first) = pending.first() {
            return Err(DatasetError::Unfinished { missing: pending.len(), first: first.name.clone() });
        }
        let done = std::mem::take(&mut self.state().done);
        check_world_hashes(done.values())?;
        if self.shard == Shard::WHOLE {
            let manifest = assemble(&self.storage, Manifest::new(&self.run), done.values())?;
            // Removing the folder also removes the lock file.
            self.lock = None;
            self.storage.remove_folder(PROGRESS)?;
            return Ok(Summary::of_manifest(&manifest));
        }
        let summary = Summary::of_sidecars(done.values());
        let name = ShardRecord::name(self.shard);
        let record = ShardRecord {
            schema_version: SCHEMA_VERSION,
            run: self.run.clone(),
            shard: self.shard,
            files: done.into_values().map(|sidecar| (sidecar.file.clone(), sidecar)).collect(),
        };
        self.storage.write(&name, &to_json(&record, &name)?)?;
        Ok(summary)
    }
}

/// Adds the files to a manifest, and writes it with its card. Reads no rows and no worlds. Compares file
/// sizes with the records instead.
pub(crate) fn assemble<'a>(
    storage: &Storage,
    mut manifest: Manifest,
    sidecars: impl IntoIterator<Item = &'a Sidecar> + Clone,
) -> Result<Manifest, DatasetError> {
    let summary = Summary::of_sidecars(sidecars.clone());
    let mut by_name: Vec<&Sidecar> = sidecars.into_iter().collect();
    by_name.sort_by_key(|sidecar| &sidecar.file);
    let mut worlds: BTreeSet<&str> = BTreeSet::new();
    for (name, entry) in by_name.into_iter().flat_map(|sidecar| &sidecar.files) {
        // A file whose worlds are all in earlier files is left out. So a run over one world stores it once.
        let is_new = entry.worlds.is_empty() || entry.worlds.iter().any(|id| !worlds.contains(id.as_str()));
        if is_new {
            worlds.extend(entry.worlds.iter().map(String::as_str));
            manifest.files.insert(name.clone(), entry.clone());
        }
    }
    check_listing(storage, &manifest)?;
    if let Some(mut reports) = read_reports(storage, REPORTS)? {
        complete(&mut reports, &summary.documents);
        let stored = storage.write(DOCUMENTS, &to_json(&reports, DOCUMENTS)?)?;
        manifest.files.insert(DOCUMENTS.to_owned(), FileEntry::new(stored, None));
    }
    manifest.counts = summary.counts;
    manifest.skeletons = summary.skeleton_count;
    manifest.funnel = summary.funnel;
    manifest.worlds = summary.worlds;
    if let Some(text) = card::render_licenses(&manifest) {
        let stored = storage.write(LICENSES, text.as_bytes())?;
        manifest.files.insert(LICENSES.to_owned(), FileEntry::new(stored, None));
    }
    let card = storage.write(CARD, card::render(&manifest).as_bytes())?;
    manifest.files.insert(CARD.to_owned(), FileEntry::new(card, None));
    storage.write(MANIFEST, &to_json(&manifest, MANIFEST)?)?;
    Ok(manifest)
}

/// Compares the present files with those of the manifest. Removes temporary files of a crash, and world files
/// that the manifest leaves out. A file that is missing, superfluous or of another size is an error.
fn check_listing(storage: &Storage, manifest: &Manifest) -> Result<(), DatasetError> {
    let mut missing: BTreeSet<&str> = manifest.files.keys().map(String::as_str).collect();
    for folder in ["data", "structured", "worlds"] {
        for found in storage.list(folder)? {
            let name = format!("{folder}/{}", found.name);
            missing.remove(name.as_str());
            let changed = |what: String| DatasetError::Changed { file: storage.full_name(&name), what };
            match manifest.files.get(&name) {
                None if name.ends_with(PART) || folder == "worlds" => storage.remove(&name)?,
                None => return Err(changed("this run did not make it; remove it".to_owned())),
                Some(entry) if found.size != Some(entry.size) => {
                    let size = found.size.unwrap_or_default();
                    let expected = entry.size;
                    return Err(changed(format!("found {size} bytes, expected {expected}; {REMAKE}")));
                }
                Some(_) => {}
            }
        }
    }
    match missing.first() {
        Some(name) => {
            let (file, what) = (storage.full_name(name), format!("it is missing; {REMAKE}"));
            Err(DatasetError::Changed { file, what })
        }
        None => Ok(()),
    }
}

/// Checks that each world id has the same hash in all files.
pub(crate) fn check_world_hashes<'a>(
    sidecars: impl IntoIterator<Item = &'a Sidecar>,
) -> Result<(), DatasetError> {
    let mut known: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for sidecar in sidecars {
        for (world, hash) in &sidecar.worlds {
            let (other, file) = known.entry(world).or_insert((hash, &sidecar.file));
            if *other != hash {
                let what = format!("{file} and {} name it with different hashes", sidecar.file);
                return Err(DatasetError::World { world: world.clone(), what });
            }
        }
    }
    Ok(())
}
