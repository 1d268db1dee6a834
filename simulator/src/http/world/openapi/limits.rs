//! Owns the limits that no declaration states and every request has.

use diorama_seeds::schema::{Schema, Type};
use serde_json::{Value as Json, json};

/// Pattern of a date-time in whole seconds, because the format of JSON Schema allows fractions.
const WHOLE_SECONDS: &str = "^[^.]+([.]0+)?([Zz]|[+-][0-9:]+)?$";

/// Adds the limits of a type: decimal places and range of decimals, and whole seconds of timestamps. A
/// declared range stays.
pub(super) fn typed(declared: &Schema, schema: &mut Json) {
    let Json::Object(members) = schema else { return };
    match &declared.kind {
        Type::Decimal { scale, .. } => {
            // The engine counts decimals in their smallest unit.
            let most = 10_i64.checked_pow(u32::from(*scale)).map_or(0, |unit| i64::MAX / unit);
            members.entry("minimum").or_insert_with(|| json!(-most));
            members.entry("maximum").or_insert_with(|| json!(most));
            let step = if *scale == 0 { json!(1) } else { json!(1.0 / 10_f64.powi(i32::from(*scale))) };
            members.insert("multipleOf".to_owned(), step);
        }
        Type::DateTime => {
            members.insert("pattern".to_owned(), json!(WHOLE_SECONDS));
        }
        Type::List(item) => {
            if let Some(items) = members.get_mut("items") {
                typed(item, items);
            }
        }
        Type::Object(fields) => {
            for field in fields.iter() {
                let of = members.get_mut("properties").and_then(|all| all.get_mut(&*field.name));
                if let Some(of) = of {
                    typed(&field.schema, of);
                }
            }
        }
        _ => {}
    }
}

/// Adds the range of whole numbers if the schema lacks it.
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

/// Adds a pattern to the texts of a split list: they are not empty and contain no separator.
pub(super) fn split(schema: &mut Json, separator: char) {
    let Some(Json::Object(items)) = schema.get_mut("items") else { return };
    if items.get("type") == Some(&json!("string"))
        && !items.contains_key("enum")
        && !items.contains_key("format")
    {
        items.entry("pattern").or_insert_with(|| json!(format!("^[^{separator}]+$")));
    }
}
