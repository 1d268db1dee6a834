//! Changes: compares the changes of an episode with the expected ones, and finds damage.

mod damage;
mod field;
mod matching;

use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_seeds::model::{FieldId, Record, ResourceId, World};
use diorama_seeds::task::{Allowance, ChangeCheck, ChangeKind, KeyCheck};
use diorama_seeds::value::Value;

use self::field::Test;
use crate::errors::{ChangeError, ErrorClass, GradeError};
use diorama_engine::session::LogEntry;
use diorama_engine::{RecordChange, net};

/// The expected changes, with names resolved and values parsed.
#[derive(Debug, Default)]
pub(crate) struct ExpectedChanges {
    pub(crate) checks: Vec<Check>,
    /// The resource of each new record, by number.
    pub(crate) created: Vec<(u32, ResourceId)>,
}

/// One expected change.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) resource: ResourceId,
    pub(crate) kind: ChangeKind,
    pub(crate) key: Key,
    pub(crate) fields: Vec<(FieldId, Test)>,
    /// Index of the goal that asks for the change.
    pub(crate) goal: u32,
}

/// Identifies the changed record.
#[derive(Debug, PartialEq)]
pub(crate) enum Key {
    Is(Value),
    New(u32),
}

/// The fields that may change without being asked for.
#[derive(Debug, Default)]
pub(crate) struct AllowedFields(Vec<(ResourceId, FieldId)>);

impl ExpectedChanges {
    /// Resolves names and parses values by their fields' types.
    pub(crate) fn new(checks: &[ChangeCheck], world: &World) -> Result<Self, ChangeError> {
        let mut ready = Vec::with_capacity(checks.len());
        let mut created: Vec<(u32, ResourceId)> = Vec::new();
        for check in checks {
            let resource = world
                .resource_named(&check.resource)
                .ok_or_else(|| ChangeError::Resource(check.resource.clone()))?;
            let declared = world.resource(resource);
            let key = match &check.key {
                KeyCheck::Key(json) => {
                    let schema = &declared.field(declared.key).schema;
                    let name = declared.field(declared.key).name.to_string();
                    Key::Is(schema.parse_json(json, &world.zone).map_err(|error| {
                        ChangeError::Value(check.resource.clone(), name, json.to_string(), error.to_string())
                    })?)
                }
                KeyCheck::New(number) => {
                    let known = created.iter().any(|(known, _)| known == number);
                    match (check.kind, known) {
                        (ChangeKind::Created, true) => return Err(ChangeError::Twice(*number)),
                        (ChangeKind::Created, false) => created.push((*number, resource)),
                        (_, true) => {}
                        // Checks are sorted by goal, so a change that refers to a record of a later goal
                        // fails here.
                        (_, false) => return Err(ChangeError::Unknown(*number)),
                    }
                    Key::New(*number)
                }
            };
            let mut fields = Vec::with_capacity(check.fields.len());
            for (name, matcher) in &check.fields {
                let field = declared
                    .field_named(name)
                    .ok_or_else(|| ChangeError::Field(check.resource.clone(), name.clone()))?;
                fields.push((field, Test::new(matcher, check, name, world, resource, field)?));
            }
            match check.kind {
                ChangeKind::Updated if fields.is_empty() => {
                    return Err(ChangeError::Kind(
                        "an updated change without fields expects nothing; name the changed fields",
                    ));
                }
                ChangeKind::Deleted if !fields.is_empty() => {
                    return Err(ChangeError::Kind(
                        "a deleted record has no fields to compare; leave them out",
                    ));
                }
                _ => {}
            }
            ready.push(Check { resource, kind: check.kind, key, fields, goal: check.goal });
        }
        let mentioned = ready.iter().flat_map(|check| &check.fields).flat_map(|(_, test)| test.references());
        for number in mentioned {
            if !created.iter().any(|(known, _)| *known == number) {
                return Err(ChangeError::Unknown(number));
            }
        }
        Ok(Self { checks: ready, created })
    }
}

impl AllowedFields {
    pub(crate) fn new(allowed: &[Allowance], world: &World) -> Result<Self, ChangeError> {
        let ready = allowed.iter().map(|allowance| {
            let resource = world
                .resource_named(&allowance.resource)
                .ok_or_else(|| ChangeError::Resource(allowance.resource.clone()))?;
            let field = world
                .resource(resource)
                .field_named(&allowance.field)
                .ok_or_else(|| ChangeError::Field(allowance.resource.clone(), allowance.field.clone()))?;
            Ok((resource, field))
        });
        ready.collect::<Result<_, _>>().map(Self)
    }

