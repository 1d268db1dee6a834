//! Tasks and checks: what an agent is asked, and how it is graded. Types only; grading is the simulator's.
//!
//! All of it is stored as JSON in dataset rows, so every type round-trips through serde, and field values stand
//! in their one JSON spelling (parsed again by the field's declared type before they are compared).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::ending::Ask;

/// Version of the checks' format. Version 1 had one goal, whose members stood in the variant; it is still read.
pub const CHECKS_VERSION: u32 = 2;

/// A task as a row holds it: the checks, and the reference calls that were proven to pass them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Column `checks`.
    pub checks: Checks,
    /// Column `gold_calls`.
    pub gold_calls: Vec<GoldCall>,
}

/// JSON Schema of a [`Task`].
#[must_use]
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
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Call, Self::RetrieveCall, Self::PlanRetrieveCall];
}

/// How an episode ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The request was carried out.
    Done,
    /// It could not be, and the user was told why.
    Refused,
    /// The agent needs something from the user.
    NeedInput,
}

/// Why a request could not be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalClass {
    /// What the request names does not exist.
    NotFound,
    /// The present state forbids it: taken, full, already done, insufficient.
    Conflict,
    /// The user may not.
    Forbidden,
    /// An argument is out of range.
    Invalid,
    /// No API does this.
    NoTool,
}

impl RefusalClass {
    /// The class of the refusal that a reply with this status is; none for other statuses.
    #[must_use]
    pub const fn of_status(status: u16) -> Option<Self> {
        match status {
            404 | 410 => Some(Self::NotFound),
            401 | 403 => Some(Self::Forbidden),
            409 => Some(Self::Conflict),
            400 | 402 | 422 => Some(Self::Invalid),
            _ => None,
        }
    }
}

/// What must hold for a task to be solved. A task with several accepted outcomes has several `variants`; one
/// that holds in full is enough.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// [`CHECKS_VERSION`].
    pub version: u32,
    /// Accepted ways for the episode to end, at least one.
    pub variants: Vec<Variant>,
    /// Changes that are neither asked for nor damage (a view counter, a log).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Allowance>,
}

/// One accepted end of the whole conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "VariantForm")]
pub struct Variant {
    /// How each goal must end, in order; at least one.
    pub goals: Vec<GoalCheck>,
    /// The whole expected difference between first and last state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeCheck>,
}

/// How one goal must end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoalCheck {
    /// How it must end.
    pub outcome: Outcome,
    /// For refusals: the classes of reason that are right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusal: Vec<RefusalClass>,
    /// Facts that its last message must state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<AnswerCheck>,
    /// What a refusal, or an answer that states nothing, must rest on: one of these must be in a reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// For a goal that cannot be answered: the facts that its request asks for, as its structured ending shows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Ask>,
    /// Facts that the message may state beside those asked for, such as the other members of the record it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Fact>,
}

/// A variant as it is written: of version 2 with `goals`, of version 1 with the members of its one goal.
#[derive(Deserialize, JsonSchema)]
struct VariantForm {
    #[serde(default)]
    goals: Vec<GoalCheck>,
    #[serde(default)]
    changes: Vec<ChangeCheck>,
    #[serde(flatten)]
    only: Option<GoalCheck>,
}

impl From<VariantForm> for Variant {
    fn from(form: VariantForm) -> Self {
        let VariantForm { mut goals, changes, only } = form;
        if goals.is_empty() {
            goals.extend(only);
        }
        Self { goals, changes }
    }
}

impl Default for GoalCheck {
    fn default() -> Self {
        Self {
            outcome: Outcome::Done,
            refusal: Vec::new(),
            answer: Vec::new(),
            evidence: Vec::new(),
            asks: Vec::new(),
            context: Vec::new(),
        }
    }
}

/// An expected change of one record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeCheck {
    /// Qualified name of the resource.
    pub resource: String,
    /// What happens to the record.
    pub kind: ChangeKind,
    /// Which record.
    pub key: KeyCheck,
    /// Created: every field that is not generated. Updated: every changed field. Deleted: empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Matcher>,
    /// The goal (from 0) that asks for it: made before that goal has opened, it is premature.
    #[serde(default, skip_serializing_if = "is_first")]
    pub goal: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_first(goal: &u32) -> bool {
    *goal == 0
}

