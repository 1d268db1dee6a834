//! Owns the values of keys that callers are given at the start.

use serde_json::Value as Json;

/// The value of a key that callers are given.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::ground) enum PathValue {
    /// The only value of the key.
    Value(Json),
    /// One of the values that the path takes: a day, a word.
    Sample(Json),
    /// The key of a record of a collection, by the form of its path.
    KeyOf(String),
    /// A member of a record of a collection: the form of its path, and the field.
    Member(String, String),
}
