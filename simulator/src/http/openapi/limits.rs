//! Limits that no declaration says and every request has.

use serde_json::{Value as Json, json};

/// Says how great whole numbers may be, where nothing else does.
pub(super) fn bound(schema: &mut Json) {
    let Json::Object(members) = schema else { return };
    let whole = match members.get("type") {
        Some(Json::String(kind)) => kind == "integer",
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind == "integer"),
        _ => false,
    };
    if whole && !members.contains_key("enum") {
        members.entry("minimum").or_insert_with(|| json!(i64::MIN));
        members.entry("maximum").or_insert_with(|| json!(i64::MAX));
    }
    if let Some(items) = members.get_mut("items") {
        bound(items);
    }
    if let Some(Json::Object(properties)) = members.get_mut("properties") {
        properties.values_mut().for_each(bound);
    }
}

/// Says that texts in a list that is split at commas are neither empty nor hold one.
pub(super) fn split(schema: &mut Json) {
    let Some(Json::Object(items)) = schema.get_mut("items") else { return };
    if items.get("type") == Some(&json!("string"))
        && !items.contains_key("enum")
        && !items.contains_key("format")
    {
        items.entry("pattern").or_insert_with(|| json!("^[^,]+$"));
    }
}
