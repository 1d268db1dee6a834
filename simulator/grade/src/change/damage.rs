//! Collateral damage: finds changes that no check asks for, including those that a later call undid.

use std::collections::{BTreeMap, BTreeSet};

use diorama_seeds::model::{FieldId, ResourceId, World};
use diorama_seeds::task::ChangeKind;
use diorama_seeds::value::Value;

use super::{
    AllowedFields, ExpectedChanges, Key, Window, find_changed_fields, kind, may_change, record_label,
};
use crate::errors::{ErrorClass, GradeError};
use diorama_engine::RecordChange;

/// Kinds of damage to one record, each reported once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Created,
    Deleted,
    Changed,
    BackAndForth,
}

/// Returns an error for every single change that a goal does not expect. Skips records for which `known`
/// returns true: the net change already reports them. `keys` are the keys of the expected new records.
pub(super) fn judge(
    goal: u32,
    window: &Window<'_>,
    known: impl Fn(&RecordChange) -> bool,
    expected: &ExpectedChanges,
    keys: &BTreeMap<u32, Value>,
    allowed: &AllowedFields,
    world: &World,
) -> Vec<GradeError> {
    let mut found: BTreeMap<(ResourceId, Value, Sort), GradeError> = BTreeMap::new();
    let mut created: BTreeSet<(ResourceId, Value)> = BTreeSet::new();
    let mut history: BTreeMap<(ResourceId, Value, FieldId), Vec<&Value>> = BTreeMap::new();
    let mut report = |change: &RecordChange, sort: Sort, what: &str| {
        found.entry((change.resource, change.key.clone(), sort)).or_insert_with(|| {
            let message = format!("{} {what}", record_label(change.resource, &change.key, world));
            GradeError::new(class_of(change, goal, expected), message)
        });
    };
    for change in window.steps.iter().filter(|change| !known(change)) {
        let place = (change.resource, change.key.clone());
        let check = expected.checks.iter().find(|check| {
            check.goal == goal
                && check.resource == change.resource
                && match &check.key {
                    Key::Is(key) => *key == change.key,
                    Key::New(number) => keys.get(number) == Some(&change.key),
                }
        });
        match kind(change) {
            ChangeKind::Created => {
                if check.is_none_or(|check| check.kind != ChangeKind::Created) {
                    report(change, Sort::Created, "was created on the way, which was not asked for");
                }
                created.insert(place);
            }
            ChangeKind::Deleted => {
                if created.contains(&place) {
                    report(change, Sort::Deleted, "was created and deleted again");
                } else if check.is_none_or(|check| check.kind != ChangeKind::Deleted) {
                    report(change, Sort::Deleted, "was deleted on the way, which was not asked for");
                }
            }
            ChangeKind::Updated => {
                let (Some(before), Some(after)) = (&change.before, &change.after) else { continue };
                let fields = find_changed_fields(before, after);
                for field in fields.filter(|field| !may_change(change.resource, *field, allowed, world)) {
                    let name = &world.resource(change.resource).field(field).name;
                    let is_expected = created.contains(&place)
                        || check.is_some_and(|check| {
                            check.kind == ChangeKind::Updated
                                && check.fields.iter().any(|(of, _)| *of == field)
                        });
                    if !is_expected {
                        let what = format!("had its {name} changed on the way, which was not asked for");
                        report(change, Sort::Changed, &what);
                    }
                    let seen = history.entry((change.resource, change.key.clone(), field)).or_default();
                    let (Some(old), Some(new)) = (before.get(field.index()), after.get(field.index())) else {
                        continue;
                    };
                    if seen.is_empty() {
                        seen.push(old);
                    }
                    if seen.contains(&new) {
                        report(change, Sort::BackAndForth, &format!("had its {name} changed back and forth"));
                    }
                    seen.push(new);
                }
            }
        }
    }
    found.into_values().collect()
}

/// Returns the class of damage: premature or late if another goal asks for the change, else collateral.
pub(super) fn class_of(change: &RecordChange, goal: u32, expected: &ExpectedChanges) -> ErrorClass {
    let asks = |check: &&super::Check| {
        let is_record = match &check.key {
            Key::Is(key) => *key == change.key,
            Key::New(_) => true,
        };
        check.goal != goal && check.resource == change.resource && check.kind == kind(change) && is_record
    };
    match expected.checks.iter().find(asks) {
        Some(check) if check.goal > goal => ErrorClass::PrematureChange,
        Some(_) => ErrorClass::LateChange,
        None => ErrorClass::CollateralDamage,
    }
}
