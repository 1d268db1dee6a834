//! Owns the making of a plan's records for one seed: their number, then keys, then the values of each record.

mod field;
mod fields;
mod known;
mod references;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

use self::field::Dealt;
use self::fields::{Fields, UniqueValues};
use self::known::{ReferenceTargets, given_value};
use super::cast::Cast;
use super::derive::{FinishedRecords, Indexes, MOST_BYTES};
use super::maker::{Fault, Maker};
use super::moment::Clock;
use super::plan::{GivenValue, Plan, ResourcePlan};
use super::value::Making;
use crate::draw::Streams;
use crate::keys;
use crate::model::{Record, Resource, World};
use crate::value::Value;
use diorama_format::Finding;

/// Maximum number of records of a world.
const MOST_RECORDS: u64 = 2_000_000;

/// One materialisation.
pub(super) struct Run<'a> {
    world: &'a World,
    plan: &'a Plan,
    seed: u64,
    /// The records of `each` by resource: their parents, and their positions among them.
    children: Vec<Vec<Child>>,
    /// Keys by resource, in the order in which records are made.
    keys: Vec<Vec<Value>>,
    /// Finished records by resource, sorted by key.
    done: Vec<Vec<Record>>,
    key_fields: Vec<usize>,
    /// References by display value that are still unresolved: resource, record, field and given value.
    later: Vec<(usize, Value, usize, GivenValue)>,
    /// Number of bytes of text that expressions may still make.
    bytes: Cell<u64>,
    indexes: Indexes,
    /// Possible targets of given references, by resource.
    known: RefCell<Vec<ReferenceTargets>>,
}

/// A record of `each`.
#[derive(Clone, Copy)]
struct Child {
    entry: usize,
    parent: usize,
    position: u32,
}

impl<'a> Run<'a> {
    /// Makes all records, by resource, sorted by key.
    ///
    /// # Errors
    /// Returns the value that could not be made, with its path.
    pub(super) fn make(world: &'a World, plan: &'a Plan, seed: u64) -> Result<Vec<Vec<Record>>, Finding> {
        let resources = world.resources.len();
        let mut run = Self {
            world,
            plan,
            seed,
            children: vec![Vec::new(); resources],
            keys: vec![Vec::new(); resources],
            done: vec![Vec::new(); resources],
            key_fields: world.resources.iter().map(|resource| resource.key.index()).collect(),
            later: Vec::new(),
            bytes: Cell::new(MOST_BYTES),
            indexes: Indexes::default(),
            known: RefCell::new((0..resources).map(|_| ReferenceTargets::default()).collect()),
        };
        run.count()?;
        for index in 0..resources {
            if plan.resources[index].keys_first {
                run.keys[index] = run.keys_of(index)?;
            }
        }
        for index in &plan.order {
            let mut records = run.resource(*index)?;
            let key = run.key_fields[*index];
            records.sort_by(|a, b| a[key].cmp(&b[key]));
            run.done[*index] = records;
        }
        run.resolve_later()?;
        Ok(run.done)
    }

    fn parts(&self, index: usize) -> (&'a Resource, &'a ResourcePlan) {
        (&self.world.resources[index], &self.plan.resources[index])
    }