/// What happens to a record.
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
    /// A new record, whatever its key; the number names it inside the variant.
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
    /// Free text: the same words apart from case, punctuation and white space.
    Text(String),
    /// Free text that must mention each of these (words apart from case).
    Mentions(Vec<String>),
    /// Any value.
    Any,
}

/// A change that is neither asked for nor damage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Allowance {
    /// Qualified name of the resource.
    pub resource: String,
    /// Field that may change; any change of the resource when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

/// A fact the answer must state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerCheck {
    /// What it is, for people: `price of room 12`.
    pub about: String,
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
#[serde(tag = "kind", rename_all = "snake_case")]
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
    },
    /// Money, in minor units.
    Money {
        /// Amount in minor units.
        minor: i64,
        /// Decimal places.
        scale: u8,
        /// ISO 4217 code.
        currency: String,
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
    /// What the world made for a new record: its key, a code. It differs from session to session, and is read from the
    /// record when the episode is graded.
    Made {
        /// The number of the new record among the changes of the variant.
        new: u32,
        /// The field.
        field: String,
    },
    /// All of these, and no other of their kind.
    List {
        /// The items.
        items: Vec<Fact>,
        /// Whether they must come in this order.
        #[serde(default)]
        ordered: bool,
    },
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
        /// The number of the new record among the changes of the variant.
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
    /// A successful reply of this API that matched nothing.
    Empty {
        /// The API.
        api: String,
        /// Arguments that the call must have had; any where none are named.
        #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
        arguments: serde_json::Map<String, Json>,
    },
    /// All of these together.
    All {
        /// The parts.
        of: Vec<Evidence>,
    },
}

/// A call of an API by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// The API's name.
    pub api: String,
    /// Its arguments, a JSON object.
    pub arguments: serde_json::Map<String, Json>,
}

/// A reference call, each argument with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoldCall {
    /// The API's name.
    pub api: String,
    /// Its arguments.
    pub arguments: serde_json::Map<String, Json>,
    /// For each argument (top-level name), where it comes from.
    pub sources: BTreeMap<String, ArgumentSource>,
    /// The user turn (from 0) that comes before it.
    #[serde(default)]
    pub turn: u32,
}

/// Where a gold argument comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum ArgumentSource {
    /// Text of a user turn: bytes `start..end` of turn `turn` (from 0).
    User {
        /// The turn.
        turn: u32,
        /// First byte.
        start: u32,
        /// Byte after the last.
        end: u32,
        /// How the value follows from the text.
        #[serde(default)]
        by: Derivation,
    },
    /// A place in the reply of an earlier gold call: `items[0].doctor_id`.
    Reply {
        /// Which gold call, from 0.
        call: u32,
        /// The place in its body.
        path: String,
    },
    /// Items of several places, as one list.
    Replies {
        /// Gold call and place of each item.
        places: Vec<(u32, String)>,
    },
    /// Search keywords: every word occurs in one of these user turns or in the replies of these gold calls.
    Keywords {
        /// User turns, from 0.
        turns: Vec<u32>,
        /// Gold calls, from 0.
        calls: Vec<u32>,
    },
    /// The parameter's documented default.
    Default,
    /// One of the documented values of an optional parameter of a read, chosen to look closer: left out, the reply
    /// shows the same, and more.
    Choice,
    /// The user's own words for a free text: every word with meaning stands in these user turns or in the replies of
    /// these gold calls.
    Dictated {
        /// User turns, from 0.
        turns: Vec<u32>,
        /// Gold calls, from 0.
        calls: Vec<u32>,
    },
    /// The clock, date or zone shown to the agent.
    Clock {
        /// How the value follows from the clock.
        by: Derivation,
    },
    /// Arithmetic over other sources.
    Arithmetic {
        /// `add`, `subtract`, `multiply`; `at` for a day and a time of day; `list` for the items of a list.
        operation: String,
        /// The operands.
        of: Vec<ArgumentSource>,
    },
}

/// How a value follows from a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Derivation {
    /// The text spells the value.
    #[default]
    Verbatim,
    /// A date or time phrase, resolved against the clock: `next Friday at half past two`.
    DatePhrase,
    /// A number word: `three`.
    NumberWord,
    /// Another word for an enum value.
    Synonym,
    /// A misspelt name with one match.
    Misspelling,
    /// The next page.
    NextPage,
    /// Yes or no in words.
    BooleanPhrase,
    /// The words of an order, for a sort parameter: `lowest fee` for `fee`, `highest fee` for `-fee`.
    SortPhrase,
}
