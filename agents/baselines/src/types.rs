//! Types of arguments and of replies' properties, from their JSON Schemas.

use serde_json::Value as Json;

/// A type, as coarse as one value can stand in for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueType {
    /// A string without a format.
    String,
    /// A string of a closed set (`enum`).
    Choice,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// A string of format `date`.
    Date,
    /// A string of format `time`, or with the pattern of one.
    Time,
    /// A string of format `date-time`.
    Timestamp,
    /// A boolean.
    Boolean,
    /// An array.
    List,
    /// An object, or no type at all.
    Other,
}

/// The type of a schema.
#[must_use]
pub fn value_type(schema: &Json) -> ValueType {
    if schema.get("enum").is_some() {
        return ValueType::Choice;
    }
    let named = match schema.get("type") {
        Some(Json::Array(names)) => names.iter().find_map(Json::as_str).unwrap_or_default(),
        Some(Json::String(name)) => name,
        _ => "",
    };
    match (named, schema.get("format").and_then(Json::as_str)) {
        ("string", Some("date")) => ValueType::Date,
        ("string", Some("date-time")) => ValueType::Timestamp,
        ("string", Some("time")) => ValueType::Time,
        ("string", _) => match schema.get("pattern").and_then(Json::as_str) {
            Some(pattern) if pattern.contains(":[0-5]") => ValueType::Time,
            _ => ValueType::String,
        },
        ("integer", _) => ValueType::Integer,
        ("number", _) => ValueType::Number,
        ("boolean", _) => ValueType::Boolean,
        ("array", _) => ValueType::List,
        _ => ValueType::Other,
    }
}

/// Returns true where a reply of the first schema holds a value for an argument of the second.
pub(crate) fn can_supply(reply: &Json, argument: &Json) -> bool {
    let wanted = value_type(argument);
    leaves(reply).iter().any(|(_, schema)| fits(value_type(schema), wanted))
}

const fn fits(given: ValueType, wanted: ValueType) -> bool {
    matches!(
        (given, wanted),
        (ValueType::Integer, ValueType::Number)
            | (ValueType::Choice, ValueType::String)
            | (ValueType::String, ValueType::Choice)
            | (ValueType::Timestamp, ValueType::Date | ValueType::Time)
            | (_, ValueType::Other)
            | (ValueType::Other, _)
    ) || given as u8 == wanted as u8
}

/// The leaves of a reply's schema, with the names of their properties.
pub(crate) fn leaves(schema: &Json) -> Vec<(&str, &Json)> {
    fn walk<'a>(name: &'a str, schema: &'a Json, depth: u32, found: &mut Vec<(&'a str, &'a Json)>) {
        if depth > 8 {
            return;
        }
        if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
            properties.iter().for_each(|(name, property)| walk(name, property, depth + 1, found));
        } else if let Some(items) = schema.get("items") {
            walk(name, items, depth + 1, found);
        } else if !name.is_empty() {
            found.push((name, schema));
        }
    }
    let mut found = Vec::new();
    walk("", schema, 0, &mut found);
    found
}
