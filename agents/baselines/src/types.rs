//! Types of arguments and of replies' properties, from their JSON Schemas.

use serde_json::Value as Json;

/// A type, as coarse as one value can stand in for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A string without a format.
    Text,
    /// A string of a closed set (`enum`).
    Choice,
    /// An integer.
    Whole,
    /// A number.
    Number,
    /// A string of format `date`.
    Date,
    /// A string of format `time`, or with the pattern of one.
    Time,
    /// A string of format `date-time`.
    Moment,
    /// A boolean.
    Boolean,
    /// An array.
    List,
    /// An object, or no type at all.
    Other,
}

/// The type of a schema.
#[must_use]
pub fn kind(schema: &Json) -> Kind {
    if schema.get("enum").is_some() {
        return Kind::Choice;
    }
    let named = match schema.get("type") {
        Some(Json::Array(names)) => names.iter().find_map(Json::as_str).unwrap_or_default(),
        Some(Json::String(name)) => name,
        _ => "",
    };
    match (named, schema.get("format").and_then(Json::as_str)) {
        ("string", Some("date")) => Kind::Date,
        ("string", Some("date-time")) => Kind::Moment,
        ("string", Some("time")) => Kind::Time,
        ("string", _) => match schema.get("pattern").and_then(Json::as_str) {
            Some(pattern) if pattern.contains(":[0-5]") => Kind::Time,
            _ => Kind::Text,
        },
        ("integer", _) => Kind::Whole,
        ("number", _) => Kind::Number,
        ("boolean", _) => Kind::Boolean,
        ("array", _) => Kind::List,
        _ => Kind::Other,
    }
}

/// Returns true where a reply of the first schema holds a value for an argument of the second.
pub(crate) fn can_supply(reply: &Json, argument: &Json) -> bool {
    let wanted = kind(argument);
    leaves(reply).iter().any(|(_, schema)| fits(kind(schema), wanted))
}

const fn fits(given: Kind, wanted: Kind) -> bool {
    matches!(
        (given, wanted),
        (Kind::Whole, Kind::Number)
            | (Kind::Choice, Kind::Text)
            | (Kind::Text, Kind::Choice)
            | (Kind::Moment, Kind::Date | Kind::Time)
            | (_, Kind::Other)
            | (Kind::Other, _)
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
