//! The functions that programs may call.

use std::cmp::Ordering;

use jaq_core::ops::Math;
use serde_json::{Map, Value as Json};

use super::error::{JqError, fails, unknown};
use super::value::{arithmetic, compare, index, is_true, kind, number, plain, size};
use super::{Filter, Run, Values};

/// Calls a function by name.
pub(super) fn call(run: &mut Run, name: &str, arguments: &[Filter<'_>], input: &Json) -> Values {
    match arguments {
        [] => alone(run, name, input),
        [one] => with_one(run, name, one, input),
        [one, two] => with_two(run, name, one, two, input),
        _ => unknown(format!("`{name}` with {} arguments", arguments.len())),
    }
}

fn list<'a>(name: &str, input: &'a Json) -> Result<&'a Vec<Json>, JqError> {
    match input {
        Json::Array(items) => Ok(items),
        other => fails(format!("`{name}` wants an array, not {}", kind(other))),
    }
}

fn text<'a>(name: &str, input: &'a Json) -> Result<&'a str, JqError> {
    input.as_str().map_or_else(|| fails(format!("`{name}` wants a string, not {}", kind(input))), Ok)
}

fn float(name: &str, input: &Json) -> Result<f64, JqError> {
    input.as_f64().map_or_else(|| fails(format!("`{name}` wants a number, not {}", kind(input))), Ok)
}

fn alone(run: &mut Run, name: &str, input: &Json) -> Values {
    run.charge(size(input, usize::MAX))?;
    let one = |value: Json| Ok(vec![value]);
    match name {
        "empty" => Ok(Vec::new()),
        "error" => fails(plain(input)),
        "null" => one(Json::Null),
        "true" => one(Json::Bool(true)),
        "false" => one(Json::Bool(false)),
        "not" => one(Json::Bool(!is_true(input))),
        "length" => one(match input {
            Json::Null => Json::from(0),
            Json::String(text) => Json::from(text.chars().count()),
            Json::Array(items) => Json::from(items.len()),
            Json::Object(members) => Json::from(members.len()),
            Json::Number(value) => number(value.as_f64().unwrap_or_default().abs())?,
            Json::Bool(_) => return fails("a boolean has no length"),
        }),
        "keys" | "keys_unsorted" => match input {
            Json::Object(members) => {
                let mut keys: Vec<&String> = members.keys().collect();
                if name == "keys" {
                    keys.sort_unstable();
                }
                one(keys.into_iter().map(|key| Json::from(&**key)).collect())
            }
            Json::Array(items) => one((0..items.len()).map(Json::from).collect()),
            other => fails(format!("{} has no keys", kind(other))),
        },
        "values" | "nulls" | "strings" | "numbers" | "arrays" | "objects" => {
            let is_kept =
                if name == "values" { !input.is_null() } else { name.strip_suffix('s') == Some(kind(input)) };
            Ok(is_kept.then(|| input.clone()).into_iter().collect())
        }
        "type" => one(Json::from(kind(input))),
        "add" => {
            let mut sum = Json::Null;
            for item in run.items(input)? {
                run.charge(size(&sum, usize::MAX).saturating_add(size(&item, usize::MAX)))?;
                sum = arithmetic(&Math::Add, &sum, &item)?;
            }
            one(sum)
        }
        "any" | "all" => {
            let items = list(name, input)?;
            one(Json::Bool(if name == "any" { items.iter().any(is_true) } else { items.iter().all(is_true) }))
        }
        "first" => one(index(input, &Json::from(0))?),
        "last" => one(index(input, &Json::from(-1))?),
        "reverse" => match input {
            Json::Array(items) => one(items.iter().rev().cloned().collect()),
            Json::String(text) => one(Json::String(text.chars().rev().collect())),
            Json::Null => one(Json::Array(Vec::new())),
            other => fails(format!("cannot reverse {}", kind(other))),
        },
        "sort" | "unique" | "min" | "max" => by(run, name, input, |_, item| Ok(item.clone())),
        "flatten" => {
            fn flat(items: &[Json], into: &mut Vec<Json>) {
                for item in items {
                    match item {
                        Json::Array(inner) => flat(inner, into),
                        other => into.push(other.clone()),
                    }
                }
            }
            let mut found = Vec::new();
            flat(list(name, input)?, &mut found);
            one(Json::Array(found))
        }
        "to_entries" => {
            let Json::Object(members) = input else { return fails("`to_entries` wants an object") };
            let entry = |(name, value): (&String, &Json)| serde_json::json!({"key": name, "value": value});
            one(members.iter().map(entry).collect())
        }
        "from_entries" => {
            let mut object = Map::new();
            for entry in list(name, input)? {
                let key = ["key", "k", "name", "Name"].into_iter().find_map(|name| entry.get(name));
                let value = ["value", "v", "Value"].into_iter().find_map(|name| entry.get(name));
                object.insert(plain(key.unwrap_or(&Json::Null)), value.cloned().unwrap_or_default());
            }
            one(Json::Object(object))
        }
        "tostring" => one(Json::String(plain(input))),
        "tojson" => one(Json::String(input.to_string())),
        "tonumber" => match input {
            Json::Number(_) => one(input.clone()),
            Json::String(text) => match text.trim().parse::<f64>() {
                Ok(value) => one(number(value)?),
                Err(_) => fails("a string that is no number"),
            },
            other => fails(format!("{} is no number", kind(other))),
        },
        "floor" => one(number(float(name, input)?.floor())?),
        "ceil" => one(number(float(name, input)?.ceil())?),
        "round" => one(number(float(name, input)?.round())?),
        "fabs" | "abs" => one(number(float(name, input)?.abs())?),
        "ascii_downcase" => one(Json::String(text(name, input)?.to_ascii_lowercase())),
        "ascii_upcase" => one(Json::String(text(name, input)?.to_ascii_uppercase())),
        "trim" => one(Json::from(text(name, input)?.trim())),
        _ => unknown(format!("`{name}`")),
    }
}

