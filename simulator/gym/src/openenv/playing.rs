//! Owns a running episode: reset, steps and state, for sockets and HTTP.

use diorama_sessions::{Kind, Problem};
use serde_json::{Map, Value as Json};

use super::wire::{Action, Outcome, State, ToolErrorType};
use crate::gym::{Gym, RequestRefusal};
use crate::setup::{AnyTask, Setup};
use crate::tools;

/// A running episode.
#[derive(Clone, Debug)]
pub(super) struct Playing {
    /// The id of its session.
    pub(super) id: String,
    task: String,
    /// The caller's name for it.
    episode_id: Option<String>,
    steps: u64,
    done: bool,
}

impl Playing {
    /// Starts an episode from the data of a reset, and returns its first observation. If a name is given, the
    /// session gets it.
    pub(super) async fn reset(
        gym: &Gym,
        data: &Map<String, Json>,
        name: Option<&str>,
    ) -> Result<(Self, Outcome), RequestRefusal> {
        let start = Setup::read(data)?.start(&gym.tasks, AnyTask::BySeed)?;
        let episode_id = episode_id(data)?;
        let id = gym.begin(start, name, &[]).await?;
        let prompt = gym.episodes.prompt(&id).await?;
        let outcome = Outcome::of_reset(&prompt, &gym.tools(&id).await?, episode_id.as_deref());
        Ok((Self { id, task: prompt.task, episode_id, steps: 0, done: false }, outcome))
    }

    /// Joins the episode of an existing session.
    pub(super) async fn join(gym: &Gym, id: String, episode_id: Option<String>) -> Result<Self, Problem> {
        let task = gym.episodes.prompt(&id).await?.task;
        let steps = gym.episodes.steps(&id).await? as u64;
        let done = gym.episodes.is_over(&id).await?;
        Ok(Self { id, task, episode_id, steps, done })
    }

    pub(super) fn state(&self) -> State {
        let (episode_id, task_id) = (self.episode_id.clone(), Some(self.task.clone()));
        State { episode_id, step_count: self.steps, task_id, done: self.done }
    }

    /// Executes an action.
    ///
    /// # Errors
    /// Returns a problem if the episode is gone or the server fails.
    pub(super) async fn step(&mut self, gym: &Gym, action: Action) -> Result<Outcome, Problem> {
        let outcome = match action {
            Action::ListTools { .. } => Outcome::of_tools(&gym.tools(&self.id).await?, self.done),
            Action::CallTool { tool_name, arguments, .. } => self.call(gym, &tool_name, arguments).await?,
        };
        self.steps += 1;
        self.done = self.done || outcome.done;
        Ok(outcome)
    }

    async fn call(&self, gym: &Gym, tool: &str, arguments: Map<String, Json>) -> Result<Outcome, Problem> {
        let failed = |kind, message: &str| Ok(Outcome::of_error(tool, kind, message, self.done));
        if self.done {
            return failed(ToolErrorType::ExecutionError, "the episode is over, expected a reset");
        }
        if !gym.has_tool(&self.id, tool)? {
            return failed(
                ToolErrorType::ToolNotFound,
                "found no tool of this name, expected one that list_tools shows",
            );
        }
        let called = match gym.call(&self.id, tool, arguments).await {
            Ok(called) => called,
            Err(problem) if problem.status() == 504 => {
                return failed(ToolErrorType::Timeout, problem.detail());
            }
            Err(problem) if matches!(problem.status(), 409 | 422 | 429) => {
                return failed(ToolErrorType::ExecutionError, problem.detail());
            }
            Err(problem) => return Err(problem),
        };
        let grade = gym.grade_if_over(&self.id, &called).await?;
        let result = serde_json::from_str(&called.body).unwrap_or(Json::String(called.body));
        Ok(Outcome::of_reply(tool, called.status, result, grade.as_ref()))
    }
}

/// Returns the name that a reset gives its episode.
pub(super) fn episode_id(data: &Map<String, Json>) -> Result<Option<String>, Problem> {
    match data.get("episode_id") {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(name)) if name.chars().count() <= 255 => Ok(Some(name.clone())),
        Some(_) => Err(Problem::new(
            Kind::Invalid,
            "`episode_id`: expected a text of at most 255 characters, found another value",
        )),
    }
}

/// Answers an action before an episode has started. The tools that every task has can already be listed.
///
/// # Errors
/// Returns a conflict for a call of a tool.
pub(super) fn step_without_episode(action: &Action) -> Result<Outcome, Problem> {
    match action {
        Action::ListTools { .. } => Ok(Outcome::of_tools(&tools::shared(), false)),
        Action::CallTool { .. } => {
            Err(Problem::new(Kind::Conflict, "no episode has begun, expected a reset before the first call"))
        }
    }
}
