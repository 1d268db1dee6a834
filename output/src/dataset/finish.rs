//! The end of a run: worlds, card and manifest, or the record of a shard.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::DatasetError;
use super::progress::{ShardRecord, Sidecar, Summary};
use super::writer::{DatasetWriter, remove_progress};
use crate::card;
use crate::columns::SCHEMA_VERSION;
use crate::disk;
use crate::manifest::{CARD, FileEntry, MANIFEST, Manifest, SHARD, to_json, world_file};
use crate::plan::Shard;

impl DatasetWriter {
    /// Ends the run: writes card and manifest, or the shard's record, and removes the progress folder.
    ///
    /// # Errors
    /// When files are missing, two files disagree about a world, or something cannot be written.
    pub fn finish(mut self) -> Result<Summary, DatasetError> {
        if let Some(summary) = self.complete.take() {
            return Ok(summary);
        }
        let pending = self.pending();
        if let Some(first) = pending.first() {
            return Err(DatasetError::Unfinished { missing: pending.len(), first: first.name.clone() });
        }
        let done = std::mem::take(&mut self.state().done);
        let summary = Summary::of_sidecars(done.values());
        one_hash_per_world(done.values())?;
        remove_unnamed_worlds(&self.folder, &summary)?;
        if self.run.shard == Shard::WHOLE {
            assemble(&self.folder, Manifest::new(&self.run), done.values())?;
        } else {
            let record = ShardRecord {
                schema_version: SCHEMA_VERSION,
                run: self.run.clone(),
                all_files: self.plan.files().iter().map(|file| file.name.clone()).collect(),
                files: done.into_values().map(|sidecar| (sidecar.file.clone(), sidecar)).collect(),
            };
            sync_worlds(&self.folder, &summary)?;
            let path = self.folder.join(SHARD);
            disk::write(&path, &to_json(&record, &path)?)?;
        }
        // The lock's file goes with the folder.
        self._lock = None;
        remove_progress(&self.folder)?;
        Ok(summary)
    }
}

/// Completes a manifest that has no files yet, and writes it with its card.
pub(crate) fn assemble<'a>(
    folder: &Path,
    mut manifest: Manifest,
    sidecars: impl IntoIterator<Item = &'a Sidecar> + Clone,
) -> Result<Manifest, DatasetError> {
    let summary = Summary::of_sidecars(sidecars.clone());
    for sidecar in sidecars {
        let entry = FileEntry::new(sidecar.fingerprint.clone(), Some(sidecar.counts.dialogues));
        manifest.files.insert(sidecar.file.clone(), entry);
    }
    sync_worlds(folder, &summary)?;
    for (world, hash) in &summary.worlds {
        let name = world_file(world);
        let fingerprint = disk::fingerprint(&folder.join(&name))?;
        if fingerprint.blake3 != *hash {
            return Err(DatasetError::World {
                world: world.clone(),
                what: "its file changed during the run".to_owned(),
            });
        }
        manifest.files.insert(name, FileEntry::new(fingerprint, None));
    }
    manifest.counts = summary.counts;
    manifest.funnel = summary.funnel;
    manifest.worlds = summary.worlds;
    let card = disk::write(&folder.join(CARD), card::render(&manifest).as_bytes())?;
    manifest.files.insert(CARD.to_owned(), FileEntry::new(card, None));
    let path = folder.join(MANIFEST);
    disk::write(&path, &to_json(&manifest, &path)?)?;
    Ok(manifest)
}

/// Worlds are written without waiting for the disk; a record that names them is not written before they are on it.
fn sync_worlds(folder: &Path, summary: &Summary) -> Result<(), DatasetError> {
    let worlds: Vec<PathBuf> = summary.worlds.keys().map(|world| folder.join(world_file(world))).collect();
    Ok(disk::sync_files(&folder.join("worlds"), &worlds)?)
}

/// Checks that no two files mean different worlds by the same id.
pub(crate) fn one_hash_per_world<'a>(
    sidecars: impl IntoIterator<Item = &'a Sidecar>,
) -> Result<(), DatasetError> {
    let mut known: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for sidecar in sidecars {
        for (world, hash) in &sidecar.worlds {
            let (other, file) = known.entry(world).or_insert((hash, &sidecar.file));
            if *other != hash.as_str() {
                let what = format!("{file} and {} name it with different hashes", sidecar.file);
                return Err(DatasetError::World { world: world.clone(), what });
            }
        }
    }
    Ok(())
}

/// A folder holds the worlds that rows name and no others. Worlds of batches without rows are stored before it is known
/// that none of their attempts passes.
fn remove_unnamed_worlds(folder: &Path, summary: &Summary) -> Result<(), DatasetError> {
    let worlds = folder.join("worlds");
    for name in disk::entries(&worlds)? {
        let named = name.strip_suffix(".json").is_some_and(|world| summary.worlds.contains_key(world));
        if !named {
            disk::remove(&worlds.join(name))?;
        }
    }
    Ok(())
}