    fn clock(&self) -> Clock<'a> {
        Clock { now: self.world.clock, zone: &self.world.zone }
    }

    /// Returns the owner of a resource's streams, usually the resource itself. The users of all domains of a
    /// world share an owner, so that they are the same people.
    fn owner(&self, index: usize) -> &'a str {
        let resource = &self.world.resources[index];
        let users = self.world.domains.get(resource.domain.index()).and_then(|domain| domain.users);
        let shared = self.world.domains.len() > 1 && users.is_some_and(|users| users.index() == index);
        if shared { "users of all domains" } else { &resource.qualified }
    }

    /// Returns the owner of the streams of a resource's people. In each domain, the first resource with
    /// people other than the users shares an owner. The payee in one domain may therefore be the plumber in
    /// another.
    fn owner_of_people(&self, index: usize) -> &'a str {
        let resource = &self.world.resources[index];
        let users = self.world.domains.get(resource.domain.index()).and_then(|domain| domain.users);
        let names = |other: &usize| {
            self.world.resources[*other].domain == resource.domain
                && users.is_none_or(|users| users.index() != *other)
                && self.plan.resources[*other].people().is_some()
        };
        let first = (0..self.world.resources.len()).find(names);
        let shared = self.world.domains.len() > 1 && first == Some(index);
        if shared { "people of all domains" } else { self.owner(index) }
    }

    /// Returns the number of records of a resource.
    fn size(&self, index: usize) -> usize {
        self.plan.resources[index].count as usize + self.children[index].len()
    }

    /// Distributes the records of `each` to their parents, which come first in the order.
    fn count(&mut self) -> Result<(), Finding> {
        let mut total = 0_u64;
        for index in &self.plan.order {
            let (resource, plan) = self.parts(*index);
            let mut children = Vec::new();
            for (entry, each) in plan.each.iter().enumerate() {
                let streams = Streams::new(self.seed, &resource.qualified, &entry.to_string(), "each");
                for parent in 0..self.size(each.parent) {
                    let mut draw = streams.draw(parent as u64, 0);
                    let number = draw.between(i64::from(each.min), i64::from(each.max)) as u32;
                    if children.len() as u64 + u64::from(number) > MOST_RECORDS {
                        return Err(too_many(plan));
                    }
                    children.extend((0..number).map(|position| Child { entry, parent, position }));
                }
            }
            self.children[*index] = children;
            total += self.size(*index) as u64;
            if total > MOST_RECORDS {
                return Err(too_many(plan));
            }
        }
        Ok(())
    }

    /// Returns the keys of a resource in the order of its records. GivenValue keys stay.
    fn keys_of(&self, index: usize) -> Result<Vec<Value>, Finding> {
        let (resource, plan) = self.parts(index);
        let key = resource.key.index();
        let size = self.size(index);
        let given: Vec<Option<&Value>> = plan.given.iter().map(|row| given_value(row, key)).collect();
        let mut taken: HashSet<Value> = HashSet::with_capacity(size);
        for (i, value) in given.iter().enumerate() {
            if let Some(value) = value
                && !taken.insert((*value).clone())
            {
                return Err(twice(plan, resource, key, i, value, self.world));
            }
        }
        let capacity = keys::capacity(&resource.key_format);
        let made = size - taken.len();
        if made as u128 > capacity {
            return Err(Finding::error(
                format!("{}.records", plan.path),
                format!("found {size} records, but the key's format has only {capacity} keys"),
                "ask for fewer records, or widen the key's format",
            ));
        }
        let mut keys = Vec::with_capacity(size);
        for n in 0..size {
            if let Some(Some(value)) = given.get(n) {
                keys.push((*value).clone());
                continue;
            }
            let mut attempt = 0;
            keys.push(loop {
                let key =
                    keys::key_for(&resource.key_format, self.seed, &resource.qualified, n as u64, attempt);
                if taken.insert(key.clone()) {
                    break key;
                }
                attempt += 1;
                // GivenValue keys may be keys of the format, which can then run out before its capacity.
                if u128::from(attempt) > capacity.min(u128::from(u32::MAX)) {
                    return Err(Finding::error(
                        format!("{}.records", plan.path),
                        format!("found no free key for record {} of {size}", n + 1),
                        "widen the key's format",
                    ));
                }
            });
        }
        Ok(keys)
    }

    /// Makes the records of one resource, in the order in which they are made.
    fn resource(&mut self, index: usize) -> Result<Vec<Record>, Finding> {
        let (resource, plan) = self.parts(index);
        let size = self.size(index);
        let groups: Vec<Streams> = plan
            .groups
            .iter()
            .enumerate()
            .map(|(position, group)| match plan.people() == Some(position) {
                // The nth person is the same in all domains, whatever the field of the name is called.
                true if self.owner_of_people(index) != &*resource.qualified => {
                    Streams::new(self.seed, self.owner_of_people(index), "", "cast")
                }
                _ => Streams::new(self.seed, self.owner(index), group, "cast"),
            })
            .collect();
        let fields = Fields::new(resource, plan, (self.seed, self.owner(index)), size);
        let mut taken = self.given_taken(index)?;
        let mut dealt = vec![Dealt::default(); plan.fields.len()];
        let mut records: Vec<Record> = Vec::with_capacity(size);
        for n in 0..size {
            let child =
                n.checked_sub(plan.count as usize).and_then(|child| self.children[index].get(child)).copied();
            let mut given: Vec<(usize, GivenValue)> = plan.given.get(n).cloned().unwrap_or_default();
            let mut position = n as u64;
            if let Some(child) = child {
                let each = &plan.each[child.entry];
                position = u64::from(child.position);
                given.extend(each.set.iter().cloned());
                let parent = self.keys[each.parent].get(child.parent).cloned().unwrap_or_default();
                given.push((each.by, GivenValue::Value(parent)));
            }
            let mut values = vec![Value::Absent; plan.fields.len()];
            let mut fixed = vec![false; plan.fields.len()];
            let mut cast = Cast::new(&groups, self.plan.home, plan.main_place, n as u64);
            if plan.keys_first {
                values[resource.key.index()] = self.keys[index].get(n).cloned().unwrap_or_default();
                fixed[resource.key.index()] = true;
            }
            let mut postponed = Vec::new();
            for (field, given) in given {
                let schema = &resource.fields[field].schema;
                match self.given(index, n, schema, &given)? {
                    Some(value) => values[field] = value,
                    None => postponed.push((field, given)),
                }
                if let (Maker::Text(super::provider::Provider::City), Value::String(city)) =
                    (&plan.fields[field].maker, &values[field])
                {
                    cast.set_city(plan.fields[field].group, city);
                }
                fixed[field] = true;
            }
            let done = FinishedRecords {
                records: &self.done,
                keys: &self.key_fields,
                bytes: &self.bytes,
                indexes: &self.indexes,
            };
            let mut making = Making {
                world: self.world,
                clock: self.clock(),
                resource: index,
                n: n as u64,
                position,
                keys: &self.keys,
                done: &done,
                values,
                items_drawn: 0,
                cast,
            };
            for field in plan.order.iter().copied().filter(|field| !fixed[*field]) {
                let fault = |Fault { message, fix }: Fault| {
                    Finding::error(
                        format!("{}.fields.{}", plan.path, resource.fields[field].name),
                        message,
                        fix,
                    )
                };
                let taken = taken.fields[field].as_ref();
                let value =
                    fields.context(field).make(&mut making, &mut dealt[field], taken, size).map_err(fault)?;
                making.values[field] = value;
            }
            fields.draw_groups_again(&mut making, &mut taken, &fixed)?;
            let values = making.values;
            for (set, value) in taken.fields.iter_mut().zip(&values) {
                if let Some(set) = set
                    && !value.is_missing()
                {
                    set.insert(value.clone());
                }
            }
            if !plan.keys_first {
                self.keys[index].push(values[resource.key.index()].clone());
            }
            let key = values[resource.key.index()].clone();
            self.later.extend(postponed.into_iter().map(|(field, given)| (index, key.clone(), field, given)));
            records.push(Arc::from(values));
        }
        Ok(records)
    }

    /// Returns the unique values of given records, so that no generated value equals one.
    fn given_taken(&self, index: usize) -> Result<UniqueValues, Finding> {
        let (resource, plan) = self.parts(index);
        // References also count if their targets are already made.
        let value = |i: usize, row: &[(usize, GivenValue)], field: usize| -> Result<Option<Value>, Finding> {
            let given = row.iter().find(|(given, _)| *given == field);
            let value = given
                .map(|(_, given)| self.given(index, i, &resource.fields[field].schema, given))
                .transpose()?;
            Ok(value.flatten().filter(|value| !value.is_missing()))
        };
        let mut fields = Vec::with_capacity(resource.fields.len());
        for (position, field) in resource.fields.iter().enumerate() {
            if !field.unique {
                fields.push(None);
                continue;
            }
            let mut set = HashSet::new();
            for (i, row) in plan.given.iter().enumerate() {
                if let Some(value) = value(i, row, position)?
                    && let Some(value) = set.replace(value)
                {
                    return Err(twice(plan, resource, position, i, &value, self.world));
                }
            }
            fields.push(Some(set));
        }
        let mut groups = Vec::with_capacity(resource.unique_together.len());
        for (g, group) in resource.unique_together.iter().enumerate() {
            let mut set = HashSet::new();
            for (i, row) in plan.given.iter().enumerate() {
                let tuple: Result<Option<Vec<Value>>, Finding> =
                    group.iter().map(|field| value(i, row, field.index())).collect();
                if let Some(tuple) = tuple?
                    && !set.insert(tuple)
                {
                    return Err(Finding::error(
                        format!("{}.{}[{i}]", plan.path, plan.section),
                        format!("found the values of unique_together[{g}] a second time"),
                        "change one of them",
                    ));
                }
            }
            groups.push(set);
        }
        Ok(UniqueValues { fields, groups })
    }
}

fn twice(
    plan: &ResourcePlan,
    resource: &Resource,
    field: usize,
    row: usize,
    value: &Value,
    world: &World,
) -> Finding {
    Finding::error(
        format!("{}.{}[{row}].{}", plan.path, plan.section, resource.fields[field].name),
        format!("found {} a second time in a unique field", value.to_text(&world.zone)),
        "change one, or remove `unique`",
    )
}

fn too_many(plan: &ResourcePlan) -> Finding {
    Finding::error(
        format!("{}.records", plan.path),
        format!("found more than {MOST_RECORDS} records in the world"),
        "ask for fewer",
    )
}
