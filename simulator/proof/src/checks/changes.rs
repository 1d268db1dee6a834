//! Computes the expected changes of each goal, and the fields that a solution may change back.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{RecordChange, net};
use diorama_seeds::model::{ResourceId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{Allowance, ChangeCheck, ChangeKind, KeyCheck, Matcher};
use diorama_seeds::value::Value;

/// Returns the net changes of each goal's calls.
#[must_use]
pub fn changed_by_goal(goals: &[&[Arc<LogEntry>]]) -> Vec<Vec<RecordChange>> {
    goals.iter().map(|log| net(log.iter().flat_map(|entry| &entry.changes))).collect()
}

/// Returns the expected changes of each goal, with the keys of new records as numbers that hold in all goals.
#[must_use]
pub fn change_checks(world: &World, goals: &[Vec<RecordChange>]) -> Vec<ChangeCheck> {
    numbered(world, goals, &new_keys(goals.iter().flatten()))
}

/// Returns the same with the numbering of checks of version 2: new records of the whole difference come
/// first.
#[must_use]
pub fn older_change_checks(
    world: &World,
    goals: &[Vec<RecordChange>],
    whole: &[RecordChange],
) -> Vec<ChangeCheck> {
    let mut numbers = new_keys(whole.iter());
    for change in goals.iter().flatten().filter(|change| change.before.is_none()) {
        let next = numbers.len() as u32;
        numbers.entry((change.resource, change.key.clone())).or_insert(next);
    }
    numbered(world, goals, &numbers)
}

fn numbered(
    world: &World,
    goals: &[Vec<RecordChange>],
    new_keys: &HashMap<(ResourceId, Value), u32>,
) -> Vec<ChangeCheck> {
    let of_goal = |(changes, goal): (&Vec<RecordChange>, u32)| {
        let checks = changes.iter().map(|change| change_check(world, change, goal, new_keys));
        checks.collect::<Vec<_>>()
    };
    goals.iter().zip(0..).flat_map(of_goal).collect()
}

fn change_check(
    world: &World,
    change: &RecordChange,
    goal: u32,
    new_keys: &HashMap<(ResourceId, Value), u32>,
) -> ChangeCheck {
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
            let matcher = field_matcher(world, &field.schema.kind, field.free_text, value, new_keys);
            fields.insert(field.name.to_string(), matcher);
        }
    }
    ChangeCheck { resource: resource.qualified.to_string(), kind, key, fields, goal }
}

/// Numbers the new records, in the order of their goals.
pub(super) fn new_keys<'a>(
    changes: impl Iterator<Item = &'a RecordChange>,
) -> HashMap<(ResourceId, Value), u32> {
    let created = changes.filter(|change| change.before.is_none());
    created.zip(0..).map(|(change, number)| ((change.resource, change.key.clone()), number)).collect()
}

/// Returns the fields that the reference solution changes and changes back within a goal, at the user's wish.
pub(super) fn allowances(world: &World, goals: &[&[Arc<LogEntry>]]) -> Vec<Allowance> {
    let mut found: Vec<Allowance> = Vec::new();
    for log in goals {
        let mut history: HashMap<(ResourceId, &Value, usize), Vec<&Value>> = HashMap::new();
        for change in log.iter().flat_map(|entry| &entry.changes) {
            let (Some(before), Some(after)) = (&change.before, &change.after) else { continue };
            let fields = before.iter().zip(after.iter()).enumerate();
            for (index, (old, new)) in fields.filter(|(_, (old, new))| old != new) {
                let values =
                    history.entry((change.resource, &change.key, index)).or_insert_with(|| vec![old]);
                if values.contains(&new) {
                    let resource = world.resource(change.resource);
                    let Some(field) = resource.fields.get(index) else { continue };
                    let (resource, field) = (resource.qualified.to_string(), field.name.to_string());
                    let allowance = Allowance { resource, field };
                    if !found.contains(&allowance) {
                        found.push(allowance);
                    }
                }
                values.push(new);
            }
        }
    }
    found
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
