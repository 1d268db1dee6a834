//! One row of a dataset: one dialogue.
//!
//! Plain structs. Their serde form is the row as one JSON object, with messages in the form of chat APIs.
//! [`crate::rows`] has their Parquet form, and [`crate::columns`] the meaning of each member.

pub mod parts;

use std::fmt;
use std::str::FromStr;

use diorama_seeds::task::{Ability, Difficulty};
use serde::{Deserialize, Serialize};

/// One dialogue: a task, its reference solution as messages, and the data to replay and grade it.
///
/// Members marked "JSON" hold JSON text. Their shape varies from row to row, and text keeps Arrow from merging it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialogue {
    /// Unique in the dataset.
    pub id: String,
    /// The split its file belongs to.
    pub split: Split,
    /// API-Bank's ability.
    pub ability: Ability,
    /// Depth of calls nested through their arguments. 0 without calls.
    pub depth: u32,
    /// Reverse Chain's level: 1 for depth 2, 2 for depth 3, 3 for depth 4 and more.
    pub rc_level: Option<u32>,
    /// The tags: properties that make the dialogue harder.
    pub tags: Vec<String>,
    /// The band of difficulty; none in rows before the column.
    #[serde(default)]
    pub difficulty: Option<Difficulty>,
    /// The world it runs in, by its id in the files of `worlds/`.
    pub world_id: String,
    /// BLAKE3 of the materialised world's canonical JSON, in hexadecimal.
    pub world_hash: String,
    /// The domains whose APIs are called, in the order of their first calls.
    pub domains: Vec<String>,
    /// The request.
    pub query: String,
    /// JSON: the tools visible at the start, in OpenAI's function format.
    pub tools: String,
    /// The dialogue.
    pub messages: Vec<Message>,
    /// JSON: clock, zone, session seed, identity, faults, search version and ordered events.
    pub episode: String,
    /// JSON: the reference calls, each argument with its source.
    pub gold_calls: String,
    /// The reference calls nested as a label, in Reverse Chain's notation.
    pub gold_plan: Option<String>,
    /// JSON: the template of the reference answer, each fact with its source.
    pub gold_answer: String,
    /// JSON: the conditions for the task to be solved.
    pub checks: String,
    /// JSON: the user's script, with withheld information.
    pub user_facts: String,
    /// Digest of the session's state before the first call.
    pub initial_state_hash: String,
    /// Digest of the session's state after the last call.
    pub final_state_hash: String,
    /// JSON: the findings of each gate.
    pub gates: String,
    /// Licence of the world: an SPDX expression if its document gives one, else its name or address.
    /// `unstated` if there is none.
    pub license: String,
    /// Source of the world, or `unstated`.
    pub source: String,
    /// JSON: backend, model, prompt hash, seed, row, attempt, version.
    pub provenance: String,
}

/// One message of a dialogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The author's role.
    pub role: Role,
    /// The text. None in an assistant message with calls only.
    #[serde(default)]
    pub content: Option<String>,
    /// The calls of an assistant message. An empty list is stored as null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// In a tool message: the id of the answered call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// In a tool message: the name of the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The reasoning of a model before the message; null without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// True if the message is a training target. False for an assistant message with an avoidable error, and for all
    /// other roles.
    pub train: bool,
}

/// The role of a message's author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The instructions, with the clock if the dialogue depends on it.
    System,
    /// The user.
    User,
    /// The assistant.
    Assistant,
    /// A reply to a call.
    Tool,
}

/// A call in an assistant message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Unique in the dialogue.
    pub id: String,
    /// Always a function.
    #[serde(rename = "type")]
    pub kind: CallKind,
    /// The function that is called, with its arguments.
    pub function: FunctionCall,
}

/// The kinds of call in chat APIs. Worlds use only one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// A function.
    #[default]
    Function,
}

/// An API's name and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionCall {
    /// The API.
    pub name: String,
    /// JSON: an object of arguments.
    pub arguments: String,
}

/// A part of a dataset. Each domain is in only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// For training.
    Train,
    /// For evaluation.
    Test,
}

impl Dialogue {
    /// Returns the first message of the user, on which diversity is measured.
    pub fn first_user_turn(&self) -> Option<&str> {
        self.messages.iter().find(|message| message.role == Role::User)?.content.as_deref()
    }

    /// Returns the number of user turns.
    pub fn turns(&self) -> u64 {
        self.messages.iter().filter(|message| message.role == Role::User).count() as u64
    }

    /// Returns the number of calls, including tool searches.
    pub fn calls(&self) -> u64 {
        self.messages.iter().map(|message| message.tool_calls.len() as u64).sum()
    }

