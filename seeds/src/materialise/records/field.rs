//! The value of one field for one record: whether there is one, dealt or drawn, allowed and where it must be, new.

use std::collections::HashSet;

use super::super::maker::{Fault, Maker};
use super::super::plan::ResourcePlan;
use super::super::value::{Making, missing, varies_alone};
use crate::draw::Streams;
use crate::model::Resource;
use crate::value::Value;

/// Draws for a value that must be new, before all the possible ones are tried (or an error is given).
pub(super) const TRIES: u32 = 64;

/// The inputs of making the values of one field.
pub(super) struct FieldContext<'a> {
    pub(super) plan: &'a ResourcePlan,
    pub(super) resource: &'a Resource,
    pub(super) field: usize,
    pub(super) values: &'a Streams,
    pub(super) presence: &'a Streams,
    pub(super) deals: &'a Streams,
}

/// The values of a field that were dealt so far: rounds in which each occurs once, in an order of its own.
#[derive(Clone, Default)]
pub(super) struct Dealt {
    count: u64,
    /// The order of the round that was begun last.
    order: Vec<usize>,
}

impl Dealt {
    /// The index of the next value, of so many.
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
    /// The value for a record: one that is allowed and, where it must be, new.
    pub(super) fn make(
        &self,
        making: &mut Making<'_>,
        dealt: &mut Dealt,
        taken: Option<&HashSet<Value>>,
        size: usize,
    ) -> Result<Value, Fault> {
        let (plan, field) = (&self.plan.fields[self.field], &self.resource.fields[self.field]);
        // Dealt values go to every record of the first round, so that each value occurs.
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
        // Few values are left: all of them are tried, from a drawn one on.
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

    /// One draw. The fault's message is empty when the value was good but taken.
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
        // An address has variants of its own; only when those are used up does it go to another person.
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

/// How many different ones are possible, where that is known.
pub(super) fn about(possible: u64, what: &str) -> String {
    if possible == u64::MAX {
        String::new()
    } else {
        format!("; about {possible} different {what} are possible")
    }
}
