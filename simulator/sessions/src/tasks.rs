//! Tasks in the form that the server needs. The caller provides their source, such as a dataset folder.

use std::sync::Arc;

use diorama_seeds::model::ApiId;
use diorama_seeds::script::Script;
use diorama_seeds::task::{Checks, Outage};
use diorama_seeds::value::Instant;
use schemars::JsonSchema;
use serde::Serialize;

use diorama_engine::Base;
use diorama_engine::tools::SearchVersion;
use diorama_grade::NeededCall;

/// A task in a list: nothing that gives its solution away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskSummary {
    /// Its id.
    pub id: String,
    /// The world it runs in.
    pub world: String,
    /// The split it belongs to.
    pub split: String,
    /// The ability it needs.
    pub ability: String,
}

/// A task, ready to be run and graded.
#[derive(Clone, Debug)]
pub struct TaskSpec {
    /// Its id.
    pub id: String,
    /// The name of its world.
    pub world: String,
    /// The hash of the world's canonical form.
    pub world_hash: String,
    /// The world, frozen. Tasks with the same world share one base.
    pub base: Arc<Base>,
    /// The system message.
    pub system: String,
    /// The user's words, goal by goal; at least one.
    pub script: Script,
    /// The APIs that the agent sees at the start. `ToolSearcher` is always visible.
    pub visible: Vec<ApiId>,
    /// The conditions that must hold at the end.
    pub checks: Checks,
    /// The calls that the reference solution needs. They decide which failed episodes are excluded. Agents
    /// never see them.
    pub needed: Vec<NeededCall>,
    /// The clock at the start.
    pub clock: Instant,
    /// The outages that the first calls of APIs meet.
    pub outages: Vec<Outage>,
    /// The seed of the session, unless a request gives another.
    pub seed: u64,
    /// The version of the search in `ToolSearcher`.
    pub search: SearchVersion,
}

/// The reason for which a task cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TaskError(pub String);

/// A source of tasks.
pub trait TaskSource: Send + Sync {
    /// Returns the number of tasks.
    fn count(&self) -> usize;

    /// Returns a range of the tasks, in a fixed order.
    fn list(&self, offset: usize, limit: usize) -> Vec<TaskSummary>;

    /// Returns a task by its id, or none if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the task's row or world is unreadable.
    fn task(&self, id: &str) -> Result<Option<TaskSpec>, TaskError>;
}