    /// Returns an empty row, which a decoder fills column by column.
    pub(crate) const fn blank() -> Self {
        Self {
            id: String::new(),
            split: Split::Train,
            ability: Ability::Call,
            depth: 0,
            rc_level: None,
            tags: Vec::new(),
            difficulty: None,
            world_id: String::new(),
            world_hash: String::new(),
            domains: Vec::new(),
            query: String::new(),
            tools: String::new(),
            messages: Vec::new(),
            episode: String::new(),
            gold_calls: String::new(),
            gold_plan: None,
            gold_answer: String::new(),
            checks: String::new(),
            user_facts: String::new(),
            initial_state_hash: String::new(),
            final_state_hash: String::new(),
            gates: String::new(),
            license: String::new(),
            source: String::new(),
            provenance: String::new(),
        }
    }
}

impl Message {
    /// Makes a message with text only. Assistant messages become training targets.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: Some(content.into()),
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            reasoning_content: None,
            train: role == Role::Assistant,
        }
    }

    /// Makes an assistant message with calls only.
    pub fn calling(tool_calls: Vec<ToolCall>) -> Self {
        Self { content: None, tool_calls, ..Self::new(Role::Assistant, "") }
    }

    /// Makes the reply to a call.
    pub fn reply(call: &ToolCall, body: impl Into<String>) -> Self {
        Self {
            tool_call_id: Some(call.id.clone()),
            name: Some(call.function.name.clone()),
            ..Self::new(Role::Tool, body)
        }
    }

    pub(crate) fn text_bytes(&self) -> usize {
        let optional: usize = [&self.content, &self.tool_call_id, &self.name, &self.reasoning_content]
            .into_iter()
            .map(|text| text.as_ref().map_or(0, String::len))
            .sum();
        let calls: usize = self
            .tool_calls
            .iter()
            .map(|call| call.id.len() + call.function.name.len() + call.function.arguments.len())
            .sum();
        optional + calls
    }
}

impl ToolCall {
    /// Makes a call of an API.
    pub fn new(id: impl Into<String>, api: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            kind: CallKind::Function,
            function: FunctionCall { name: api.into(), arguments: arguments.into() },
        }
    }
}

/// The reason for which a row must not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row `{row}`: column `{column}` {what}")]
pub struct RowFault {
    /// The row's id.
    pub row: String,
    /// The column.
    pub column: &'static str,
    /// A description of the fault, as the end of a sentence.
    pub what: String,
}

/// A name outside of the known set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {what} `{found}`, expected one of {expected}")]
pub struct UnknownName {
    /// The kind of name, such as `split`.
    pub what: &'static str,
    /// The unknown name.
    pub found: String,
    /// The known names.
    pub expected: &'static str,
}

/// Returns the id of a row.
pub fn row_id(split: Split, slot: u64) -> String {
    format!("{split}-{slot:08}")
}

impl Split {
    /// All splits, in the order of their files.
    pub const ALL: [Self; 2] = [Self::Train, Self::Test];

    /// Returns the name in file names and rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

impl Role {
    /// Returns the name in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// Returns the name of an ability in rows.
pub const fn ability_name(ability: Ability) -> &'static str {
    match ability {
        Ability::Call => "call",
        Ability::RetrieveCall => "retrieve_call",
        Ability::PlanRetrieveCall => "plan_retrieve_call",
    }
}

/// Parses the name of an ability.
///
/// # Errors
/// Returns an error if there is no such ability.
pub fn parse_ability(text: &str) -> Result<Ability, UnknownName> {
    [Ability::Call, Ability::RetrieveCall, Ability::PlanRetrieveCall]
        .into_iter()
        .find(|ability| ability_name(*ability) == text)
        .ok_or_else(|| UnknownName {
            what: "ability",
            found: text.to_owned(),
            expected: "call, retrieve_call, plan_retrieve_call",
        })
}

/// Reads the name of a band of difficulty.
///
/// # Errors
/// When there is no such band.
pub fn parse_difficulty(text: &str) -> Result<Difficulty, UnknownName> {
    text.parse().map_err(|_| UnknownName {
        what: "difficulty",
        found: text.to_owned(),
        expected: "easy, medium, hard",
    })
}

impl FromStr for Split {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|split| split.as_str() == text).ok_or_else(|| UnknownName {
            what: "split",
            found: text.to_owned(),
            expected: "train, test",
        })
    }
}

impl FromStr for Role {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::System, Self::User, Self::Assistant, Self::Tool]
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or_else(|| UnknownName {
                what: "role",
                found: text.to_owned(),
                expected: "system, user, assistant, tool",
            })
    }
}

impl fmt::Display for Split {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