fn with_one(run: &mut Run, name: &str, term: &Filter<'_>, input: &Json) -> Values {
    match name {
        "select" => {
            let mut kept = Vec::new();
            for value in run.eval(term, input)? {
                if is_true(&value) {
                    kept.push(run.make(input.clone())?);
                }
            }
            Ok(kept)
        }
        "map" => {
            let items = run.items(input)?;
            Ok(vec![Json::Array(run.flat_map(&items, |run, item| run.eval(term, item))?)])
        }
        "map_values" => {
            let Json::Object(members) = input else { return fails("`map_values` wants an object") };
            let mut object = Map::new();
            for (name, member) in members {
                if let Some(value) = run.eval(term, member)?.into_iter().next() {
                    object.insert(name.clone(), value);
                }
            }
            Ok(vec![Json::Object(object)])
        }
        "with_entries" => {
            let entries = alone(run, "to_entries", input)?;
            let entries = entries.first().and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
            let found = run.flat_map(entries, |run, entry| run.eval(term, entry))?;
            alone(run, "from_entries", &Json::Array(found))
        }
        "any" | "all" => {
            let items = run.items(input)?;
            any_or_all(run, name, &items, term)
        }
        "first" => Ok(run.eval(term, input)?.into_iter().take(1).collect()),
        "last" => Ok(run.eval(term, input)?.into_iter().next_back().into_iter().collect()),
        "sort_by" | "group_by" | "unique_by" | "min_by" | "max_by" => {
            let plain_name = name.trim_end_matches("_by");
            by(run, plain_name, input, |run, item| Ok(Json::Array(run.eval(term, item)?)))
        }
        "add" => {
            let values = run.eval(term, input)?;
            alone(run, "add", &Json::Array(values))
        }
        "range" => {
            let to = run.eval(term, input)?.first().and_then(Json::as_f64).unwrap_or(0.0);
            range(run, 0.0, to)
        }
        "recurse" => unknown("`recurse` with an argument"),
        "error" => {
            let what = run.eval(term, input)?;
            fails(what.first().map(plain).unwrap_or_default())
        }
        _ => {
            let arguments = run.eval(term, input)?;
            run.flat_map(&arguments, |run, argument| {
                let (one, other) = (size(input, usize::MAX), size(argument, usize::MAX));
                // `contains` may compare every pair.
                let is_pairwise = matches!(name, "contains" | "inside");
                run.charge(if is_pairwise { one.saturating_mul(other) } else { one + other })?;
                Ok(vec![with_value(name, input, argument)?])
            })
        }
    }
}

/// Functions of an input and the value of their argument.
fn with_value(name: &str, input: &Json, argument: &Json) -> Result<Json, JqError> {
    Ok(match name {
        "has" => match (input, argument) {
            (Json::Object(members), Json::String(name)) => Json::Bool(members.contains_key(name)),
            (Json::Array(items), Json::Number(at)) => {
                Json::Bool(at.as_u64().is_some_and(|at| at < items.len() as u64))
            }
            _ => return fails("`has` wants an object and a string"),
        },
        "contains" => Json::Bool(contains(input, argument)),
        "inside" => Json::Bool(contains(argument, input)),
        "index" => text(name, input)?.find(text(name, argument)?).map_or(Json::Null, Json::from),
        "startswith" => Json::Bool(text(name, input)?.starts_with(text(name, argument)?)),
        "endswith" => Json::Bool(text(name, input)?.ends_with(text(name, argument)?)),
        "ltrimstr" | "rtrimstr" => match (input.as_str(), argument.as_str()) {
            (Some(whole), Some(part)) => {
                let cut =
                    if name == "ltrimstr" { whole.strip_prefix(part) } else { whole.strip_suffix(part) };
                Json::from(cut.unwrap_or(whole))
            }
            _ => input.clone(),
        },
        "split" => text(name, input)?.split(text(name, argument)?).map(Json::from).collect(),
        "join" => {
            let parts = list(name, input)?.iter().map(|item| match item {
                Json::Null => String::new(),
                other => plain(other),
            });
            Json::String(parts.collect::<Vec<_>>().join(text(name, argument)?))
        }
        "nth" => index(input, argument)?,
        // Regular expressions are left out; a plain text is looked for as it is.
        "test" => Json::Bool(text(name, input)?.contains(plain_pattern(text(name, argument)?)?)),
        _ => return unknown(format!("`{name}`")),
    })
}

