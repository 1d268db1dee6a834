//! Tasks and checks: the request to an agent, and the conditions for a solution. Types only; the simulator
//! grades.
//!
//! Dataset rows store all of it as JSON, so every type round-trips through serde. Field values have one JSON
//! spelling each. The grader parses them by the field's type before it compares them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::ask::{Ask, Kind};

mod calls;
pub mod difficulty;
mod nested;
mod older;
pub(crate) mod refusal;

pub use calls::{ArgumentSource, Call, Derivation, GoldCall};
pub use difficulty::{Difficulty, DifficultyCounts};
pub use nested::{NestedCall, nested_calls, places};
pub use refusal::RefusalClass;

/// Version of the checks' format. Versions 1 and 2 are read and translated.
pub const CHECKS_VERSION: u32 = 3;

/// A task as a row holds it: the checks, and the reference calls that were proven to pass them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Column `checks`.
    pub checks: Checks,
    /// Column `gold_calls`.
    pub gold_calls: Vec<GoldCall>,
}

/// Returns the JSON Schema of a [`Task`].
pub fn json_schema() -> Json {
    schemars::schema_for!(Task).to_value()
}

/// API-Bank's abilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    /// The needed APIs are visible from the start.
    Call,
    /// One API must be found first.
    RetrieveCall,
    /// Several must be found and ordered.
    PlanRetrieveCall,
}

impl Ability {
    /// All abilities.
    pub const ALL: [Self; 3] = [Self::Call, Self::RetrieveCall, Self::PlanRetrieveCall];
}

/// A fault that replaces the reply to the first call of an API. The agent is expected to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// The API's name.
    pub api: String,
    /// The kind.
    pub kind: OutageKind,
}

/// The kind of an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutageKind {
    /// 429: the same call works a moment later.
    TooManyRequests,
    /// 503: the same call works a moment later.
    Unavailable,
    /// 401: the token that a sign-in gave has expired; it stays so, and another sign-in gives a new one.
    ExpiredToken,
}

/// How an episode ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The request was carried out.
    Done,
    /// It could not be, and the user was told why.
    Refused,
}

/// The conditions for a task to be solved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "older::ChecksForm")]
#[schemars(!try_from, deny_unknown_fields)]
pub struct Checks {
    /// [`CHECKS_VERSION`].
    pub version: u32,
    /// How each goal must end, in order; at least one.
    pub goals: Vec<GoalCheck>,
    /// The whole expected difference between first and last state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeCheck>,
    /// Changes that are neither asked for nor damage (a view counter, a log).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Allowance>,
    /// The domains whose policy the task tells: its rules must be kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<String>,
    /// True if a rule of these policies asks for a yes of the user: the task has the tool `confirm`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirms: bool,
}

impl Checks {
    /// Returns the check that creates a new record, by number, and how many records of its resource are
    /// created before it.
    pub fn creation(&self, new: u32) -> Option<(&ChangeCheck, usize)> {
        let at = self.changes.iter().position(|change| change.key == KeyCheck::New(new))?;
        let change = &self.changes[at];
        let alike =
            |other: &&ChangeCheck| other.resource == change.resource && other.kind == ChangeKind::Created;
        Some((change, self.changes[..at].iter().filter(alike).count()))
    }
}

/// How one goal must end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoalCheck {
    /// How it must end.
    pub outcome: Outcome,
    /// For refusals: the classes of reason that are right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusal: Vec<RefusalClass>,
    /// Facts that its last message must state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<AnswerCheck>,
    /// The evidence for a refusal, or for an answer that states nothing: one of these must be in a reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// For a goal that cannot be answered: the facts that its request asks for, as its structured ending shows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Ask>,
}

impl Default for GoalCheck {
    fn default() -> Self {
        Self {
            outcome: Outcome::Done,
            refusal: Vec::new(),
            answer: Vec::new(),
            evidence: Vec::new(),
            asks: Vec::new(),
        }
    }
}

/// An expected change of one record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeCheck {
    /// Qualified name of the resource.
    pub resource: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// Which record.
    pub key: KeyCheck,
    /// Created: every field that is not generated. Updated: every changed field. Deleted: empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Matcher>,
    /// The goal (from 0) that asks for it and in which it is made: before, it is premature, and after, it is late.
    #[serde(default, skip_serializing_if = "is_first")]
    pub goal: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_first(goal: &u32) -> bool {
    *goal == 0
}

/// A kind of change to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// Some of its fields differ.
    Updated,
    /// It is gone.
    Deleted,
}

/// Which record a change is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyCheck {
    /// The record with this key.
    Key(Json),
    /// A new record, whatever its key; the number names it inside the checks.
    New(u32),
}

/// How a field of a changed record is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Matcher {
    /// Equal, as a value of the field's type. Null and absent differ.
    Equals(Json),
    /// Not there.
    Absent,
    /// The key of the new record of this number.
    New(u32),
    /// A list in which plain items are equal and `{"new": n}` stands for the key of new record n.
    ListWithNew(Vec<Json>),
    /// Free text: its words with meaning, its numbers, and as many denials, in any order and at most twice as many words.
    Text(String),
}

/// A change that is neither asked for nor damage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    /// Qualified name of the resource.
    pub resource: String,
    /// Field that may change.
    pub field: String,
}

/// A fact the answer must state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerCheck {
    /// A description for people: `price of room 12`.
    pub about: String,
    /// Where the field holds values below zero: its description, which says what the sign means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign: Option<String>,
    /// The fact.
    pub fact: Fact,
    /// Where the request asks for the values of several items: for each value of the fact, the names by which an answer
    /// may say which item it belongs to, the best first. A value that names its item itself has no such names. Empty for a
    /// value that stands alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Vec<String>>,
    /// One of these must be in a reply of the episode, else the statement is a guess.
    pub evidence: Vec<Evidence>,
}