    /// Returns true if a field may change.
    fn covers(&self, resource: ResourceId, field: FieldId) -> bool {
        self.0.contains(&(resource, field))
    }
}

/// The changes that the calls of one goal made.
#[derive(Debug, Default)]
pub(crate) struct Window<'a> {
    /// Each single change, in the order of the calls.
    pub(crate) steps: Vec<&'a RecordChange>,
    /// Their sum, sorted by resource and key.
    pub(crate) net: Vec<RecordChange>,
}

impl<'a> Window<'a> {
    pub(crate) fn new(log: &'a [Arc<LogEntry>]) -> Self {
        let steps: Vec<&RecordChange> = log.iter().flat_map(|entry| &entry.changes).collect();
        let net = net(steps.iter().copied());
        Self { steps, net }
    }
}

/// The result of comparing the changes of each goal with the expected ones.
#[derive(Debug, Default)]
pub(crate) struct ChangeComparison {
    /// The keys that the episode gave to the expected new records, by number.
    pub(crate) keys: BTreeMap<u32, Value>,
    /// The faults, by goal.
    pub(crate) goals: Vec<GoalChanges>,
}

/// The faults of the changes of one goal.
#[derive(Debug, Default)]
pub(crate) struct GoalChanges {
    pub(crate) errors: Vec<GradeError>,
    /// Errors about changes that no check asks for in this goal.
    pub(crate) damage: Vec<GradeError>,
}

impl ExpectedChanges {
    /// Returns true if a goal asks for a change.
    pub(crate) fn asks(&self, goal: usize) -> bool {
        self.checks.iter().any(|check| check.goal as usize == goal)
    }

