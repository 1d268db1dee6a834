//! Collateral damage: changes that nobody asked for, also those that were undone before the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_seeds::model::{FieldId, ResourceId, World};
use diorama_seeds::task::ChangeKind;
use diorama_seeds::value::Value;

use super::{Allowed, Expected, Key, changed, kind, may_change, named};
use crate::{ErrorClass, GradeError};
use diorama_engine::RecordChange;
use diorama_engine::session::LogEntry;

/// Everything that the calls of an episode changed, in order, each with the number of its call. Made once.
#[derive(Debug)]
pub(crate) struct Damage<'a> {
    changes: Vec<(usize, &'a RecordChange)>,
    /// For each goal that has opened, how many calls there were before it.
    opened: Vec<usize>,
}

impl<'a> Damage<'a> {
    pub(crate) fn new(log: &'a [Arc<LogEntry>], opened: Vec<usize>) -> Self {
        let of_call = |(call, entry): (usize, &'a Arc<LogEntry>)| {
            entry.changes.iter().map(move |change| (call, change))
        };
        Self { changes: log.iter().enumerate().flat_map(of_call).collect(), opened }
    }

    /// Returns true if a call was made before a goal had opened.
    fn premature(&self, call: usize, goal: u32) -> bool {
        self.opened.get(goal as usize).is_none_or(|opened| call < *opened)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Errors for every change on the way that is not expected, each with the number of its call. `keys` are those of the new
    /// records.
    pub(crate) fn judge(
        &self,
        expected: &Expected,
        keys: &BTreeMap<u32, Value>,
        allowed: &Allowed,
        world: &World,
    ) -> Vec<(usize, GradeError)> {
        let mut found: BTreeMap<(ResourceId, Value, u8), (usize, String)> = BTreeMap::new();
        let mut created: BTreeSet<(ResourceId, Value)> = BTreeSet::new();
        let mut history: BTreeMap<(ResourceId, Value, FieldId), Vec<&Value>> = BTreeMap::new();
        let mut report = |call: usize, change: &RecordChange, sort: u8, what: &str| {
            found
                .entry((change.resource, change.key.clone(), sort))
                .or_insert_with(|| (call, format!("{} {what}", named(change.resource, &change.key, world))));
        };
        let mut early: Vec<(usize, GradeError)> = Vec::new();
        for (call, change) in self.changes.iter().copied() {
            let place = (change.resource, change.key.clone());
            let check = expected.checks.iter().find(|check| {
                check.resource == change.resource
                    && match &check.key {
                        Key::Is(key) => *key == change.key,
                        Key::New(number) => keys.get(number) == Some(&change.key),
                    }
            });
            if let Some(check) = check
                && self.premature(call, check.goal)
            {
                let record = named(change.resource, &change.key, world);
                let message = format!("{record} was changed before the user had asked for it");
                early.push((call, GradeError::new(ErrorClass::PrematureChange, message)));
            }
            match kind(change) {
                ChangeKind::Created => {
                    if check.is_none_or(|check| check.kind != ChangeKind::Created) {
                        report(call, change, 0, "was created on the way, which was not asked for");
                    }
                    created.insert(place);
                }
                ChangeKind::Deleted => {
                    if created.contains(&place) {
                        report(call, change, 1, "was created and deleted again");
                    } else if check.is_none_or(|check| check.kind != ChangeKind::Deleted) {
                        report(call, change, 1, "was deleted on the way, which was not asked for");
                    }
                }
                ChangeKind::Updated => {
                    let (Some(before), Some(after)) = (&change.before, &change.after) else { continue };
                    for field in changed(before, after)
                        .filter(|field| !may_change(change.resource, *field, allowed, world))
                    {
                        let name = world
                            .resources
                            .get(change.resource.index())
                            .and_then(|r| r.fields.get(field.index()))
                            .map_or("", |f| &*f.name);
                        let expected_field = created.contains(&place)
                            || check.is_some_and(|check| {
                                check.kind == ChangeKind::Updated
                                    && check.fields.iter().any(|(of, _)| *of == field)
                            });
                        if !expected_field {
                            report(
                                call,
                                change,
                                2,
                                &format!("had its {name} changed on the way, which was not asked for"),
                            );
                        }
                        let seen = history.entry((change.resource, change.key.clone(), field)).or_default();
                        let (Some(old), Some(new)) = (before.get(field.index()), after.get(field.index()))
                        else {
                            continue;
                        };
                        if seen.is_empty() {
                            seen.push(old);
                        }
                        if seen.contains(&new) {
                            report(call, change, 3, &format!("had its {name} changed back and forth"));
                        }
                        seen.push(new);
                    }
                }
            }
        }
        early.dedup_by(|one, other| one.1 == other.1);
        let harm = found
            .into_values()
            .map(|(call, message)| (call, GradeError::new(ErrorClass::CollateralDamage, message)));
        harm.chain(early).collect()
    }
}
