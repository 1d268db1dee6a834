//! Value types of arguments and reply properties, from their JSON Schemas.

use diorama_seeds::english::split_identifier;
use serde_json::Value as Json;

/// A value type. Values of the same type may replace each other.
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
    /// An object, or no declared type.
    Other,
}

/// Returns the type of a schema.
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

/// Words in the names of strings that contain several values of any type.
const VALUE_TEXTS: [&str; 4] = ["info", "information", "detail", "details"];
/// Words in the names of strings that are written to people and may contain any value.
const WRITTEN_TEXTS: [&str; 7] = ["body", "comment", "content", "message", "note", "notes", "text"];

/// Returns true if a reply with this schema may contain a value for an argument, given as name and schema.
///
/// Types exclude only impossible values. A list accepts values of its item type. Lists and objects without
/// described content may contain any value, and so may strings such as `flight_info`. A string argument such
/// as `message` accepts any value.
pub(crate) fn can_supply(reply: &Json, (argument, schema): (&str, &Json)) -> bool {
    let wanted = content_type(schema);
    let is_written = wanted == ValueType::String && has_word_of(argument, &WRITTEN_TEXTS);
    leaves(reply).iter().any(|(name, schema)| {
        let given = content_type(schema);
        is_written || fits(given, wanted) || (given == ValueType::String && has_word_of(name, &VALUE_TEXTS))
    })
}

/// Returns the type of a value, or that of a list's items.
fn content_type(schema: &Json) -> ValueType {
    match (value_type(schema), schema.get("items")) {
        (ValueType::List, Some(items)) => value_type(items),
        (ValueType::List, None) => ValueType::Other,
        (other, _) => other,
    }
}

/// Returns true if an identifier contains one of the words.
fn has_word_of(identifier: &str, words: &[&str]) -> bool {
    split_identifier(identifier).iter().any(|word| words.contains(&word.as_str()))
}

/// Converts a value to the argument's type: a number to a string, a single value to a list.
pub(crate) fn converted(value: Json, argument: &Json) -> Json {
    match (value_type(argument), value) {
        (ValueType::String, value @ (Json::Number(_) | Json::Bool(_))) => Json::from(value.to_string()),
        (ValueType::List, value) if !value.is_array() => {
            let items = argument.get("items").cloned().unwrap_or_default();
            Json::Array(vec![converted(value, &items)])
        }
        (_, value) => value,
    }
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

/// Returns the leaves of a reply's schema, with their property names.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_exclude_only_what_cannot_be() {
        let check = |reply: Json, argument: Json, expect: bool| {
            let reply = json!({"type": "object", "properties": {"flight": reply}});
            assert_eq!(can_supply(&reply, ("seat", &argument)), expect, "{reply} for {argument}");
        };
        let named = |name: &str| json!({"type": name});
        check(named("integer"), named("number"), true);
        check(named("string"), named("integer"), false);
        check(named("boolean"), named("integer"), false);
        check(named("number"), named("string"), false);
        // Objects and lists without described content may contain anything.
        check(named("object"), named("integer"), true);
        check(named("array"), named("integer"), true);
        check(json!({}), named("boolean"), true);
        check(named("integer"), json!({"title": "Coordinates"}), true);
        // A list accepts values of its item type.
        let numbers = json!({"type": "array", "items": {"type": "number"}});
        check(named("integer"), numbers.clone(), true);
        check(named("string"), numbers.clone(), false);
        check(numbers, named("boolean"), false);
        let text = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}});
        let supplies = |name: &str| can_supply(&text(name), ("price", &named("number")));
        assert!(supplies("flight_info") && supplies("flightDetails") && !supplies("flight_name"));
        let price = json!({"type": "object", "properties": {"price": {"type": "number"}}});
        let takes_price = |argument: &str| can_supply(&price, (argument, &named("string")));
        assert!(takes_price("message") && takes_price("emailBody") && !takes_price("name"));
    }

    #[test]
    fn values_are_converted_to_what_an_argument_takes() {
        let check = |value: Json, argument: Json, expect: Json| {
            assert_eq!(converted(value.clone(), &argument), expect, "{value} for {argument}");
        };
        check(json!(7), json!({"type": "string"}), json!("7"));
        check(json!("x"), json!({"type": "string"}), json!("x"));
        check(json!(7), json!({"type": "integer"}), json!(7));
        check(json!(7), json!({"type": "array", "items": {"type": "string"}}), json!(["7"]));
        check(json!([7]), json!({"type": "array"}), json!([7]));
        check(json!(7), json!({}), json!(7));
    }
}
