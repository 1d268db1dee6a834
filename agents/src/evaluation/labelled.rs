//! Owns labelled episodes, which measure the grader: an agent's calls and messages, and the verdict of a
//! careful reader.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_grade::{Attempt, GoalEnd, Grade, PreparedChecks};
use diorama_seeds::ending::Finish;
use diorama_seeds::task::Call;
use diorama_user::conversation::FinishData;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value as Json};

use super::shares::Share;
use crate::episode::{EpisodeError, Task, World};

/// Verdict of a careful reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// The agent solved the task.
    Right,
    /// The agent did not solve the task.
    Wrong,
}

/// Episode with its label.
#[derive(Clone, Debug, Deserialize)]
pub struct LabelledEpisode {
    /// Id of the task's row.
    pub task: String,
    /// Seed of the session. The seed of the row is the default.
    pub seed: Option<u64>,
    /// Label of the reader.
    pub label: Label,
    /// Kind of the episode: the reason for its label.
    pub kind: String,
    /// Calls and last message of each goal.
    #[serde(default)]
    pub goals: Vec<GoalTranscript>,
    /// Calls and last message of a task with one goal.
    #[serde(flatten)]
    pub only: GoalTranscript,
}

/// Calls and last message of a goal.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct GoalTranscript {
    /// Calls, in order.
    #[serde(default)]
    pub calls: Vec<LabelledCall>,
    /// Last message of the goal.
    #[serde(default)]
    pub answer: Option<String>,
    /// Structured final answer. The reference's is the default.
    #[serde(default, deserialize_with = "finish")]
    pub finish: Option<FinishData>,
}

/// Parses a structured final answer. Old episodes may end with `need_input`, which ends no goal.
fn finish<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<FinishData>, D::Error> {
    let Some(json) = Option::<Json>::deserialize(reader)? else { return Ok(None) };
    if json.get("outcome").is_some_and(|outcome| outcome == "need_input") {
        return Ok(Some(FinishData::default()));
    }
    let finish: Finish = serde_json::from_value(json).map_err(D::Error::custom)?;
    Ok(Some(FinishData::split(finish).1))
}

/// Call of an agent.
#[derive(Clone, Debug, Deserialize)]
pub struct LabelledCall {
    /// Name of the API.
    pub api: String,
    /// Arguments by name.
    #[serde(default)]
    pub arguments: Map<String, Json>,
}

/// Reasons for which labelled episodes cannot be graded.
#[derive(Debug, thiserror::Error)]
pub enum LabelledError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// Path of the file.
        file: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A line is not a labelled episode.
    #[error("{file}, line {line}: {what}")]
    Line {
        /// Path of the file.
        file: String,
        /// Line number, from 1.
        line: usize,
        /// Description of the fault.
        what: String,
    },
}

/// Reads a file of labelled episodes, one JSON object per line.
///
/// # Errors
/// Returns an error if the file cannot be read, or if a line is not a labelled episode.
pub fn read(path: &Path) -> Result<Vec<LabelledEpisode>, LabelledError> {
    let file = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|source| LabelledError::Read { file: file.clone(), source })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = lines.map(|(at, line)| {
        serde_json::from_str(line).map_err(|error| LabelledError::Line {
            file: file.clone(),
            line: at + 1,
            what: error.to_string(),
        })
    });
    read.collect()
}

impl LabelledEpisode {
    /// Repeats the calls and grades the episode. A goal without `finish` ends as in the reference
    /// solution, so that only the calls are graded.
    ///
    /// # Errors
    /// Returns an error if the task does not fit its world.
    pub fn grade(&self, task: &Task, world: &Arc<World>) -> Result<Grade, EpisodeError> {
        let mut session = task.session(world, self.seed.unwrap_or(task.episode.session_seed))?;
        let goals = if self.goals.is_empty() { std::slice::from_ref(&self.only) } else { &self.goals };
        let mut calls = Vec::new();
        for goal in goals {
            for LabelledCall { api, arguments } in &goal.calls {
                session.call(&Call { api: api.clone(), arguments: arguments.clone() });
            }
            calls.push(session.calls());
        }
        let log: Vec<Arc<LogEntry>> = session.log().collect();
        let reference = task.final_answers(world, &log).into_iter().map(Some).chain(std::iter::repeat(None));
        let given: Vec<FinishData> = goals
            .iter()
            .zip(reference)
            .map(|(said, reference)| match &said.finish {
                Some(given) => given.clone(),
                None => reference.unwrap_or_default(),
            })
            .collect();
        let ended: Vec<GoalEnd<'_>> = given
            .iter()
            .zip(calls)
            .map(|(given, calls)| GoalEnd {
                outcome: given.outcome,
                reason: given.reason,
                about: given.about.as_deref(),
                facts: Some(&given.facts),
                calls,
                consents: Vec::new(),
            })
            .collect();
        let prepared = PreparedChecks::new(&task.checks, &world.base).map_err(|error| {
            EpisodeError::Column { row: task.id.clone(), column: "checks", what: error.to_string() }
        })?;
        Ok(prepared.grade(&Attempt {
            base: &world.base,
            initial: session.initial(),
            last: session.state(),
            log: &log,
            goals: &ended,
        }))
    }
}

/// Disagreement of the grader and the labels.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Agreement {
    /// Share of right episodes that fail.
    pub false_reject: Share,
    /// Share of wrong episodes that pass.
    pub false_accept: Share,
    /// Share of misjudged episodes, by label and kind.
    pub kinds: BTreeMap<String, Share>,
}

impl Agreement {
    /// Counts the verdict on an episode.
    pub fn add(&mut self, labelled: &LabelledEpisode, success: bool) {
        let right = labelled.label == Label::Right;
        let side = if right { &mut self.false_reject } else { &mut self.false_accept };
        let name = format!("{} {}", if right { "right" } else { "wrong" }, labelled.kind);
        for share in [side, self.kinds.entry(name).or_default()] {
            share.add(right != success);
        }
    }
}
