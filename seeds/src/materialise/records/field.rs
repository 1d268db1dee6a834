//! Owns the value of one field in one record: whether it exists, its deal or draw, and its validity and
//! uniqueness.

use std::collections::HashSet;

use super::super::cast::TRIES;
use super::super::maker::{Fault, Maker};
use super::super::plan::ResourcePlan;
use super::super::value::{Making, missing, varies_alone};
use crate::draw::Streams;
use crate::model::Resource;
use crate::value::Value;

/// The inputs for the values of one field.
pub(super) struct FieldContext<'a> {
    pub(super) plan: &'a ResourcePlan,
    pub(super) resource: &'a Resource,
    pub(super) field: usize,
    pub(super) values: &'a Streams,
    pub(super) presence: &'a Streams,
    pub(super) deals: &'a Streams,
}

/// The values of a field dealt so far: rounds in which each value occurs once, each in an order of its own.
#[derive(Clone, Default)]
pub(super) struct Dealt {
    count: u64,
    /// Order of the current round.
    order: Vec<usize>,
}

impl Dealt {
    /// Returns the index of the next of `values` values.
    fn next(&mut self, values: usize, deals: &Streams) -> Option<usize> {
        let place = self.count.checked_rem(values as u64)?;
        if place == 0 {
            self.order = deals.draw(self.count / values as u64, 0).permutation(values);
        }
        self.count += 1;
        self.order.get(place as usize).copied()
    }
}

impl FieldContext<'_> {
    /// Returns the value for a record. It is allowed by the schema, and new if it must be unique.
    pub(super) fn make(
        &self,
        making: &mut Making<'_>,
        dealt: &mut Dealt,
        taken: Option<&HashSet<Value>>,
        size: usize,
    ) -> Result<Value, Fault> {
        let (plan, field) = (&self.plan.fields[self.field], &self.resource.fields[self.field]);
        // Each record of the first round gets a dealt value, so that each value occurs.
        let first_round = matches!(&plan.maker, Maker::Deal(of) if dealt.count < of.len() as u64);
        if !self.present(making, first_round) {
            return Ok(missing(field));
        }
        if let (Maker::Deal(of), None) = (&plan.maker, taken) {
            let next = dealt.next(of.len(), self.deals);
            let value = next.and_then(|next| of.get(next)).cloned().unwrap_or_default();
            if field.schema.allows(&value) {
                return Ok(value);
            }
        }
        let mut last = None;
        for attempt in 0..TRIES {
            match self.once(making, attempt, taken) {
                Ok(value) => return Ok(value),
                Err(fault) => last = Some(fault),
            }
        }
        // Few values are left, so it tries all of them from a drawn one on.
        if let Some(taken) = taken
            && let Some(all) = making.all(&plan.maker)
        {
            let start = self.values.draw(making.n, TRIES).index(all.len());
            let fresh = all.iter().cycle().skip(start).take(all.len());
            if let Some(value) =
                fresh.into_iter().find(|value| !taken.contains(value) && field.schema.allows(value))
            {
                return Ok(value.clone());
            }
            return Err(Fault {
                message: format!(
                    "found {size} records, but only {} different values are possible in this unique field",
                    all.len()
                ),
                fix: "ask for fewer records, or let the field take more values".to_owned(),
            });
        }
        let possible = making.capacity(&plan.maker);
        match (last, taken) {
            (Some(fault), None) => Err(fault),
            (Some(fault), Some(_)) if !fault.message.is_empty() => Err(fault),
            _ => Err(Fault {
                message: format!(
                    "found no new value for record {} of {size} in this unique field{}",
                    making.n + 1,
                    about(possible, "values")
                ),
                fix: "ask for fewer records, or let the field take more values".to_owned(),
            }),
        }
    }

    /// Makes one draw. The message of the error is empty if the value was valid but taken.
    pub(super) fn once(
        &self,
        making: &mut Making<'_>,
        attempt: u32,
        taken: Option<&HashSet<Value>>,
    ) -> Result<Value, Fault> {
        let (plan, field) = (&self.plan.fields[self.field], &self.resource.fields[self.field]);
        if !self.present(making, false) && attempt > TRIES {
            return Ok(missing(field));
        }
        // An address varies for the same person. After eight variants, another person is drawn.
        if attempt > 0 && (attempt > 8 || !varies_alone(&plan.maker)) {
            making.cast.redraw(plan.group, attempt);
        }
        let mut draw = self.values.draw(making.n, attempt);
        let value = making.value(&plan.maker, field, plan, &mut draw)?;
        if value.is_missing() {
            return Ok(value);
        }
        if taken.is_some_and(|taken| taken.contains(&value)) {
            return Err(Fault { message: String::new(), fix: String::new() });
        }
        Ok(value)
    }

    fn present(&self, making: &Making<'_>, first_round: bool) -> bool {
        let plan = &self.plan.fields[self.field];
        if plan.earlier_only && making.n == 0 {
            return false;
        }
        plan.share >= 1.0 || first_round || self.presence.draw(making.n, 0).chance(plan.share)
    }
}

/// Returns a note on the number of possible values, if it is known.
pub(super) fn about(possible: u64, what: &str) -> String {
    if possible == u64::MAX {
        String::new()
    } else {
        format!("; about {possible} different {what} are possible")
    }
}
