//! Checks from a solved task: what changed, what was asked, and what each fact rests on.
//!
//! Built from engine facts (the state difference and the provenance of reply leaves), never from the answer's words.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use diorama_seeds::model::{ResourceId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{
    AnswerCheck, CHECKS_VERSION, ChangeCheck, ChangeKind, Checks, Evidence, Fact, KeyCheck, Matcher, Outcome,
    RefusalClass, Variant,
};
use diorama_seeds::value::Value;
use diorama_simulator::engine::{Body, Origin, RecordChange};
use diorama_simulator::session::LogEntry;
use serde_json::Value as Json;

use super::binding::{each, leaf_schema};
use super::draft::Asked;
use super::say;

/// An answer may state so many facts beside those asked for.
const MOST_CONTEXT: usize = 40;

/// Builds the checks of a solved task; `asked` counts gold calls.
///
/// `None` when a fact that was asked for has no typed form (a nested object).
#[must_use]
pub fn build(
    world: &World,
    changes: &[RecordChange],
    asked: &[Asked],
    entries: &[Arc<LogEntry>],
    outcome: Outcome,
    refusal: Option<RefusalClass>,
) -> Option<Checks> {
    let mut answer = Vec::new();
    for wanted in asked {
        answer.push(answer_check(world, wanted, entries)?);
    }
    let mut evidence = Vec::new();
    if refusal.is_some() {
        let last = entries.last()?;
        evidence.push(Evidence::Refused { api: last.call.api.clone(), status: last.reply.status });
    }
    let variant = Variant {
        outcome,
        refusal: refusal.into_iter().collect(),
        changes: change_checks(world, changes),
        answer,
        evidence,
        context: context(world, entries),
    };
    Some(Checks { version: CHECKS_VERSION, variants: vec![variant], allowed: Vec::new() })
}

/// The expected changes, with new keys as numbers.
#[must_use]
pub fn change_checks(world: &World, changes: &[RecordChange]) -> Vec<ChangeCheck> {
    let mut new_keys: HashMap<(ResourceId, Value), u32> = HashMap::new();
    for change in changes.iter().filter(|change| change.before.is_none()) {
        let number = new_keys.len() as u32;
        new_keys.insert((change.resource, change.key.clone()), number);
    }
    changes
        .iter()
        .map(|change| {
            let resource = world.resource(change.resource);
            let key = match new_keys.get(&(change.resource, change.key.clone())) {
                Some(number) => KeyCheck::New(*number),
                None => KeyCheck::Key(change.key.to_json(&world.zone)),
            };
            let kind = match (&change.before, &change.after) {
                (None, _) => ChangeKind::Created,
                (_, None) => ChangeKind::Deleted,
                _ => ChangeKind::Updated,
            };
            let mut fields = BTreeMap::new();
            if let Some(after) = &change.after {
                for (index, field) in resource.fields.iter().enumerate() {
                    let before = change.before.as_ref().and_then(|before| before.get(index));
                    let Some(value) = after.get(index) else { continue };
                    if index == resource.key.index() || field.generated || before == Some(value) {
                        continue;
                    }
                    let matcher = field_matcher(world, &field.schema.kind, field.free_text, value, &new_keys);
                    fields.insert(field.name.to_string(), matcher);
                }
            }
            ChangeCheck { resource: resource.qualified.to_string(), kind, key, fields }
        })
        .collect()
}

fn field_matcher(
    world: &World,
    kind: &Type,
    free_text: bool,
    value: &Value,
    new_keys: &HashMap<(ResourceId, Value), u32>,
) -> Matcher {
    let new = |kind: &Type, value: &Value| match kind {
        Type::Reference { resource, .. } => new_keys.get(&(*resource, value.clone())).copied(),
        _ => None,
    };
    if let Some(number) = new(kind, value) {
        return Matcher::New(number);
    }
    match (value, kind) {
        (Value::Absent, _) => Matcher::Absent,
        (Value::String(text), _) if free_text => Matcher::Text(text.to_string()),
        (Value::List(items), Type::List(item))
            if items.iter().any(|value| new(&item.kind, value).is_some()) =>
        {
            Matcher::ListWithNew(
                items
                    .iter()
                    .map(|value| match new(&item.kind, value) {
                        Some(number) => serde_json::json!({ "new": number }),
                        None => value.to_json(&world.zone),
                    })
                    .collect(),
            )
        }
        _ => Matcher::Equals(value.to_json(&world.zone)),
    }
}

