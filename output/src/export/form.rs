//! Whether a value has the form that a parameter's schema asks for.

use diorama_seeds::value::Date;
use regex::Regex;
use serde_json::Value as Json;

/// Returns true if the schema allows the value: by type, enum, bounds, pattern, day and items. Other keywords allow all.
pub(super) fn fits(value: &Json, schema: &Json) -> bool {
    let types = match schema.get("type") {
        Some(Json::Array(types)) => types.iter().filter_map(Json::as_str).collect(),
        Some(Json::String(one)) => vec![one.as_str()],
        _ => Vec::new(),
    };
    let is_listed = schema.get("enum").and_then(Json::as_array).is_none_or(|listed| listed.contains(value));
    (types.is_empty() || types.iter().any(|name| is_of_type(value, name)))
        && is_listed
        && match value {
            Json::Number(number) => is_between(number.as_f64(), schema, "minimum", "maximum"),
            Json::String(text) => is_text_of(text, schema),
            Json::Array(items) => {
                is_between(Some(items.len() as f64), schema, "minItems", "maxItems")
                    && items.iter().all(|item| fits(item, schema.get("items").unwrap_or(&Json::Null)))
            }
            Json::Null | Json::Bool(_) | Json::Object(_) => true,
        }
}

fn is_of_type(value: &Json, name: &str) -> bool {
    match name {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn is_between(value: Option<f64>, schema: &Json, least: &str, most: &str) -> bool {
    let bound = |name| schema.get(name).and_then(Json::as_f64);
    value.is_some_and(|value| {
        bound(least).is_none_or(|least| value >= least) && bound(most).is_none_or(|most| value <= most)
    })
}

fn is_text_of(text: &str, schema: &Json) -> bool {
    let pattern = schema.get("pattern").and_then(Json::as_str).and_then(|pattern| Regex::new(pattern).ok());
    let is_day = schema.get("format").and_then(Json::as_str) == Some("date");
    is_between(Some(text.chars().count() as f64), schema, "minLength", "maxLength")
        && pattern.is_none_or(|pattern| pattern.is_match(text))
        && (!is_day || Date::parse(text).is_some())
}
