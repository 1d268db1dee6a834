//! Tasks as the server needs them. Where they come from is the caller's: a dataset folder, a fixture.

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

/// A task, ready to be set up and graded.
#[derive(Clone, Debug)]
pub struct TaskSpec {
    /// Its id.
    pub id: String,
    /// The world it runs in.
    pub world: String,
    /// The hash of the world's canonical form.
    pub world_hash: String,
    /// The world, frozen. The same world gives the same base.
    pub base: Arc<Base>,
    /// The system message.
    pub system: String,
    /// The user's words, goal by goal; at least one.
    pub script: Script,
    /// The APIs that are visible at the start; `ToolSearcher` always is.
    pub visible: Vec<ApiId>,
    /// The conditions that must hold at the end.
    pub checks: Checks,
    /// The calls that the reference solution needs. They decide which failed episodes are excluded, and are never shown.
    pub needed: Vec<NeededCall>,
    /// The clock at the start.
    pub clock: Instant,
    /// What the first calls of APIs meet.
    pub outages: Vec<Outage>,
    /// The seed of the session, unless another is asked for.
    pub seed: u64,
    /// The version of the search that `ToolSearcher` does.
    pub search: SearchVersion,
}

/// Why a task cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TaskError(pub String);

/// Where tasks come from.
pub trait TaskSource: Send + Sync {
    /// How many tasks there are.
    fn count(&self) -> usize;

    /// A range of the tasks, in a fixed order.
    fn list(&self, offset: usize, limit: usize) -> Vec<TaskSummary>;

    /// A task by its id; none when there is no such task.
    ///
    /// # Errors
    /// When its row or its world cannot be read.
    fn task(&self, id: &str) -> Result<Option<TaskSpec>, TaskError>;
}
