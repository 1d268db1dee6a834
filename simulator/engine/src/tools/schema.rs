//! Function schemas: parameters as JSON Schema.

use diorama_seeds::model::{Api, Parameter, World};
use diorama_seeds::schema::{KeyKind, Schema, Type};
use diorama_seeds::value::{Str, Value, Zone};
use serde_json::{Map, Value as Json, json};

/// A time of day in the accepted forms. JSON Schema's own `time` format requires an offset.
const TIME_PATTERN: &str = "^([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$";

pub(super) fn function(api: &Api, world: &World) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in api.parameters.iter().filter(|parameter| !parameter.hidden) {
        let promised = super::promised::of_parameter(api, parameter);
        let shown = promised.unwrap_or_else(|| property(parameter, world));
        properties.insert(parameter.name.to_string(), shown);
        if parameter.required {
            required.push(Json::from(&*parameter.name));
        }
    }
    json!({
        "type": "function",
        "function": {
            "name": &*api.name,
            "description": api.documented(),
            "parameters": {"type": "object", "properties": properties, "required": required},
        },
    })
}

fn property(parameter: &Parameter, world: &World) -> Json {
    let mut out = Map::new();
    write(&mut out, &parameter.schema, &world.zone);
    let description = described(&parameter.description, &parameter.schema, &world.zone);
    if !description.is_empty() {
        out.insert("description".to_owned(), Json::from(description));
    }
    if let Some(default) = &parameter.default {
        out.insert("default".to_owned(), default.to_json(&world.zone));
    }
    Json::Object(out)
}

/// Returns a type as JSON Schema.
pub(super) fn json_schema(schema: &Schema, zone: &Zone) -> Json {
    let mut out = Map::new();
    write(&mut out, schema, zone);
    Json::Object(out)
}

/// Returns the description, extended by facts that JSON Schema cannot express: units, currencies, limits of
/// dates and times.
fn described(description: &Str, schema: &Schema, zone: &Zone) -> String {
    let mut notes = Vec::new();
    if let Some(unit) = &schema.unit {
        notes.push(format!("in {unit}"));
    }
    if let Type::Decimal { scale, currency } = &schema.kind {
        match currency {
            Some(currency) => notes.push(format!("in {currency}")),
            None => notes.push(format!("at most {scale} decimal places")),
        }
    }
    if matches!(schema.kind, Type::Date | Type::Time | Type::DateTime) {
        notes.extend(schema.limits.min.iter().map(|min| format!("not before {}", min.to_text(zone))));
        notes.extend(schema.limits.max.iter().map(|max| format!("not after {}", max.to_text(zone))));
    }
    match (description.is_empty(), notes.is_empty()) {
        (_, true) => description.to_string(),
        (true, false) => notes.join(", "),
        (false, false) => format!("{} ({})", description.trim_end_matches('.'), notes.join(", ")),
    }
}

fn write(out: &mut Map<String, Json>, schema: &Schema, zone: &Zone) {
    let limits = &schema.limits;
    let (kind, format) = match &schema.kind {
        Type::Integer | Type::Reference { key: KeyKind::Integer, .. } => ("integer", None),
        Type::Number | Type::Decimal { .. } => ("number", None),
        Type::Date => ("string", Some("date")),
        Type::DateTime => ("string", Some("date-time")),
        Type::Time | Type::Enum(_) => ("string", None),
        Type::Boolean => ("boolean", None),
        Type::String | Type::Reference { key: KeyKind::String, .. } => ("string", schema.format.as_deref()),
        Type::List(_) => ("array", None),
        Type::Object(_) => ("object", None),
        Type::Any => return,
    };
    let kind_json = if schema.nullable { json!([kind, "null"]) } else { json!(kind) };
    out.insert("type".to_owned(), kind_json);
    if let Some(format) = format {
        out.insert("format".to_owned(), json!(format));
    }
    match &schema.kind {
        Type::Enum(values) => {
            let mut values: Vec<Json> = values.iter().map(|value| json!(&**value)).collect();
            if schema.nullable {
                values.push(Json::Null);
            }
            out.insert("enum".to_owned(), Json::Array(values));
        }
        Type::Time => {
            out.insert("pattern".to_owned(), json!(TIME_PATTERN));
        }
        Type::List(item) => {
            let mut inner = Map::new();
            write(&mut inner, item, zone);
            out.insert("items".to_owned(), Json::Object(inner));
        }
        Type::Object(fields) => {
            let mut properties = Map::new();
            let mut required = Vec::new();
            for field in fields.iter() {
                let mut inner = Map::new();
                write(&mut inner, &field.schema, zone);
                properties.insert(field.name.to_string(), Json::Object(inner));
                if !field.optional {
                    required.push(json!(&*field.name));
                }
            }
            out.insert("properties".to_owned(), Json::Object(properties));
            out.insert("required".to_owned(), Json::Array(required));
            out.insert("additionalProperties".to_owned(), json!(false));
        }
        _ => {}
    }
    let numeric = |value: &&Value| value.as_f64().is_some();
    if let Some(min) = limits.min.as_ref().filter(numeric) {
        out.insert("minimum".to_owned(), min.to_json(zone));
    }
    if let Some(max) = limits.max.as_ref().filter(numeric) {
        out.insert("maximum".to_owned(), max.to_json(zone));
    }
    let (least, most) = if kind == "array" { ("minItems", "maxItems") } else { ("minLength", "maxLength") };
    if let Some(length) = limits.min_length {
        out.insert(least.to_owned(), json!(length));
    }
    if let Some(length) = limits.max_length {
        out.insert(most.to_owned(), json!(length));
    }
    if let Some(pattern) = &limits.pattern {
        out.insert("pattern".to_owned(), json!(format!("^(?:{})$", pattern.source())));
    }
}
