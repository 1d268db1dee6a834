//! Owns a partial validator of JSON Schema, for replies against the served document.

use serde_json::Value as Json;

/// Validates a value against a schema. The error names the path that does not fit.
pub(super) fn check(schema: &Json, value: &Json) -> Result<(), String> {
    if let Some(any) = schema["anyOf"].as_array() {
        return if any.iter().any(|schema| check(schema, value).is_ok()) {
            Ok(())
        } else {
            Err(format!("{value} fits none of {schema}"))
        };
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return Err(format!("{value} is not {schema}"));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        return Err(format!("{value} is none of {schema}"));
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Json::String(kind) => vec![kind],
        Json::Array(kinds) => kinds.iter().filter_map(Json::as_str).collect(),
        _ => return Ok(()),
    };
    let is = |kind: &&str| match *kind {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    };
    if !kinds.iter().any(is) {
        return Err(format!("{value} is not of {kinds:?}"));
    }
    for item in value.as_array().into_iter().flatten() {
        check(&schema["items"], item)?;
    }
    let Some(members) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        if !members.contains_key(name) {
            return Err(format!("{name} is missing in {value}"));
        }
    }
    let Some(properties) = schema["properties"].as_object() else { return Ok(()) };
    for (name, member) in members {
        let schema = properties.get(name).ok_or_else(|| format!("{name} is not in the schema"))?;
        check(schema, member).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}
