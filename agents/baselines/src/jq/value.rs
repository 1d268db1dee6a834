//! jq's operations on JSON values: order, arithmetic, properties.

use std::cmp::Ordering;

use jaq_core::ops::Math;
use serde_json::{Map, Value as Json};

use super::error::{JqError, fails};

/// Values and bytes of text in a value; counting ends beyond `most`.
pub(super) fn size(value: &Json, most: usize) -> usize {
    match value {
        Json::String(text) => 1 + text.len() / 8,
        Json::Array(items) => sum(items.iter(), most),
        Json::Object(members) => sum(members.values(), most),
        _ => 1,
    }
}

fn sum<'a>(values: impl Iterator<Item = &'a Json>, most: usize) -> usize {
    let mut total = 1;
    for value in values {
        if total > most {
            break;
        }
        total += size(value, most - total.min(most));
    }
    total
}

pub(super) const fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

pub(super) const fn is_true(value: &Json) -> bool {
    !matches!(value, Json::Null | Json::Bool(false))
}

/// A string as it is, anything else as JSON.
pub(super) fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// jq's order: null, false, true, numbers, strings, arrays, objects.
pub(super) fn compare(a: &Json, b: &Json) -> Ordering {
    let rank = |value: &Json| match value {
        Json::Null => 0,
        Json::Bool(false) => 1,
        Json::Bool(true) => 2,
        Json::Number(_) => 3,
        Json::String(_) => 4,
        Json::Array(_) => 5,
        Json::Object(_) => 6,
    };
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
        },
        (Json::String(a), Json::String(b)) => a.cmp(b),
        (Json::Array(a), Json::Array(b)) => {
            let first = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Json::Object(a), Json::Object(b)) => {
            let sorted = |object: &Map<String, Json>| {
                let mut keys: Vec<String> = object.keys().cloned().collect();
                keys.sort_unstable();
                keys
            };
            let (keys, others) = (sorted(a), sorted(b));
            keys.cmp(&others).then_with(|| {
                let values = keys.iter().map(|key| match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => compare(a, b),
                    _ => Ordering::Equal,
                });
                values.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
            })
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

pub(super) fn index(value: &Json, at: &Json) -> Result<Json, JqError> {
    match (value, at) {
        (Json::Null, _) => Ok(Json::Null),
        (Json::Object(members), Json::String(name)) => Ok(members.get(name).cloned().unwrap_or_default()),
        (Json::Array(items), Json::Number(number)) => {
            let at = number.as_f64().unwrap_or(f64::NAN).floor() as i64;
            Ok(position(at, items.len()).and_then(|at| items.get(at)).cloned().unwrap_or_default())
        }
        (value, at) => {
            let shown: String = at.to_string().chars().take(60).collect();
            fails(format!("cannot index {} with {shown}", kind(value)))
        }
    }
}

fn position(at: i64, length: usize) -> Option<usize> {
    usize::try_from(if at < 0 { at.saturating_add(length as i64) } else { at }).ok()
}

pub(super) fn slice(value: &Json, from: Option<i64>, to: Option<i64>) -> Result<Json, JqError> {
    let range = |length: usize| {
        let bound = |at: i64| position(at, length).unwrap_or(0).min(length);
        let (from, to) = (from.map_or(0, bound), to.map_or(length, bound));
        from..to.max(from)
    };
    match value {
        Json::Null => Ok(Json::Null),
        Json::Array(items) => Ok(Json::Array(items.get(range(items.len())).unwrap_or_default().to_vec())),
        Json::String(text) => {
            let range = range(text.chars().count());
            Ok(Json::String(text.chars().skip(range.start).take(range.len()).collect()))
        }
        other => fails(format!("cannot cut {}", kind(other))),
    }
}

/// A number: whole where it can be.
pub(super) fn number(value: f64) -> Result<Json, JqError> {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Ok(Json::from(value as i64));
    }
    serde_json::Number::from_f64(value).map_or_else(|| fails("a number beyond all bounds"), |n| Ok(n.into()))
}

pub(super) fn arithmetic(math: &Math, a: &Json, b: &Json) -> Result<Json, JqError> {
    let cannot = |word: &str| fails(format!("cannot {word} {} and {}", kind(a), kind(b)));
    match (math, a, b) {
        (Math::Add, Json::Null, other) | (Math::Add, other, Json::Null) => Ok(other.clone()),
        (_, Json::Number(a), Json::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            match math {
                Math::Add => number(a + b),
                Math::Sub => number(a - b),
                Math::Mul => number(a * b),
                Math::Div | Math::Rem if b == 0.0 => fails("cannot divide by zero"),
                Math::Div => number(a / b),
                Math::Rem if b.trunc() == 0.0 => fails("cannot divide by zero"),
                Math::Rem => number(a.trunc() % b.trunc()),
            }
        }
        (Math::Add, Json::String(a), Json::String(b)) => Ok(Json::String(format!("{a}{b}"))),
        (Math::Add, Json::Array(a), Json::Array(b)) => Ok(Json::Array(a.iter().chain(b).cloned().collect())),
        (Math::Add, Json::Object(a), Json::Object(b)) => {
            let mut joined = a.clone();
            joined.extend(b.iter().map(|(name, member)| (name.clone(), member.clone())));
            Ok(Json::Object(joined))
        }
        (Math::Sub, Json::Array(a), Json::Array(b)) if b.len() <= 64 => {
            let kept = a.iter().filter(|item| !b.iter().any(|other| compare(item, other).is_eq()));
            Ok(Json::Array(kept.cloned().collect()))
        }
        (Math::Div, Json::String(a), Json::String(b)) => {
            Ok(Json::Array(a.split(&**b).map(Json::from).collect()))
        }
        (Math::Add, ..) => cannot("add"),
        (Math::Sub, ..) => cannot("subtract"),
        (Math::Mul, ..) => cannot("multiply"),
        (Math::Div, ..) => cannot("divide"),
        (Math::Rem, ..) => cannot("divide"),
    }
}
