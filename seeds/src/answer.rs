//! Reference answers as parts, so that they can be said again over other replies, and what their author claims of each
//! goal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::{Outcome, RefusalClass};

/// The reference answers of a task, one for each goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "GoldAnswerForm")]
pub struct GoldAnswer {
    /// The last message of each goal.
    pub goals: Vec<Vec<AnswerPart>>,
    /// What the author claims of each goal: with the calls and the messages, all that the checks follow from. Rows of
    /// `generate/1` have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claims>,
}

/// What the author of a candidate claims of a goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// When it opens; always when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Opening>,
    /// How it ends.
    pub ends: End,
}

/// What must be so for a goal to open. What is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// An earlier goal, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<u32>,
    /// How that goal, or the one before, must have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// A call, from 0 over the whole conversation, whose reply must have shown something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// The place in its reply; the refusal or the emptiness of the reply itself when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// How a goal ends, as its author claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The outcome.
    pub outcome: Outcome,
    /// For refusals: the class of the reason; that of the refusing reply when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<RefusalClass>,
    /// The facts asked for that the last message states, each by its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<FactClaim>,
    /// For refusals: the fields that the request asks for, of a record that is not there, say. They are shown where the
    /// goal is ended by a tool, so that it looks like a goal that can be answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<AskClaim>,
}

/// A field that a request asks for in vain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskClaim {
    /// The resource, as the world names it.
    pub resource: String,
    /// The field.
    pub field: String,
}

/// A stated fact, by its place in a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactClaim {
    /// The call, from 0 over the whole conversation.
    pub call: usize,
    /// The place in its reply: `starts_at`, `items[0].name`; `items[*].name` for the same member of every item.
    pub path: String,
    /// Whether the fact is how many: the number there, or the length of the list there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count: bool,
    /// What it is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Whether the request asks for this of all items that fit, however many there are: `finish` then takes a list or a map.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub several: bool,
}

/// A gold answer as it is written; rows of the first format had the parts of one goal.
#[derive(Deserialize)]
struct GoldAnswerForm {
    #[serde(default)]
    goals: Vec<Vec<AnswerPart>>,
    #[serde(default)]
    parts: Vec<AnswerPart>,
    #[serde(default)]
    claims: Vec<Claims>,
}

impl From<GoldAnswerForm> for GoldAnswer {
    fn from(form: GoldAnswerForm) -> Self {
        let GoldAnswerForm { goals, parts, claims } = form;
        Self { goals: if goals.is_empty() { vec![parts] } else { goals }, claims }
    }
}

/// A part of a last message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerPart {
    /// Text.
    Text(String),
    /// A leaf of a reply, in words.
    Leaf {
        /// The call.
        call: usize,
        /// The place.
        path: String,
        /// Which form of words.
        style: u32,
        /// Without its unit or currency, which nothing visible gives.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        bare: bool,
    },
    /// One of two texts, as a boolean leaf of a reply says.
    Truth {
        /// The call.
        call: usize,
        /// The place.
        path: String,
        /// For true.
        yes: String,
        /// For false.
        no: String,
    },
    /// The same member of every item of an array, joined.
    Each {
        /// The call.
        call: usize,
        /// The array's place.
        array: String,
        /// The member.
        member: String,
        /// Which form of words; also chooses between a sentence and bullets.
        style: u32,
    },
}
