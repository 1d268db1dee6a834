//! Reference calls, with the source of each argument.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A call of an API by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// The API's name before variants, with its domain: `dental_clinic.BookAppointment`; none of `ToolSearcher`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_api: Option<String>,
    /// Its arguments.
    pub arguments: serde_json::Map<String, Json>,
    /// For each argument (top-level name), where it comes from.
    pub sources: BTreeMap<String, ArgumentSource>,
    /// The user turn (from 0) that comes before it.
    #[serde(default)]
    pub turn: u32,
    /// True for an avoidable error, refused with 400: part of the conversation, not of the solution.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mistake: bool,
    /// True for a read that only makes sure: part of the conversation, not of the solution.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub care: bool,
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
    /// Text of the system message: bytes `start..end`. Tokens come from there, and values that callers are told at the start.
    System {
        /// First byte.
        start: u32,
        /// Byte after the last.
        end: u32,
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