fn plain_pattern(pattern: &str) -> Result<&str, JqError> {
    if pattern.contains(['\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}']) {
        return unknown("a regular expression");
    }
    Ok(pattern)
}

fn contains(whole: &Json, part: &Json) -> bool {
    match (whole, part) {
        (Json::String(whole), Json::String(part)) => whole.contains(&**part),
        (Json::Array(whole), Json::Array(part)) => {
            part.iter().all(|part| whole.iter().any(|item| contains(item, part)))
        }
        (Json::Object(whole), Json::Object(part)) => {
            part.iter().all(|(name, part)| whole.get(name).is_some_and(|member| contains(member, part)))
        }
        (whole, part) => compare(whole, part).is_eq(),
    }
}

fn with_two(run: &mut Run, name: &str, one: &Filter<'_>, two: &Filter<'_>, input: &Json) -> Values {
    match name {
        "limit" => {
            let count = run.eval(one, input)?.first().and_then(Json::as_u64).unwrap_or(0);
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            Ok(run.eval(two, input)?.into_iter().take(count).collect())
        }
        "range" => {
            let from = run.eval(one, input)?.first().and_then(Json::as_f64).unwrap_or(0.0);
            let to = run.eval(two, input)?.first().and_then(Json::as_f64).unwrap_or(0.0);
            range(run, from, to)
        }
        "any" | "all" => {
            let items = run.eval(one, input)?;
            any_or_all(run, name, &items, two)
        }
        "test" => {
            let flags = run.eval(two, input)?;
            let blind = flags.first().and_then(Json::as_str).is_some_and(|flags| flags.contains('i'));
            let pattern = run.eval(one, input)?;
            let Some(pattern) = pattern.first().and_then(Json::as_str) else {
                return fails("`test` wants a string");
            };
            let (whole, part) = (text(name, input)?, plain_pattern(pattern)?);
            run.charge(whole.len() + part.len())?;
            let found = if blind {
                whole.to_lowercase().contains(&part.to_lowercase())
            } else {
                whole.contains(part)
            };
            Ok(vec![Json::Bool(found)])
        }
        _ => unknown(format!("`{name}` with two arguments")),
    }
}

/// Evaluates a condition on the items. Yields true if any output (`any`) or every output (`all`) is true.
fn any_or_all(run: &mut Run, name: &str, items: &[Json], condition: &Filter<'_>) -> Values {
    let outputs = run.flat_map(items, |run, item| run.eval(condition, item))?;
    let is_any = name == "any";
    Ok(vec![Json::Bool(if is_any { outputs.iter().any(is_true) } else { outputs.iter().all(is_true) })])
}

fn range(run: &mut Run, from: f64, to: f64) -> Values {
    let mut found = Vec::new();
    let mut at = from;
    while at < to {
        run.charge(1)?;
        found.push(number(at)?);
        at += 1.0;
    }
    Ok(found)
}

/// Sorts, groups, or takes the ends of a list by keys.
fn by(
    run: &mut Run,
    name: &str,
    input: &Json,
    key: impl Fn(&mut Run, &Json) -> Result<Json, JqError>,
) -> Values {
    let mut keyed = Vec::new();
    for item in list(name, input)? {
        run.charge(size(item, usize::MAX))?;
        keyed.push((key(run, item)?, item.clone()));
    }
    // An upper bound of the comparisons, each of which reads its keys.
    let rounds = usize::BITS as usize - keyed.len().leading_zeros() as usize;
    let keys: usize = keyed.iter().map(|(key, _)| size(key, usize::MAX)).sum();
    run.charge(keys.saturating_mul(rounds.max(1)))?;
    keyed.sort_by(|(a, _), (b, _)| compare(a, b));
    let same = |a: &(Json, Json), b: &(Json, Json)| compare(&a.0, &b.0) == Ordering::Equal;
    Ok(vec![match name {
        "sort" => keyed.into_iter().map(|(_, item)| item).collect(),
        "unique" => {
            keyed.dedup_by(|b, a| same(a, b));
            keyed.into_iter().map(|(_, item)| item).collect()
        }
        "group" => {
            let groups = keyed.chunk_by(same);
            groups.map(|group| group.iter().map(|(_, item)| item.clone()).collect::<Json>()).collect()
        }
        "min" => keyed.into_iter().next().map(|(_, item)| item).unwrap_or_default(),
        "max" => keyed.into_iter().next_back().map(|(_, item)| item).unwrap_or_default(),
        _ => return unknown(format!("`{name}`")),
    }])
}