    /// Compares the changes of each goal with the expected ones. A change counts only in the goal that asks
    /// for it. In an earlier or later goal it is damage.
    pub(crate) fn compare(
        &self,
        windows: &[Window<'_>],
        allowed: &AllowedFields,
        world: &World,
    ) -> ChangeComparison {
        let assigned = matching::assign(self, windows, world);
        let keys = matching::keys(self, windows, &assigned);
        let goals = self.checks.iter().map(|check| check.goal as usize + 1).max().unwrap_or(0);
        let mut compared = ChangeComparison { keys, goals: Vec::new() };
        compared.goals.resize_with(goals.max(windows.len()), GoalChanges::default);
        for (check, at) in self.checks.iter().zip(&assigned) {
            let goal = check.goal as usize;
            match matching::change_of(check, *at, windows) {
                Some(change) => self.judge(check, change, allowed, world, &mut compared),
                None => {
                    let made = windows.get(goal).map_or(&[][..], |window| &window.net);
                    let message = self.describe_missing(check, made, world);
                    compared.goals[goal].errors.push(GradeError::new(ErrorClass::MissingChange, message));
                }
            }
        }
        for (goal, window) in (0..).zip(windows) {
            let is_assigned = |position: usize| {
                let mut of_goal = self.checks.iter().zip(&assigned).filter(|(check, _)| check.goal == goal);
                of_goal.any(|(_, at)| *at == Some(position))
            };
            let mut harm = std::mem::take(&mut compared.goals[goal as usize].damage);
            for (position, change) in window.net.iter().enumerate() {
                if is_assigned(position) || is_harmless(change, allowed, world) {
                    continue;
                }
                let what = match kind(change) {
                    ChangeKind::Created => "was created",
                    ChangeKind::Updated => "was changed",
                    ChangeKind::Deleted => "was deleted",
                };
                let message = format!(
                    "{} {what}, which was not asked for",
                    record_label(change.resource, &change.key, world)
                );
                harm.push(GradeError::new(damage::class_of(change, goal, self), message));
            }
            let is_known = |change: &RecordChange| {
                let same = |(position, known): (usize, &RecordChange)| {
                    (known.resource, &known.key) == (change.resource, &change.key) && !is_assigned(position)
                };
                window.net.iter().enumerate().any(same)
            };
            harm.extend(damage::judge(goal, window, is_known, self, &compared.keys, allowed, world));
            compared.goals[goal as usize].damage = harm;
        }
        compared
    }

    fn describe_missing(&self, check: &Check, changes: &[RecordChange], world: &World) -> String {
        let name = world.resources.get(check.resource.index()).map_or("", |resource| &resource.qualified);
        match (&check.key, check.kind) {
            (Key::Is(key), kind) => {
                let other =
                    changes.iter().any(|change| change.resource == check.resource && change.key == *key);
                let verb = match kind {
                    ChangeKind::Created => "created",
                    ChangeKind::Updated => "changed",
                    ChangeKind::Deleted => "deleted",
                };
                let but = if other { ", though it changed in another way" } else { "" };
                format!("{} was not {verb}{but}", record_label(check.resource, key, world))
            }
            (Key::New(_), _) => format!("no new {name} was created as expected"),
        }
    }

    fn judge(
        &self,
        check: &Check,
        change: &RecordChange,
        allowed: &AllowedFields,
        world: &World,
        compared: &mut ChangeComparison,
    ) {
        let ChangeComparison { keys, goals } = compared;
        let Some(found) = goals.get_mut(check.goal as usize) else { return };
        let Some(resource) = world.resources.get(check.resource.index()) else { return };
        let Some(after) = &change.after else { return };
        for (position, field) in resource.fields.iter().enumerate() {
            let id = FieldId(position as u16);
            let value = after.get(position).unwrap_or(&Value::Absent);
            let before = change.before.as_ref().map(|record| record.get(position).unwrap_or(&Value::Absent));
            let place = || format!("{}.{}", record_label(check.resource, &change.key, world), field.name);
            let show = |value: &Value| {
                if value.is_missing() { value.kind().to_owned() } else { value.to_text(&world.zone) }
            };
            match check.fields.iter().find(|(of, _)| *of == id) {
                Some((_, test)) => {
                    if !test.holds(value, keys) {
                        found.errors.push(GradeError::new(
                            ErrorClass::WrongValue,
                            format!(
                                "{} is {}, expected {}",
                                place(),
                                show(value),
                                test.describe(&world.zone)
                            ),
                        ));
                    }
                }
                None if field.generated || id == resource.key || allowed.covers(check.resource, id) => {}
                None => match before {
                    Some(before) if before == value => {}
                    Some(before) => found.damage.push(GradeError::new(
                        ErrorClass::CollateralDamage,
                        format!(
                            "{} changed from {} to {}, which was not asked for",
                            place(),
                            show(before),
                            show(value)
                        ),
                    )),
                    None if value.is_missing() || Some(value) == field.default.as_ref() => {}
                    None => found.errors.push(GradeError::new(
                        ErrorClass::WrongValue,
                        format!("{} is {}, which was not asked for", place(), show(value)),
                    )),
                },
            }
        }
    }
}

pub(crate) fn kind(change: &RecordChange) -> ChangeKind {
    match (&change.before, &change.after) {
        (None, _) => ChangeKind::Created,
        (Some(_), None) => ChangeKind::Deleted,
        (Some(_), Some(_)) => ChangeKind::Updated,
    }
}

/// Returns true if a record changed only in fields that may change.
fn is_harmless(change: &RecordChange, allowed: &AllowedFields, world: &World) -> bool {
    let (Some(before), Some(after)) = (&change.before, &change.after) else { return false };
    find_changed_fields(before, after).all(|field| may_change(change.resource, field, allowed, world))
}

/// Returns true if the world generates a field or a check allows it to change.
pub(crate) fn may_change(
    resource: ResourceId,
    field: FieldId,
    allowed: &AllowedFields,
    world: &World,
) -> bool {
    let generated = world
        .resources
        .get(resource.index())
        .and_then(|r| r.fields.get(field.index()))
        .is_some_and(|f| f.generated);
    generated || allowed.covers(resource, field)
}

/// Returns the fields whose values differ.
pub(crate) fn find_changed_fields<'a>(
    before: &'a Record,
    after: &'a Record,
) -> impl Iterator<Item = FieldId> + 'a {
    before
        .iter()
        .zip(after.iter())
        .enumerate()
        .filter(|(_, (a, b))| a != b)
        .map(|(position, _)| FieldId(position as u16))
}

/// Returns the name and key of a record for messages. Example: `dentist 12`.
pub(crate) fn record_label(resource: ResourceId, key: &Value, world: &World) -> String {
    let name = world.resources.get(resource.index()).map_or("record", |resource| &resource.qualified);
    format!("{name} {}", key.to_text(&world.zone))
}
