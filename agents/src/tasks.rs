//! The tasks of a dataset's folder, for the server.
//!
//! Keeps an index of ids and reads a row again when its task is asked for, so that a large dataset costs little memory.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use diorama_grade::NeededCall;
use diorama_output::folder::{Failure, Folder, Part};
use diorama_output::row::Dialogue;
use diorama_sessions::{TaskError, TaskSource, TaskSpec, TaskSummary};

use lru::LruCache;

use crate::cli::error::CliError;
use crate::episode::{Task, Worlds};

/// The tasks of a folder.
pub struct DatasetTasks {
    folder: Folder,
    parts: Vec<Part>,
    worlds: Worlds,
    index: Vec<Entry>,
    by_id: HashMap<String, usize>,
    /// Tasks that were asked for last: trainers ask for one many times.
    kept: Mutex<LruCache<usize, TaskSpec>>,
}

/// Tasks that are kept ready.
const KEPT: NonZeroUsize = match NonZeroUsize::new(1_024) {
    Some(kept) => kept,
    None => NonZeroUsize::MIN,
};

struct Entry {
    summary: TaskSummary,
    part: usize,
    row: usize,
}

impl DatasetTasks {
    /// Reads the ids of a dataset's rows. What made the rows may be another version than this: only their bytes are compared.
    ///
    /// # Errors
    /// When a file of it is damaged, or is not the one of which the manifest has the checksum.
    pub fn open(folder: Folder) -> Result<Self, CliError> {
        if let Some(Failure { file, what, .. }) = folder.check_row_files().into_iter().next() {
            return Err(CliError::Changed { file: folder.storage().full_name(&file), what });
        }
        let parts = folder.parts()?;
        let mut index = Vec::new();
        for (part, rows) in parts.iter().enumerate() {
            for (row, read) in folder.read(rows)?.enumerate() {
                index.push(Entry { summary: summary(&read?), part, row });
            }
        }
        let by_id =
            index.iter().enumerate().map(|(place, entry)| (entry.summary.id.clone(), place)).collect();
        let kept = Mutex::new(LruCache::new(KEPT));
        Ok(Self { worlds: Worlds::new(folder.clone()), folder, parts, index, by_id, kept })
    }

    fn row(&self, entry: &Entry) -> Result<Dialogue, TaskError> {
        let gone = || {
            TaskError("the dataset's files have changed since the server started; start it again".to_owned())
        };
        let part = self.parts.get(entry.part).ok_or_else(gone)?;
        let mut rows = self.folder.read(part).map_err(|error| TaskError(error.to_string()))?;
        let row = rows.nth(entry.row).ok_or_else(gone)?.map_err(|error| TaskError(error.to_string()))?;
        if row.id == entry.summary.id { Ok(row) } else { Err(gone()) }
    }

    fn spec(&self, row: &Dialogue) -> Result<TaskSpec, TaskError> {
        let fail = |error: crate::episode::EpisodeError| TaskError(error.to_string());
        let mut task = Task::of(row).map_err(fail)?;
        let world = self.worlds.get(&row.world_id).map_err(fail)?;
        if world.hash != row.world_hash {
            return Err(TaskError(format!(
                "found a world with the hash {}, expected {}",
                world.hash, row.world_hash
            )));
        }
        task.tell_changes_by_goal(&world).map_err(fail)?;
        let session = task.session(&world, task.episode.session_seed).map_err(fail)?;
        Ok(TaskSpec {
            id: row.id.clone(),
            world: row.world_id.clone(),
            world_hash: world.hash.clone(),
            base: world.base.clone(),
            clock: session.state().clock(),
            seed: session.seed(),
            search: session.state().search(),
            visible: task.visible(&world).map_err(fail)?,
            outages: task.episode.outages.clone(),
            system: task.system,
            script: task.script,
            needed: NeededCall::collect(&task.gold, &world.base),
            checks: task.checks,
        })
    }
}

impl TaskSource for DatasetTasks {
    fn count(&self) -> usize {
        self.index.len()
    }

    fn list(&self, offset: usize, limit: usize) -> Vec<TaskSummary> {
        self.index.iter().skip(offset).take(limit).map(|entry| entry.summary.clone()).collect()
    }

    fn task(&self, id: &str) -> Result<Option<TaskSpec>, TaskError> {
        let Some(place) = self.by_id.get(id) else { return Ok(None) };
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = kept().get(place) {
            return Ok(Some(task.clone()));
        }
        let Some(entry) = self.index.get(*place) else { return Ok(None) };
        let task = self.spec(&self.row(entry)?)?;
        kept().put(*place, task.clone());
        Ok(Some(task))
    }
}

fn summary(row: &Dialogue) -> TaskSummary {
    let ability = serde_json::to_value(row.ability).ok().and_then(|name| name.as_str().map(str::to_owned));
    TaskSummary {
        id: row.id.clone(),
        world: row.world_id.clone(),
        split: row.split.to_string(),
        ability: ability.unwrap_or_default(),
    }
}
