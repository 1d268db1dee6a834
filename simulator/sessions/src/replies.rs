//! Owns the serialised replies about an episode: the user's message, and the grade.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use diorama_engine::fault::Kind;
use diorama_grade::{Components, GoalGrade, GradeError};

/// The grade of an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GradeReply {
    /// The version of the grader.
    pub version: String,
    /// True if the task is solved.
    pub success: bool,
    /// 1 for a solved task, else 0. It means nothing where the episode is excluded.
    pub reward: f64,
    /// Verdicts by criterion.
    #[schemars(with = "Map<String, Json>")]
    pub components: Components,
    /// Verdicts by goal.
    #[schemars(with = "Vec<Map<String, Json>>")]
    pub goals: Vec<GoalGrade>,
    /// 1 for each goal that holds by itself, 0 for others: credit for parts of the task.
    pub goal_rewards: Vec<f64>,
    /// The error.
    #[schemars(with = "Vec<Map<String, Json>>")]
    pub errors: Vec<GradeError>,
    /// Verdicts on the records after each call.
    #[schemars(with = "Vec<Map<String, Json>>")]
    pub progress: Vec<Json>,
    /// Why the episode failed; null for a success.
    #[schemars(extend("enum" = ["agent", "world", "fault", null]))]
    pub attribution: Option<String>,
    /// True if the agent had no fair chance.
    pub excluded: bool,
    /// Injected faults that may have kept the agent from solving the task.
    pub faults: Vec<Hindrance>,
}

/// An injected fault that may have kept the agent from solving the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hindrance {
    /// The position of its call in the log.
    pub call: usize,
    /// The kind of the fault.
    pub kind: Kind,
}

/// The user's answer to a message, or to the end of a goal.
#[derive(Serialize, JsonSchema)]
pub struct MessageReply {
    /// The user's words; null when they have nothing more to say.
    pub content: Option<String>,
    /// True if the episode has ended.
    pub done: bool,
    /// False if `finish` has not ended the goal, because the user keeps asking. Answer them, and call `finish` again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<bool>,
    /// The tool that ends the goal that has just opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Json>,
}