fn answer_check(world: &World, asked: &Asked, entries: &[Arc<LogEntry>]) -> Option<AnswerCheck> {
    match asked {
        Asked::Leaf { step, path, about } => {
            let entry = entries.get(*step)?;
            let leaf = entry.reply.body.at(path)?;
            Some(AnswerCheck {
                about: about.clone(),
                fact: fact(world, leaf)?,
                evidence: vec![evidence(world, entry, path, leaf)?],
            })
        }
        Asked::Each { step, array, member, about } => {
            let entry = entries.get(*step)?;
            let items = each(&entry.reply.body, array, member)?;
            let facts: Option<Vec<Fact>> = items.iter().map(|leaf| fact(world, leaf)).collect();
            let of: Option<Vec<Evidence>> =
                items.iter().map(|leaf| evidence(world, entry, array, leaf)).collect();
            Some(AnswerCheck {
                about: about.clone(),
                fact: Fact::List { items: facts?, ordered: false },
                evidence: vec![Evidence::All { of: of? }],
            })
        }
        Asked::Count { step, path, about } => {
            let entry = entries.get(*step)?;
            let leaf = entry.reply.body.at(path)?;
            let value = leaf.value()?.as_f64()?;
            Some(AnswerCheck {
                about: about.clone(),
                fact: Fact::Count { value: value as u64 },
                evidence: vec![evidence(world, entry, path, leaf)?],
            })
        }
    }
}

/// The fact that a leaf states; `None` for nested objects and missing values.
#[must_use]
pub fn fact(world: &World, leaf: &Body) -> Option<Fact> {
    let Body::Leaf(value, origin) = leaf else { return None };
    let schema = leaf_schema(origin, world);
    let unit = schema.unit.as_ref().map(ToString::to_string);
    Some(match value {
        Value::Integer(number) => Fact::Number { value: *number as f64, unit, tolerance: 0.0 },
        Value::Number(number) => Fact::Number { value: *number, unit, tolerance: 0.0 },
        Value::Decimal(decimal) => match &schema.kind {
            Type::Decimal { currency: Some(currency), .. } => {
                Fact::Money { minor: decimal.minor, scale: decimal.scale, currency: currency.to_string() }
            }
            _ => Fact::Number { value: decimal.as_f64(), unit, tolerance: 0.0 },
        },
        Value::Date(date) => Fact::Date { value: date.to_string() },
        Value::Time(time) => Fact::Time { value: time.to_string() },
        Value::DateTime(_) => Fact::DateTime { value: value.to_text(&world.zone) },
        Value::String(text) => {
            let (of, aliases) = match origin {
                Origin::Field { resource, field, .. } => {
                    let described = world.resource(*resource);
                    let field = described.field(*field);
                    let mut aliases: Vec<String> =
                        field.synonyms.get(text).into_iter().flatten().map(ToString::to_string).collect();
                    // Days are told in the plural too: closed on Wednesdays.
                    if say::WEEKDAYS.contains(&&**text) {
                        aliases.push(format!("{text}s"));
                    }
                    if text.contains('_') {
                        aliases.push(text.replace('_', " "));
                    }
                    (Some((described.qualified.to_string(), field.name.to_string())), aliases)
                }
                Origin::Computed | Origin::Constant => (None, Vec::new()),
            };
            Fact::Entity { value: text.to_string(), aliases, of }
        }
        Value::Bool(value) => Fact::Boolean { value: *value, when_true: Vec::new(), when_false: Vec::new() },
        Value::Absent | Value::Null | Value::List(_) | Value::Object(_) => return None,
    })
}

fn evidence(world: &World, entry: &LogEntry, path: &str, leaf: &Body) -> Option<Evidence> {
    let Body::Leaf(value, origin) = leaf else { return None };
    Some(match origin {
        Origin::Field { resource, key, field } => {
            let described = world.resource(*resource);
            Evidence::Leaf {
                resource: described.qualified.to_string(),
                key: key.to_text(&world.zone),
                field: described.field(*field).name.to_string(),
            }
        }
        Origin::Computed => Evidence::Computed {
            api: entry.call.api.clone(),
            path: path.to_owned(),
            value: value.to_text(&world.zone),
        },
        Origin::Constant => return None,
    })
}

/// What an answer may mention besides: the other leaves of the last reply.
fn context(world: &World, entries: &[Arc<LogEntry>]) -> Vec<Fact> {
    let Some(last) = entries.iter().rev().find(|entry| entry.reply.is_success()) else { return Vec::new() };
    let mut facts: Vec<Fact> = Vec::new();
    for (_, value, origin) in last.reply.body.leaves() {
        if facts.len() >= MOST_CONTEXT {
            break;
        }
        let leaf = Body::Leaf(value.clone(), origin.clone());
        if let Some(fact) = fact(world, &leaf)
            && !facts.contains(&fact)
        {
            facts.push(fact);
        }
    }
    facts
}

/// The JSON of checks, for the row.
#[must_use]
pub fn to_json(checks: &Checks) -> String {
    serde_json::to_string(checks).unwrap_or_else(|_| Json::Null.to_string())
}