/// A typed fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// A number, with its unit when it has one.
    Number {
        /// The number.
        value: f64,
        /// Its unit (`km`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
        /// Greatest accepted difference; 0 means equal after rounding to the shown decimals.
        #[serde(default)]
        tolerance: f64,
        /// True if the request asks how much, and the sign says something else: both signs state it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        magnitude: bool,
    },
    /// Money, in minor units.
    Money {
        /// Amount in minor units.
        minor: i64,
        /// Decimal places.
        scale: u8,
        /// ISO 4217 code.
        currency: String,
        /// True if the request asks how much, and the sign says something else: both signs state it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        magnitude: bool,
    },
    /// How many: like a number, but `none`, `no`, `two` and a list of so many also state it.
    Count {
        /// How many.
        value: u64,
    },
    /// A day, `YYYY-MM-DD`.
    Date {
        /// The day.
        value: String,
    },
    /// A time of day, `HH:MM`.
    Time {
        /// The time.
        value: String,
    },
    /// An instant, RFC 3339. Stated by its day and time in the world's zone.
    DateTime {
        /// The instant.
        value: String,
    },
    /// A name, title, code, enum value or other short text.
    Entity {
        /// As the record spells it.
        value: String,
        /// Other spellings that mean the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        aliases: Vec<String>,
        /// The resource and field whose other values would contradict it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<(String, String)>,
    },
    /// Yes or no.
    Boolean {
        /// Which.
        value: bool,
        /// The field or question in words, so that `it is open` counts: words that state true, and false.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        when_true: Vec<String>,
        /// Words that state false.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        when_false: Vec<String>,
    },
    /// A value that the world generates for a new record: its key, a code. It differs from session to session, and is
    /// read from the record when the episode is graded.
    Made {
        /// The number of the new record among the changes.
        new: u32,
        /// The field.
        field: String,
    },
    /// All of these, and no other of their kind.
    List {
        /// The items.
        items: Vec<Fact>,
    },
}

impl Fact {
    /// Returns the kind of the fact.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Number { unit, magnitude, .. } => {
                Kind::Number { unit: unit.clone(), magnitude: *magnitude }
            }
            Self::Money { currency, magnitude, .. } => {
                Kind::Money { currency: currency.clone(), magnitude: *magnitude }
            }
            Self::Count { .. } => Kind::Count,
            Self::Date { .. } => Kind::Date,
            Self::Time { .. } => Kind::Time,
            Self::DateTime { .. } => Kind::DateTime,
            Self::Entity { .. } => Kind::Text,
            Self::Boolean { .. } => Kind::Boolean,
            Self::Made { .. } => Kind::Made,
            Self::List { items, .. } => Kind::List(Box::new(items.first().map_or(Kind::Text, Self::kind))),
        }
    }
}

/// Where a fact stands, so that a reply of the episode can be said to hold it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Evidence {
    /// A reply leaf that came from this field of this record.
    Leaf {
        /// Qualified name of the resource.
        resource: String,
        /// The record's key as text.
        key: String,
        /// The field.
        field: String,
        /// The value that it shows, in its one JSON spelling; any when not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Json>,
    },
    /// A reply leaf that came from this field of a new record.
    New {
        /// The number of the new record among the changes.
        new: u32,
        /// The field.
        field: String,
        /// The value that it shows; any when not given, as for what the world makes up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Json>,
    },
    /// A leaf that the world computed, in a reply of this API, with this value (as text).
    Computed {
        /// The API.
        api: String,
        /// Where in the reply: `total`, `items[0].sum`.
        path: String,
        /// The value in its one spelling.
        value: String,
        /// Arguments that the call must have had; any where none are named.
        #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
        arguments: serde_json::Map<String, Json>,
    },
    /// A refusal by this API with this status.
    Refused {
        /// The API.
        api: String,
        /// The status.
        status: u16,
        /// Arguments that the refused call must have had; any where none are named.
        #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
        arguments: serde_json::Map<String, Json>,
    },
    /// Replies from which it follows that a rule of a policy forbids this call, which is not made.
    Forbidden {
        /// The API.
        api: String,
        /// Its arguments but for a token.
        arguments: serde_json::Map<String, Json>,
        /// The standing token of the user for whom it would be made, where the API needs one and the task tells it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<String>,
    },
    /// A successful reply of this API that matched nothing.
    Empty {
        /// The API.
        api: String,
        /// Arguments that the call must have had; any where none are named.
        #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
        arguments: serde_json::Map<String, Json>,
    },
    /// A list in a reply of this API in which a record comes first: no other one has a better value.
    First {
        /// The API.
        api: String,
        /// Arguments that the call must have had.
        arguments: serde_json::Map<String, Json>,
        /// Where in the reply the list is; empty where the reply is the list.
        array: String,
        /// Where in an item the value is that decides.
        by: String,
        /// True if the greatest value comes first.
        greatest: bool,
        /// Qualified name of the record's resource.
        resource: String,
        /// The record's key as text.
        key: String,
    },
    /// A search for tools that shows one of these, or a tool of these domains: it would have shown what does not exist, too.
    Searched {
        /// The names of the tools that the reference's search shows.
        tools: Vec<String>,
        /// The domain of the first of these tools; none in checks that were made before `generate/4`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        domains: Vec<String>,
    },
    /// All of these together.
    All {
        /// The parts.
        of: Vec<Evidence>,
    },
}
