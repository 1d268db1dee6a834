//! Owns the tasks of a dataset's folder, for the server.
//!
//! It keeps an index of ids, and reads a row again on a request for its task. A large dataset thus needs
//! little memory.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use diorama_grade::NeededCall;
use diorama_output::folder::{Failure, Folder, Part};
use diorama_output::row::{Dialogue, ability_name};
use diorama_output::rows::{ReadError, RowHead};
use diorama_sessions::{TaskError, TaskSource, TaskSpec, TaskSummary};

use crate::cli::error::CliError;
use crate::episode::{Task, Worlds};
use crate::load_once::LoadOnce;

/// Tasks of a folder.
pub struct DatasetTasks {
    folder: Folder,
    parts: Vec<Part>,
    worlds: Worlds,
    index: Vec<Entry>,
    by_id: HashMap<String, usize>,
    /// Tasks by position in the index, because trainers ask for one many times.
    specs: LoadOnce<usize, TaskSpec>,
    /// Rows of parts. A part is decoded as a whole, and requests often ask for its tasks in turn.
    rows: LoadOnce<usize, Arc<Vec<Dialogue>>>,
}

/// Maximum number of cached tasks.
const KEPT_TASKS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1_023);
/// Maximum number of parts with cached rows.
const KEPT_PARTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(3);

struct Entry {
    summary: TaskSummary,
    part: usize,
    row: usize,
}

impl DatasetTasks {
    /// Builds the index of a dataset's ids. Another version may have made the rows, so that only the bytes of
    /// the files are checked.
    ///
    /// # Errors
    /// Returns an error if a file is damaged, or if the manifest has another checksum for it.
    pub fn open(folder: Folder) -> Result<Self, CliError> {
        if let Some(Failure { file, what, .. }) = folder.check_row_files().into_iter().next() {
            return Err(CliError::Changed { file: folder.storage().full_name(&file), what });
        }
        let parts = folder.parts()?;
        let mut index = Vec::new();
        for (part, rows) in parts.iter().enumerate() {
            let heads = folder.read_heads(rows)?.into_iter().enumerate();
            index.extend(heads.map(|(row, head)| Entry { summary: make_summary(head), part, row }));
        }
        let by_id =
            index.iter().enumerate().map(|(place, entry)| (entry.summary.id.clone(), place)).collect();
        let (specs, rows) = (LoadOnce::new(KEPT_TASKS), LoadOnce::new(KEPT_PARTS));
        Ok(Self { worlds: Worlds::new(folder.clone()), folder, parts, index, by_id, specs, rows })
    }

    fn read_row(&self, entry: &Entry) -> Result<Dialogue, TaskError> {
        let gone = || {
            TaskError("the dataset's files have changed since the server started; start it again".to_owned())
        };
        let read = || self.read_part(entry.part).map(Arc::new);
        let rows = self.rows.get(entry.part, read).map_err(|error| TaskError(error.to_string()))?;
        rows.get(entry.row).filter(|row| row.id == entry.summary.id).cloned().ok_or_else(gone)
    }

    fn read_part(&self, part: usize) -> Result<Vec<Dialogue>, ReadError> {
        match self.parts.get(part) {
            Some(part) => self.folder.read(part)?.collect(),
            None => Ok(Vec::new()),
        }
    }

    fn make_spec(&self, row: &Dialogue) -> Result<TaskSpec, TaskError> {
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
        let Some(entry) = self.index.get(*place) else { return Ok(None) };
        self.specs.get(*place, || self.make_spec(&self.read_row(entry)?)).map(Some)
    }
}

fn make_summary(head: RowHead) -> TaskSummary {
    let RowHead { id, split, ability, world_id } = head;
    TaskSummary { id, world: world_id, split: split.to_string(), ability: ability_name(ability).to_owned() }
}
