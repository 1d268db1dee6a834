//! Owns the choice of scalars that show known values.

use serde_json::{Map, Value as Json};

use super::state::{Place, Scope};
use crate::contract::check::{is_kind, same, word};
use crate::contract::names::{first_state, is_gone};
use crate::contract::sample;

/// Returns one of an enum's values: the known value in any spelling, the default, the initial state of a new
/// record, or a value chosen by the seed.
pub(super) fn one_of(
    members: &Map<String, Json>,
    values: &[Json],
    place: &Place<'_>,
    scope: &Scope<'_>,
) -> Json {
    if let Some(found) = place.found.map(spelt)
        && let Some(value) = values.iter().find(|value| spelt(value) == found)
    {
        return value.clone();
    }
    if let Some(default) = word(members, "default").filter(|value| values.contains(value)) {
        return default.clone();
    }
    let kind = word(members, "type").and_then(Json::as_str).unwrap_or_default();
    let real: Vec<&Json> = values.iter().filter(|value| !value.is_null() && is_kind(kind, value)).collect();
    if scope.is_said() && real.iter().all(|value| value.is_string()) {
        let beside: Vec<&str> = place.beside.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        return first_state(real.iter().filter_map(|value| value.as_str()), &beside)
            .map_or(Json::Null, Json::from);
    }
    // A reply shows only records that are not deleted.
    let there: Vec<&Json> =
        real.iter().copied().filter(|value| !value.as_str().is_some_and(is_gone)).collect();
    let real = if there.is_empty() { real } else { there };
    let at = if scope.is_said() { 0 } else { place.seed as usize % real.len().max(1) };
    let chosen = real.get(at).copied().or_else(|| values.first());
    chosen.cloned().unwrap_or(Json::Null)
}

/// Returns the type of a schema's values. If it allows several types, a known value decides. An empty string
/// means any type.
pub(super) fn kind_of<'m>(members: &'m Map<String, Json>, found: Option<&Json>) -> &'m str {
    let says = |words: &[&str]| members.keys().any(|known| words.contains(&known.as_str()));
    match word(members, "type") {
        Some(Json::String(kind)) => kind,
        Some(Json::Array(kinds)) => {
            let kinds = || kinds.iter().filter_map(Json::as_str);
            let known = found.and_then(|found| kinds().find(|kind| is_kind(kind, found)));
            known
                .or_else(|| kinds().find(|kind| *kind != "null"))
                .or_else(|| kinds().next())
                .unwrap_or_default()
        }
        _ if says(&["properties", "additionalProperties", "required"]) => "object",
        _ if says(&["items"]) => "array",
        _ if says(&["pattern", "maxLength"]) => "string",
        _ if says(&["minimum", "maximum"]) => "number",
        _ => "",
    }
}

/// Returns a value converted to another type that can express it.
pub(super) fn coerced(kind: &str, found: &Json) -> Option<Json> {
    match (kind, found) {
        ("string" | "file", Json::String(_)) | ("boolean", Json::Bool(_)) => Some(found.clone()),
        ("integer" | "number", Json::Number(_)) => Some(found.clone()),
        ("string", Json::Number(_) | Json::Bool(_)) => Some(Json::String(found.to_string())),
        ("integer", Json::String(text)) => {
            text.parse::<i64>().ok().or_else(|| sample::seconds(text)).map(Json::from)
        }
        ("number", Json::String(text)) => {
            text.parse::<f64>().ok().map(Json::from).or_else(|| Some(sample::seconds(text)?.into()))
        }
        ("boolean", Json::String(text)) => text.parse::<bool>().ok().map(Json::from),
        _ => None,
    }
}

/// Returns true if two values are equal up to type and case.
pub(super) fn alike(value: &Json, found: &Json) -> bool {
    same(value, found) || spelt(value) == spelt(found)
}

/// Returns the bytes of the texts of a value, including member names. Each other scalar counts as one byte.
/// Schemas bound its depth.
pub(super) fn bytes(value: &Json) -> u64 {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => 1,
        Json::String(text) => text.len() as u64,
        Json::Array(items) => items.iter().map(|item| 1 + bytes(item)).sum(),
        Json::Object(members) => members.iter().map(|(name, part)| name.len() as u64 + bytes(part)).sum(),
    }
}

/// Returns a value as lower-case text.
pub(super) fn spelt(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).to_lowercase()
}
