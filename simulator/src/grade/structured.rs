//! Structured endings: whether given facts are the expected ones, and whether a refusal is about what was asked for.
//!
//! Values are compared by type; prose is not read.

use diorama_seeds::english::fold;
use diorama_seeds::model::{Record, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{Evidence, Fact};
use diorama_seeds::value::{Date, Time, Value, Zone};
use serde_json::Value as Json;

use super::evidence::parsed;
use crate::engine::Base;

/// Decimal places from which a given number may be the rounded one.
const ROUNDED: u32 = 2;
/// An `about` of more characters is no id or name.
const LONGEST_ABOUT: usize = 120;

/// Whether a given value is a fact.
pub(super) fn states(fact: &Fact, given: &Json, zone: &Zone) -> bool {
    match fact {
        Fact::Number { value, tolerance, .. } => is_number(*value, *tolerance, given),
        Fact::Money { minor, scale, .. } => {
            let scale = u32::from(*scale);
            given.as_f64().is_some_and(|given| {
                (given * 10_f64.powi(scale as i32) - *minor as f64).abs() < 1e-6_f64.max(given.abs() * 1e-9)
            })
        }
        Fact::Count { value } => given.as_u64() == Some(*value),
        Fact::Boolean { value, .. } => given.as_bool() == Some(*value),
        Fact::Date { value } => {
            given.as_str().and_then(Date::parse).is_some_and(|day| Date::parse(value) == Some(day))
        }
        Fact::Time { value } => {
            given.as_str().and_then(Time::parse).is_some_and(|time| Time::parse(value) == Some(time))
        }
        Fact::DateTime { value } => {
            let moment = |text: &str| zone.parse_instant(text.trim());
            given.as_str().and_then(moment).is_some_and(|given| moment(value) == Some(given))
        }
        Fact::Entity { value, aliases, .. } => {
            let given = match given {
                Json::String(given) => fold(given),
                Json::Number(given) => given.to_string(),
                _ => return false,
            };
            let spaced = |text: &str| fold(&text.replace('_', " "));
            let given_spaced = spaced(&given);
            std::iter::once(value)
                .chain(aliases)
                .any(|known| fold(known) == given || spaced(known) == given_spaced)
        }
        // Resolved before it is compared.
        Fact::Made { .. } => false,
        Fact::List { items, ordered } => {
            let Json::Array(given) = given else { return false };
            items.len() == given.len()
                && if *ordered {
                    items.iter().zip(given).all(|(item, given)| states(item, given, zone))
                } else {
                    all_stated(items, given, zone)
                }
        }
    }
}

/// Whether each item has a given value of its own.
fn all_stated(items: &[Fact], given: &[Json], zone: &Zone) -> bool {
    let mut free: Vec<&Json> = given.iter().collect();
    items.iter().all(|item| {
        let at = free.iter().position(|given| states(item, given, zone));
        at.is_some_and(|at| {
            free.swap_remove(at);
            true
        })
    })
}

/// Equal, within the tolerance, or equal after rounding to the decimals given, of which there are two at least.
fn is_number(value: f64, tolerance: f64, given: &Json) -> bool {
    let Some(number) = given.as_f64() else { return false };
    if (number - value).abs() <= tolerance.max(value.abs() * 1e-9) {
        return true;
    }
    let decimals = given.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len() as u32);
    (ROUNDED..15).contains(&decimals)
        && (number - value).abs() <= 0.5 * 10_f64.powi(-(decimals as i32)) + value.abs() * 1e-9
}

/// What a refusal may be said to be about: the values of the arguments that it rests on, and the names of the records
/// that they are keys of. Empty where it rests on no argument.
pub(super) fn subjects(evidence: &[Evidence], base: &Base) -> Vec<String> {
    let mut found = Vec::new();
    evidence.iter().for_each(|evidence| add_subjects(evidence, base, &mut found));
    found.sort_unstable();
    found.dedup();
    found
}

fn add_subjects(evidence: &Evidence, base: &Base, found: &mut Vec<String>) {
    let world = base.world();
    match evidence {
        Evidence::Refused { api, arguments, .. } | Evidence::Empty { api, arguments } => {
            let Some(declared) = world.api_named(api).map(|id| world.api(id)) else { return };
            for (id, value) in parsed(api, arguments, world) {
                add_value(&value, &declared.parameters[id.index()].schema.kind, base, found);
            }
        }
        Evidence::Leaf { resource, key, .. } => {
            let Some(resource) = world.resource_named(resource) else { return };
            found.push(fold(key));
            let declared = world.resource(resource);
            let key = declared.field(declared.key).schema.parse_text(key, &world.zone);
            if let Ok(key) = key {
                add_names(resource, &key, base, found);
            }
        }
        Evidence::All { of } => of.iter().for_each(|part| add_subjects(part, base, found)),
        Evidence::New { .. } | Evidence::Computed { .. } => {}
    }
}

fn add_value(value: &Value, kind: &Type, base: &Base, found: &mut Vec<String>) {
    if let (Value::List(items), Type::List(of)) = (value, kind) {
        items.iter().for_each(|item| add_value(item, &of.kind, base, found));
        return;
    }
    found.push(fold(&value.to_text(&base.world().zone)));
    if let Type::Reference { resource, .. } = kind {
        add_names(*resource, value, base, found);
    }
}

/// The texts of a record: one of them is its name.
fn add_names(resource: ResourceId, key: &Value, base: &Base, found: &mut Vec<String>) {
    let declared = base.world().resource(resource);
    let own = |record: &&Record| record.get(declared.key.index()) == Some(key);
    let Some(record) = declared.records.iter().find(own) else { return };
    let texts = declared
        .fields
        .iter()
        .zip(record.iter())
        .filter(|(field, _)| matches!(field.schema.kind, Type::String));
    found.extend(texts.filter_map(|(_, value)| value.as_str()).map(fold));
}

/// Whether an `about` names one of the subjects: it is one, or has one in it as whole words.
pub(super) fn is_about(given: &str, subjects: &[String]) -> bool {
    if given.chars().count() > LONGEST_ABOUT {
        return false;
    }
    let given = fold(given);
    subjects.iter().filter(|subject| !subject.is_empty()).any(|subject| {
        given.match_indices(subject.as_str()).any(|(start, _)| {
            let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let before = given.get(..start).unwrap_or_default().chars().next_back();
            let after = given.get(start + subject.len()..).unwrap_or_default().chars().next();
            !goes_on(before) && !goes_on(after)
        })
    })
}
