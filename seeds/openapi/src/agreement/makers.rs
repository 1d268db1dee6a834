//! Reads and writes the providers of fields: which provider draws a value, from which range, and whether all
//! records have one.

use diorama_seeds::doc::{FieldDoc, TypeName};
use serde_json::{Value as Json, json};

/// Returns the provider that draws a timestamp; `time` for a time of day that has no provider yet.
pub(super) fn drawn_moment(field: &FieldDoc) -> Option<&'static str> {
    let provider = field.fake.as_ref().map(|fake| innermost(fake).get("provider").and_then(Json::as_str));
    match (field.kind, provider) {
        (Some(TypeName::Date), Some(Some("date"))) => Some("date"),
        (Some(TypeName::DateTime), Some(Some("date_time"))) => Some("date_time"),
        (Some(TypeName::Time), None | Some(Some("time" | "chance"))) => Some("time"),
        _ => None,
    }
}

/// Returns true if a number is drawn from a range.
pub(super) fn is_drawn_number(field: &FieldDoc) -> bool {
    let number = matches!(field.kind, Some(TypeName::Integer | TypeName::Number));
    number && range(field).is_some()
}

/// Returns the least and the greatest number that the provider draws.
pub(super) fn range(field: &FieldDoc) -> Option<(f64, f64)> {
    let fake = innermost(field.fake.as_ref()?);
    let provider = fake.get("provider")?.as_str()?;
    let bound = |name: &str| fake.get(name)?.as_f64();
    Some((bound("min")?, bound("max")?)).filter(|_| ["integer", "number"].contains(&provider))
}

/// Draws a number from a narrower range.
pub(super) fn narrow(field: &mut FieldDoc, (min, max): (f64, f64)) {
    let Some(mut fake) = field.fake.as_ref().map(|fake| innermost(fake).clone()) else { return };
    let bound = |value: f64| match field.kind {
        Some(TypeName::Integer) => json!(value as i64),
        _ => json!(value),
    };
    if let Json::Object(options) = &mut fake {
        options.insert("min".to_owned(), bound(min));
        options.insert("max".to_owned(), bound(max));
    }
    put(field, fake);
}

/// Returns true if all initial records have the field.
pub(super) fn is_always(field: &FieldDoc) -> bool {
    let share = field.fake.as_ref().and_then(|fake| fake.get("share")).and_then(Json::as_f64);
    share == Some(1.0) || !(field.nullable || field.optional)
}

/// Returns the provider inside any number of `chance` wrappers.
pub(super) fn innermost(fake: &Json) -> &Json {
    match fake.get("of") {
        Some(inner) if fake.get("provider") == Some(&json!("chance")) => innermost(inner),
        _ => fake,
    }
}

/// Replaces the provider and keeps the `chance` wrappers around it.
pub(super) fn put(field: &mut FieldDoc, new: Json) {
    let mut at = field.fake.get_or_insert(Json::Null);
    while at.get("provider") == Some(&json!("chance")) {
        let Json::Object(options) = at else { return };
        at = options.entry("of").or_insert(Json::Null);
    }
    *at = new;
}

/// Computes a field's values by an expression.
pub(super) fn compute(field: &mut FieldDoc, expression: String) {
    put(field, json!({"provider": "expr", "of": expression}));
}

/// Returns the days, relative to the clock, between which a timestamp is drawn.
pub(super) fn span(field: &FieldDoc) -> Option<(i64, i64)> {
    let fake = innermost(field.fake.as_ref()?);
    let days = |name: &str| fake.get(name)?.as_str()?.strip_suffix('d')?.parse::<i64>().ok();
    Some((days("from")?, days("to")?))
}

/// Returns a provider of timestamps between two days, relative to the clock.
pub(super) fn between(provider: &str, (from, to): (i64, i64)) -> Json {
    json!({"provider": provider, "from": format!("{from:+}d"), "to": format!("{to:+}d")})
}
