//! Facts that a request asks for, without their values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact that a request asks for: what it is, and of which kind, without its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ask {
    /// The subject of the question, for people.
    pub about: String,
    /// Where its value may be below zero: the description of the field, which says what the sign means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign: Option<String>,
    /// Its kind.
    pub kind: Kind,
}

/// The kind of a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A number, in this unit where it has one.
    Number {
        /// Such as `km`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
        /// True if it is asked how much, whatever the sign: given from 0.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        magnitude: bool,
    },
    /// An amount of this currency.
    Money {
        /// ISO 4217 code.
        currency: String,
        /// True if it is asked how much, whatever the sign: given from 0.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        magnitude: bool,
    },
    /// How many.
    Count,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A moment.
    DateTime,
    /// A name, code, or other short text.
    Text,
    /// Yes or no.
    Boolean,
    /// The id, number or code of a new record.
    Made,
    /// Several of a kind, in any order.
    List(Box<Kind>),
    /// Several of a kind, each under the name or the id of the item that it belongs to.
    Map(Box<Kind>),
}
