//! Owns the display of changed records, with the fields before and after.

use diorama_engine::RecordChange;
use diorama_seeds::model::{Record, World};
use diorama_seeds::value::Value;
use maud::{Markup, html};

use crate::pieces::{cell, field};

/// Maximum number of changes in a list.
const MAX_CHANGES: usize = 100;

/// Returns the kind of a change, which is also its CSS class.
pub(crate) const fn kind(change: &RecordChange) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "created",
        (_, None) => "deleted",
        _ => "updated",
    }
}

/// Names of the two sides of a change.
#[derive(Clone, Copy)]
pub(crate) struct Sides {
    pub(crate) first: &'static str,
    pub(crate) second: &'static str,
}

/// Sides of a change in time.
pub(crate) const IN_TIME: Sides = Sides { first: "Before", second: "After" };

/// Renders changes, field by field.
pub(crate) fn list(world: &World, changes: &[RecordChange], sides: Sides) -> Markup {
    html! {
        @for change in changes.iter().take(MAX_CHANGES) { (one(world, change, sides)) }
        @if let Some(left) = changes.len().checked_sub(MAX_CHANGES).filter(|left| *left > 0) {
            p.hint { (left) " more changes are left out here." }
        }
    }
}

fn one(world: &World, change: &RecordChange, sides: Sides) -> Markup {
    let resource = world.resource(change.resource);
    let zone = &world.zone;
    let value = |record: &Option<Record>, position: usize| {
        record.as_ref().and_then(|record| record.get(position).cloned()).unwrap_or(Value::Absent)
    };
    let fields = resource.fields.iter().enumerate().map(|(position, declared)| {
        (declared, value(&change.before, position), value(&change.after, position))
    });
    let kind = kind(change);
    html! {
        div.change {
            p { span.badge.(kind) { (kind) } " " strong { (resource.qualified) } " " (cell(&change.key.to_json(zone))) }
            table.fields {
                thead { tr { th scope="col" { "Field" } th scope="col" { (sides.first) } th scope="col" { (sides.second) } } }
                tbody {
                    @for (declared, before, after) in fields.filter(|(_, before, after)| before != after) {
                        tr {
                            th scope="row" { (declared.name) }
                            td.before { (field(&before, zone)) }
                            td.after { (field(&after, zone)) }
                        }
                    }
                }
            }
        }
    }
}
