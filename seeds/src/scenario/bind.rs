//! Owns the choice of records and values that make a scenario true.

use std::ops::ControlFlow;
use std::sync::Arc;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::places::{Bindings, BoundValue, Kind, Place, Scenario};
use super::prior::{PersonFields, Prior, is_username_of, person_field};
use crate::expr::eval::{Budget, Env, Records, SlotContent};
use crate::expr::{Expr, ExprType, Slot};
use crate::model::{FieldId, Record, ResourceId, World};
use crate::schema::{Schema, Type};
use crate::value::{Instant, Value};

/// The records and values from which bindings are chosen.
#[derive(Clone, Copy)]
pub struct RecordSource<'a> {
    /// The world with its records.
    pub world: &'a World,
    /// Access to its records for conditions.
    pub records: &'a dyn Records,
    /// Records of another seed, which supply values that no record has.
    pub alternates: &'a World,
    /// The current time.
    pub clock: Instant,
    /// Fields that hold names of people.
    pub people: &'a PersonFields,
    /// The user and the values that the conversation has settled so far.
    pub prior: &'a Prior,
}

/// Maximum number of evaluated conditions before the choice is given up. The first applies to the first
/// scenario of a conversation. The second applies to later ones, which another scenario can replace.
const MOST_LOOKS: [usize; 2] = [4_000, 1_000];
/// Maximum number of alternate records or values to try for one binding.
const MOST_NEW: usize = 20;
/// Maximum number of values to try for all bindings together. Several numbers multiply, with twenty draws
/// each.
const MAX_VALUES: usize = 50_000;
/// The error of a choice that was given up after [`MAX_VALUES`].
const TOO_MANY_VALUES: &str = "given, for which 50,000 values were tried";

impl Scenario {
    /// Chooses records and values that make the scenario true. The result depends only on the record source
    /// and `rng`.
    ///
    /// # Errors
    /// Returns the furthest binding that no value fitted. Returns `given` if its conditions never held, or
    /// too many values were tried.
    pub fn bind(&self, record_source: RecordSource<'_>, rng: &mut ChaCha8Rng) -> Result<Bindings, &str> {
        let mut binder = Binder {
            scenario: self,
            record_source,
            bound: vec![SlotContent::Empty; usize::from(Slot::FIRST_FREE)],
            bindings: Vec::with_capacity(self.places.len()),
            looks: 0,
            values: 0,
            furthest: 0,
        };
        match binder.choose(0, rng) {
            true => Ok(binder.bindings),
            false if binder.values > MAX_VALUES => Err(TOO_MANY_VALUES),
            false => Err(self.places.get(binder.furthest).map_or("given", |place| &place.name)),
        }
    }
}

struct Binder<'a> {
    scenario: &'a Scenario,
    record_source: RecordSource<'a>,
    bound: Vec<SlotContent>,
    bindings: Bindings,
    looks: usize,
    values: usize,
    /// The furthest position that was reached in any attempt.
    furthest: usize,
}

