//! The values of keys that callers are told at the start.

use serde_json::Value as Json;

/// The value of a key that callers are given.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::ground) enum Given {
    /// The only one that there is.
    Value(Json),
    /// One of the values that the path takes: a day, a word.
    Sample(Json),
    /// The key of a record of a collection, by the form of its path.
    KeyOf(String),
    /// What a record of a collection has in a member: the form of its path, and the field.
    Member(String, String),
}
