//! Owns the claims of a task's author about each goal: when it opens, how it ends, and which facts it asks
//! for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::{Call, Outcome, RefusalClass, refusal};

/// The author's claims about a task. Together with the calls and the messages, they determine all checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoldAnswer {
    /// One entry for each goal. Rows of `generate/1` have no entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claims>,
}

/// The claims of a candidate's author about one goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The condition for the goal to open. If left out, it always opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Opening>,
    /// The end of the goal.
    pub ends: End,
}

/// The condition for a goal to open. Every part that is given must hold.
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
    /// For refusals: the class of the reason, or those that fit; those of the refusing reply when left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "refusal")]
    #[schemars(with = "refusal::OneOrSeveral")]
    pub reason: Vec<RefusalClass>,
    /// The facts asked for that the last message states, each by its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<FactClaim>,
    /// For refusals: the fields that the request asks for, of a record that is not there, say. They are shown where the
    /// goal is ended by a tool, so that it looks like a goal that can be answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<AskClaim>,
    /// For refusals: the call that the user asks for, that the API would accept and that a rule of a told policy forbids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declines: Option<Call>,
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
    /// True if the fact is a count: the number there, or the length of the list there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub count: bool,
    /// True if the request asks how much there is of it, whatever its sign: what was spent, where the record is negative.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub magnitude: bool,
    /// A description for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// True if the request asks for this of all items that fit, however many there are: `finish` then takes a list or
    /// a map.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub several: bool,
}