impl<'a> Binder<'a> {
    fn choose(&mut self, number: usize, rng: &mut ChaCha8Rng) -> bool {
        let scenario = self.scenario;
        self.furthest = self.furthest.max(number);
        let Some(place) = scenario.places.get(number) else {
            return scenario.given.iter().all(|condition| self.holds(condition));
        };
        match &place.kind {
            Kind::Record(of) => {
                let resource = self.record_source.world.resource(*of);
                let mut records = self.records(*of);
                records.shuffle(rng);
                // Records that the conversation has mentioned come first.
                let prior = self.record_source.prior;
                let stated = |record: &Record| {
                    let name = resource.display.and_then(|display| record.get(display.index()));
                    let key = record.get(resource.key.index());
                    name.is_some_and(|name| prior.people.contains(name))
                        || key.is_some_and(|key| prior.speaks_of(*of, key))
                };
                records.sort_by_key(|record| !stated(record));
                for record in records {
                    if !self.is_caller(place, *of, record) || !self.fits(place, record) {
                        if self.looks > self.most_looks() {
                            return false;
                        }
                        continue;
                    }
                    let Some(key) = record.get(resource.key.index()) else { continue };
                    // Two bindings never hold the same record.
                    if self.bindings.iter().any(|(_, other)| other.is_record(*of, key)) {
                        continue;
                    }
                    let held = BoundValue::Record(*of, key.clone());
                    if self.hold(place, SlotContent::Record(record.clone()), held, number, rng) {
                        return true;
                    }
                }
                false
            }
            Kind::Records { of, min, max, order } => {
                let resource = self.record_source.world.resource(*of);
                let mut records = self.records(*of);
                records.retain(|record| self.fits(place, record));
                if records.len() < *min {
                    return false;
                }
                if let Some(max) = max.filter(|max| records.len() > *max) {
                    let mut chosen: Vec<usize> = (0..records.len()).collect();
                    chosen.shuffle(rng);
                    chosen.truncate(rng.random_range((*min).min(max)..=max));
                    chosen.sort_unstable();
                    records = chosen.into_iter().map(|index| records[index]).collect();
                }
                if let Some((field, descending)) = order {
                    // The sort is stable, so equal values keep the order of their keys.
                    records.sort_by(|a, b| {
                        let (a, b) = (a.get(field.index()), b.get(field.index()));
                        if *descending { b.cmp(&a) } else { a.cmp(&b) }
                    });
                }
                let keys = records.iter().filter_map(|record| record.get(resource.key.index()).cloned());
                let held = BoundValue::Records(*of, keys.collect());
                self.hold(place, SlotContent::Empty, held, number, rng)
            }
            Kind::Value(expr) => match self.evaluate(expr) {
                Some(SlotContent::Value(value)) if !value.is_missing() => {
                    self.value(place, value, None, number, rng)
                }
                Some(SlotContent::Record(record)) => {
                    let ExprType::Record(of) = expr.kind else { return false };
                    let key = record.get(self.record_source.world.resource(of).key.index()).cloned();
                    let Some(key) = key else { return false };
                    self.put(place.slot, SlotContent::Record(record.clone()));
                    place.condition.as_ref().is_none_or(|condition| self.holds(condition))
                        && self.hold(
                            place,
                            SlotContent::Record(record),
                            BoundValue::Record(of, key),
                            number,
                            rng,
                        )
                }
                _ => false,
            },
            Kind::Pick(values) => {
                let mut values = values.clone();
                values.shuffle(rng);
                values.into_iter().any(|value| self.value(place, value, None, number, rng))
            }
            Kind::Number { from, to, step } => {
                let prior = self.record_source.prior;
                let amounts = prior.amounts.iter().filter(|_| prior.money_places.contains(&place.name));
                let fitting =
                    amounts.filter(|amount| amount.as_f64().is_some_and(|own| (*from..=*to).contains(&own)));
                if fitting.cloned().any(|amount| self.value(place, amount, None, number, rng)) {
                    return true;
                }
                let steps = ((to - from) / step).floor() as u32;
                (0..20).any(|_| {
                    let drawn = from + step * f64::from(rng.random_range(0..=steps));
                    // A tenth is not exact in binary. Rounding to a millionth is finer than any step.
                    let drawn = (drawn * 1e6).round() / 1e6;
                    let whole = from.fract() == 0.0 && step.fract() == 0.0;
                    let value = if whole { Some(Value::Integer(drawn as i64)) } else { Value::number(drawn) };
                    value.is_some_and(|value| self.value(place, value, None, number, rng))
                })
            }
            Kind::New(of) => {
                let known = &self.record_source.world.resource(*of).records;
                let records = self.record_source.alternates.resource(*of).records.iter();
                let mut records: Vec<&Record> = records.filter(|record| !known.contains(record)).collect();
                records.shuffle(rng);
                records.into_iter().take(MOST_NEW).any(|record| {
                    let held = BoundValue::New(*of, record.clone());
                    self.fits(place, record)
                        && self.hold(place, SlotContent::Record(record.clone()), held, number, rng)
                })
            }
            Kind::Like(of, field) => {
                let known = &self.record_source.world.resource(*of).records;
                let taken =
                    |value: &Value| known.iter().any(|record| record.get(field.index()) == Some(value));
                let records = self.record_source.alternates.resource(*of).records.iter();
                let mut values: Vec<Value> = records
                    .filter_map(|record| record.get(field.index()))
                    .filter(|value| !value.is_missing() && !taken(value))
                    .cloned()
                    .collect();
                values.shuffle(rng);
                let schema = self.record_source.world.resource(*of).field(*field).schema.clone();
                let is_caller = self.scenario.caller() == place.name;
                let prior = self.record_source.prior;
                if let Some(name) = prior.name.as_ref().filter(|_| is_caller) {
                    return self.value(place, name.clone(), Some(schema), number, rng);
                }
                let is_person = self.record_source.people.contains(&(*of, *field));
                let names_new = prior.naming_places.contains(&place.name);
                let stated: &[Value] = match is_person {
                    true => &prior.people,
                    false if names_new => &prior.titles,
                    false => &[],
                };
                // An earlier title can become a display name, but not a code or a secret.
                let is_display = self.record_source.world.resource(*of).display == Some(*field);
                let is_text = matches!(schema.kind, Type::String) && (is_person || is_display);
                let fitting = stated.iter().filter(|value| is_text && !taken(value)).cloned();
                fitting
                    .collect::<Vec<_>>()
                    .into_iter()
                    .chain(values)
                    .take(MOST_NEW)
                    .any(|value| self.value(place, value, Some(schema.clone()), number, rng))
            }
        }
    }

    /// Returns the maximum number of evaluated conditions.
    fn most_looks(&self) -> usize {
        MOST_LOOKS[usize::from(*self.record_source.prior != Prior::NONE)]
    }

