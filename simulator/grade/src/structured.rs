//! Structured endings: whether given facts are the expected ones, and whether a refusal is about what was asked for.
//!
//! Values are compared by type; prose is not read.

use diorama_seeds::ending::{self, ItemValue, Kind};
use diorama_seeds::english::{MONTHS, fold, has_words};
use diorama_seeds::model::{Record, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{Evidence, Fact, GoalCheck};
use diorama_seeds::value::{Date, Time, Value, Zone};
use serde_json::Value as Json;

use super::evidence::parsed;
use diorama_engine::Base;

/// Decimal places from which a given number may be the rounded one.
const ROUNDED: u32 = 2;
/// An `about` of more characters is no id or name.
const LONGEST_ABOUT: usize = 120;
/// References that are followed from a record to the names of what it is about: a loan's copy, and the copy's book.
const MAX_REFERENCES: u8 = 2;
/// Words that may stand around the id or name that an `about` gives: `the loan of Elio Dupond, LN-52823`.
const MAX_WORDS_AROUND_SUBJECT: usize = 6;

/// Whether a given value is a fact.
pub(super) fn states(fact: &Fact, given: &Json, zone: &Zone) -> bool {
    match fact {
        Fact::Number { value, tolerance, magnitude, .. } => {
            is_number(*value, *tolerance, given) || (*magnitude && is_number(-*value, *tolerance, given))
        }
        Fact::Money { minor, scale, magnitude, .. } => {
            let scale = u32::from(*scale);
            given.as_f64().is_some_and(|given| {
                let (given, minor) =
                    if *magnitude { (given.abs(), &minor.saturating_abs()) } else { (given, minor) };
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
        Fact::List { items } => {
            let Json::Array(given) = given else { return false };
            states_set(&items.iter().collect::<Vec<_>>(), given, zone)
        }
    }
}

/// Returns true if the given values are those of a set: each value is given, and no other. A value that several items
/// share may be given once, or once for each of them.
fn states_set(items: &[&Fact], given: &[Json], zone: &Zone) -> bool {
    given.len() <= items.len()
        && items.iter().all(|item| given.iter().any(|given| states(item, given, zone)))
        && given.iter().all(|given| items.iter().any(|item| states(item, given, zone)))
}

/// A fact that is asked for, and how its values are given.
#[derive(Debug)]
pub(crate) struct AskedFact {
    /// The name that it is given by.
    pub(super) name: String,
    form: Form,
    /// Its values.
    pub(super) items: Vec<AskedValue>,
}

/// A value, and the folded names of the item that it belongs to.
#[derive(Debug)]
pub(crate) struct AskedValue {
    pub(super) fact: Fact,
    names: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    One,
    List,
    Map,
}

impl AskedFact {
    /// The facts that the checks of a goal ask for.
    pub(super) fn of_goal(goal: &GoalCheck) -> Vec<Self> {
        let named = ending::named(goal).into_iter().filter(|fact| !fact.checks.is_empty());
        let asked = named.map(|fact| {
            let checks = fact.checks.iter().filter_map(|at| goal.answer.get(*at));
            let value = |item: ItemValue<'_>| AskedValue {
                fact: item.fact.clone(),
                names: item.names.iter().map(|name| fold(name)).collect(),
            };
            let items = checks.flat_map(ending::item_values).map(value).collect();
            let form = match fact.ask.kind {
                Kind::Map(_) => Form::Map,
                Kind::List(_) => Form::List,
                _ => Form::One,
            };
            Self { name: fact.name, form, items }
        });
        asked.collect()
    }

    /// Returns true if the agent gave this fact. `wanted` are its values, with the values that the world made put in.
    pub(super) fn is_given(&self, wanted: &[Fact], given: &Json, zone: &Zone) -> bool {
        match (self.form, given) {
            (Form::One, given) => wanted.first().is_some_and(|fact| states(fact, given, zone)),
            (Form::List, Json::Array(given)) => states_set(&wanted.iter().collect::<Vec<_>>(), given, zone),
            (Form::Map, Json::Object(given)) => {
                let mut open = vec![true; wanted.len()];
                given.len() == wanted.len()
                    && given.iter().all(|(key, given)| {
                        let Some(at) = self.item_named(key) else { return false };
                        std::mem::take(&mut open[at]) && states(&wanted[at], given, zone)
                    })
            }
            _ => false,
        }
    }

    /// The item that a key of a map names: by one of its names, else by whole words of one, as no other item has them.
    fn item_named(&self, key: &str) -> Option<usize> {
        if key.chars().count() > LONGEST_ABOUT {
            return None;
        }
        let key = fold(key);
        let exact = self.items.iter().position(|item| item.names.contains(&key));
        exact.or_else(|| {
            let near = |name: &String| has_words(&key, name) || has_words(name, &key);
            let mut named = (0..self.items.len()).filter(|at| self.items[*at].names.iter().any(near));
            named.next().filter(|_| named.next().is_none())
        })
    }
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
                add_names(resource, &key, base, MAX_REFERENCES, found);
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
    match value {
        Value::Date(date) => found.extend(spoken(*date)),
        Value::DateTime(instant) => found.extend(spoken(base.world().zone.date_of(*instant))),
        _ => {}
    }
    if let Type::Reference { resource, .. } = kind {
        add_names(*resource, value, base, MAX_REFERENCES, found);
    }
}

/// A day as people name it.
fn spoken(date: Date) -> [String; 2] {
    let civil = date.civil();
    let month = fold(MONTHS[(civil.month() as usize - 1) % 12]);
    [format!("{} {month}", civil.day()), format!("{month} {}", civil.day())]
}

/// The texts of a record, one of which is its name, and those of the records that it refers to: the book of a loan.
fn add_names(resource: ResourceId, key: &Value, base: &Base, references: u8, found: &mut Vec<String>) {
    let declared = base.world().resource(resource);
    let own = |record: &&Record| record.get(declared.key.index()) == Some(key);
    let Some(record) = declared.records.iter().find(own) else { return };
    for (field, value) in declared.fields.iter().zip(record.iter()) {
        match &field.schema.kind {
            Type::String => found.extend(value.as_str().map(fold)),
            Type::Reference { resource, .. } if references > 0 => {
                add_names(*resource, value, base, references - 1, found);
            }
            _ => {}
        }
    }
}

/// Returns true if an `about` names one of the subjects: it is one, or has one in it as whole words, with few others around it.
pub(super) fn is_about(given: &str, subjects: &[String]) -> bool {
    if given.chars().count() > LONGEST_ABOUT {
        return false;
    }
    let given = fold(given);
    let words = |text: &str| text.split_whitespace().count();
    let names = |subject: &&String| {
        has_words(&given, subject) && words(&given) <= words(subject) + MAX_WORDS_AROUND_SUBJECT
    };
    subjects.iter().any(|subject| names(&subject))
}
