//! Owns the fields of one resource while its records are made.

use std::collections::HashSet;

use super::field::{FieldContext, about};
use crate::draw::Streams;
use crate::english::enumerate;
use crate::materialise::cast::TRIES;
use crate::materialise::plan::ResourcePlan;
use crate::materialise::value::Making;
use crate::model::{FieldId, Resource};
use crate::value::Value;
use diorama_format::Finding;

/// Maximum number of draws for a group of values that must be unique together.
const GROUP_TRIES: u32 = 2_000;

/// The unique values of one resource so far.
pub(super) struct UniqueValues {
    pub(super) fields: Vec<Option<HashSet<Value>>>,
    pub(super) groups: Vec<HashSet<Vec<Value>>>,
}

/// The fields of a resource, and the streams from which their values are drawn.
pub(super) struct Fields<'a> {
    pub(super) resource: &'a Resource,
    pub(super) plan: &'a ResourcePlan,
    pub(super) values: Vec<Streams>,
    pub(super) presence: Vec<Streams>,
    pub(super) deals: Vec<Streams>,
    /// Number of records of the resource.
    pub(super) size: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(resource: &'a Resource, plan: &'a ResourcePlan, of: (u64, &str), size: usize) -> Self {
        let (seed, owner) = of;
        let streams = |purpose: &str| -> Vec<Streams> {
            let of = |name: &str| Streams::new(seed, owner, name, purpose);
            resource.fields.iter().map(|field| of(&field.name)).collect()
        };
        let (values, presence, deals) = (streams("value"), streams("presence"), streams("deal"));
        Self { resource, plan, values, presence, deals, size }
    }

    pub(super) fn context(&self, field: usize) -> FieldContext<'_> {
        FieldContext {
            plan: self.plan,
            resource: self.resource,
            field,
            values: &self.values[field],
            presence: &self.presence[field],
            deals: &self.deals[field],
        }
    }

    /// Draws fields again until all groups of `unique_together` are unique at once. Fixed fields stay.
    pub(super) fn draw_groups_again(
        &self,
        making: &mut Making<'_>,
        taken: &mut UniqueValues,
        fixed: &[bool],
    ) -> Result<(), Finding> {
        let groups = || self.resource.unique_together.iter().zip(&self.plan.redo).enumerate();
        let mut attempt = 0;
        loop {
            let tuple = |making: &Making<'_>, fields: &[FieldId]| -> Vec<Value> {
                fields.iter().map(|field| making.values[field.index()].clone()).collect()
            };
            let is_complete = |tuple: &[Value]| tuple.iter().all(|value| !value.is_missing());
            let is_given = making.n < self.plan.given.len() as u64;
            let repeated = groups().find(|(group, (fields, _))| {
                let tuple = tuple(making, fields);
                let whole_given = is_given && fields.iter().all(|field| fixed[field.index()]);
                is_complete(&tuple) && taken.groups[*group].contains(&tuple) && !whole_given
            });
            let Some((group, (fields, again))) = repeated else {
                for (group, (fields, _)) in groups() {
                    let tuple = tuple(making, fields);
                    if is_complete(&tuple) {
                        taken.groups[group].insert(tuple);
                    }
                }
                return Ok(());
            };
            attempt += 1;
            if attempt > GROUP_TRIES || again.iter().all(|field| fixed[*field]) {
                let names: Vec<&str> =
                    fields.iter().map(|field| &*self.resource.field(*field).name).collect();
                let possible = fields.iter().fold(1_u64, |product, field| {
                    product.saturating_mul(making.capacity(&self.plan.fields[field.index()].maker))
                });
                return Err(Finding::error(
                    format!("{}.unique_together[{group}]", self.plan.path),
                    format!(
                        "found no new {} for record {} of {}{}",
                        enumerate(&names),
                        making.n + 1,
                        self.size,
                        about(possible, "groups")
                    ),
                    "ask for fewer records, or let the fields take more values",
                ));
            }
            for field in again.iter().copied().filter(|field| !fixed[*field]) {
                let made =
                    self.context(field).once(making, attempt * (TRIES + 1), taken.fields[field].as_ref());
                if let Ok(value) = made {
                    making.values[field] = value;
                }
            }
        }
    }
}