    /// Returns the current records of a resource.
    fn records(&self, of: ResourceId) -> Vec<&'a Record> {
        let mut records = Vec::new();
        self.record_source.records.scan(of, &mut |record| {
            records.push(record);
            ControlFlow::Continue(())
        });
        records
    }

    /// Returns false if the binding is the caller's record, but the record belongs to another user.
    fn is_caller(&self, place: &Place, of: ResourceId, record: &Record) -> bool {
        if place.name != self.scenario.caller() {
            return true;
        }
        let (prior, resource) = (self.record_source.prior, self.record_source.world.resource(of));
        let own = prior.me.as_ref().filter(|(own, _)| *own == of);
        if let Some((_, key)) = own {
            return record.get(resource.key.index()) == Some(key);
        }
        let users = self.record_source.world.domains[resource.domain.index()].users;
        if users != Some(of) {
            // A record outside the users' resource does not show the user's name.
            return prior.name.is_none() && prior.username.is_none();
        }
        let text_of = |field: Option<FieldId>| field.and_then(|field| record.get(field.index())?.as_str());
        let name = text_of(person_field(resource, of, self.record_source.people));
        let (name_before, username_before) = (prior.name.as_ref(), prior.username.as_ref());
        let (name_before, username_before) =
            (name_before.and_then(Value::as_str), username_before.and_then(Value::as_str));
        match (name, name_before) {
            (Some(name), _) => {
                name_before.is_none_or(|before| before == name)
                    && username_before.is_none_or(|username| is_username_of(username, name))
            }
            // A user record without a full name must have a user name that fits the known name.
            (None, Some(name)) => {
                text_of(resource.display).is_none_or(|username| is_username_of(username, name))
            }
            (None, None) => username_before.is_none(),
        }
    }

    /// Binds a value if its condition holds, and continues with the next binding.
    fn value(
        &mut self,
        place: &Place,
        value: Value,
        schema: Option<Schema>,
        number: usize,
        rng: &mut ChaCha8Rng,
    ) -> bool {
        self.values += 1;
        if self.values > MAX_VALUES {
            return false;
        }
        let name = self.record_source.prior.name.as_ref();
        if place.name == self.scenario.caller() && name.is_some_and(|name| *name != value) {
            return false;
        }
        let schema = schema.unwrap_or_else(|| Schema::of(type_of(&value)));
        let held = BoundValue::Value(value.clone(), Arc::new(schema));
        self.put(place.slot, SlotContent::Value(value));
        if place.condition.as_ref().is_some_and(|condition| !self.holds(condition)) {
            return false;
        }
        self.bindings.push((place.name.clone(), held));
        if self.choose(number + 1, rng) {
            return true;
        }
        self.bindings.truncate(number);
        false
    }

    fn hold(
        &mut self,
        place: &Place,
        bound: SlotContent,
        held: BoundValue,
        number: usize,
        rng: &mut ChaCha8Rng,
    ) -> bool {
        self.put(place.slot, bound);
        self.bindings.push((place.name.clone(), held));
        if self.looks <= self.most_looks() && self.choose(number + 1, rng) {
            return true;
        }
        self.bindings.truncate(number);
        false
    }

    fn put(&mut self, slot: Slot, bound: SlotContent) {
        let index = usize::from(slot.0);
        if self.bound.len() <= index {
            self.bound.resize(index + 1, SlotContent::Empty);
        }
        self.bound[index] = bound;
    }

    fn fits(&mut self, place: &Place, record: &Record) -> bool {
        let Some(condition) = &place.condition else { return true };
        self.put(Slot::ITEM, SlotContent::Record(record.clone()));
        self.holds(condition)
    }

    fn holds(&mut self, condition: &Expr) -> bool {
        matches!(self.evaluate(condition), Some(SlotContent::Value(Value::Bool(true))))
    }

    fn evaluate(&mut self, expr: &Expr) -> Option<SlotContent> {
        self.looks += 1;
        let budget = Budget::default();
        let env = Env {
            arguments: &[],
            bound: &self.bound,
            clock: self.record_source.clock,
            zone: &self.record_source.world.zone,
            records: self.record_source.records,
            budget: &budget,
        };
        env.evaluate(expr).ok()
    }
}

/// Returns the type of a value without further information.
fn type_of(value: &Value) -> Type {
    match value {
        Value::Integer(_) => Type::Integer,
        Value::Number(_) => Type::Number,
        Value::Decimal(decimal) => Type::Decimal { scale: decimal.scale, currency: None },
        Value::Date(_) => Type::Date,
        Value::Time(_) => Type::Time,
        Value::DateTime(_) => Type::DateTime,
        Value::Bool(_) => Type::Boolean,
        Value::String(_) => Type::String,
        _ => Type::Any,
    }
}

#[cfg(test)]
mod tests;
