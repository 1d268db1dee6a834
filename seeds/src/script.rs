//! Owns the types for the script of a conversation: the user's goals, and the information that the user
//! withholds.
//!
//! A row, a served task and the user simulator share this type. The checks of a task are not part of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::task::{Evidence, Outcome};

/// The messages of a user, and the conditions for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Script {
    /// The goals, in order; the first opens the conversation.
    pub goals: Vec<Goal>,
    /// Needless questions after which the user leaves: for what was said, or for what the user does not know. They stay when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<u32>,
}

/// One thing that the user wants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Goal {
    /// The message that opens the goal.
    pub user: String,
    /// When it opens, once the goal before it has ended; always when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// Details that the user gives only when asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<WithheldDetail>,
    /// Messages that the user sends unasked, one after each message of the assistant that asks for no withheld
    /// detail. Examples: a correction, a choice, a consent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// Messages of a user who does not take a refusal: one after each message of the assistant that leaves undone what they ask for,
    /// while the goal is open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pleas: Vec<String>,
    /// The calls that the user wants, of those that change records. They say yes to these and to offers that agree with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wants: Vec<WantedCall>,
}

/// A call that the user wants, and to which they say yes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WantedCall {
    /// The API.
    pub api: String,
    /// The values that the user knows, by argument. A token is not among them.
    pub arguments: serde_json::Map<String, Json>,
    /// The arguments whose values the session makes up: the user takes any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// The user's own words for some of them.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub words: std::collections::BTreeMap<String, String>,
}

/// A detail that the user withholds until the assistant asks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WithheldDetail {
    /// The detail, in the author's word: `patient`, `starting time`.
    pub about: String,
    /// Other words for it: the label and description of the parameter it becomes, and an example.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Example questions for it, besides those among `words`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// The user's words for the detail.
    pub say: String,
}

/// When a goal opens. What is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct When {
    /// The goal before it (from 0) that must have ended with this outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<GoalEnd>,
    /// The fact that a reply of the episode must have shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<ReplyFact>,
}

/// The end of an earlier goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoalEnd {
    /// The goal, from 0.
    pub goal: u32,
    /// How it ended.
    pub outcome: Outcome,
}

/// Something that a reply shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplyFact {
    /// Where it stands.
    pub place: Evidence,
    /// The value that is seen there, in its one JSON spelling; any when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
}

impl Script {
    /// Makes a script of one goal without withheld information.
    pub fn of(user: impl Into<String>) -> Self {
        Self { goals: vec![Goal { user: user.into(), ..Goal::default() }], patience: None }
    }

    /// Returns the first message of the conversation, or an empty text if there are no goals.
    pub fn opening(&self) -> &str {
        self.goals.first().map_or("", |goal| &goal.user)
    }
}
