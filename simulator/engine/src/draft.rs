//! Drafts: collect the changes of one call, and commit all of them or none.
//!
//! Field values are checked when they are set. References, uniqueness and `restrict` are checked once at the
//! end, so the order of changes within a call does not matter.

use std::ops::ControlFlow;

use diorama_seeds::keys::key_for;
use diorama_seeds::model::{FieldId, OnDelete, Record, Resource, ResourceId};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::{Str, Value};

use super::base::{Base, Referrer};
use super::eval::Records;
use super::index::Form;
use super::overlay::Candidates;
use super::refusal::{Outcome, Refusal};
use super::state::{RecordChange, State};

/// An uncommitted state.
pub(super) struct Draft<'a> {
    pub(super) base: &'a Base,
    before: &'a State,
    pub(super) state: State,
    touched: Vec<(ResourceId, Value)>,
    scratch: Vec<u8>,
}

/// The refusal of a record, with the fields that it concerns.
type RecordRefusal = (Refusal, Vec<FieldId>);

/// Maximum number of tries to find a free key.
const KEY_ATTEMPTS: u32 = 10_000;

impl<'a> Draft<'a> {
    pub(super) fn new(base: &'a Base, before: &'a State) -> Self {
        Self { base, before, state: before.clone(), touched: Vec::new(), scratch: Vec::new() }
    }

    /// Returns true if the call has written records.
    pub(super) const fn has_changes(&self) -> bool {
        !self.touched.is_empty()
    }

    pub(super) fn record(&self, resource: ResourceId, key: &Value) -> Option<&Record> {
        self.state.get(self.base, resource, key)
    }

    pub(super) fn candidates(
        &self,
        resource: ResourceId,
        field: FieldId,
        form: Form,
        value: &Value,
    ) -> Option<Candidates<'_>> {
        self.state.candidates(self.base, resource, field, form, value)
    }

    /// Returns a key that no record has, in this state or in the base.
    pub(super) fn free_key(&self, resource: ResourceId) -> Outcome<Value> {
        let declared = self.base.world().resource(resource);
        let n = self.state.creates(resource);
        for attempt in 0..KEY_ATTEMPTS {
            let key = key_for(&declared.key_format, self.state.seed(), &declared.qualified, n, attempt);
            if self.record(resource, &key).is_none() && self.base.find(resource, &key).is_none() {
                return Ok(key);
            }
        }
        // If the session itself used up the keys, the caller is at fault.
        let status = if n == 0 { 500 } else { 409 };
        Err(Refusal::new(status, format!("no key is free for another {}", declared.label)))
    }

    /// Adds a record. Refuses a key that another record has.
    pub(super) fn create(&mut self, resource: ResourceId, record: Record) -> Outcome<()> {
        let declared = self.base.world().resource(resource);
        let key = record[declared.key.index()].clone();
        if self.record(resource, &key).is_some() {
            return Err(taken(self.base, declared, &[declared.key], &record));
        }
        self.state.count_create(resource, &key);
        self.put(resource, key, Some(record));
        Ok(())
    }

    /// Replaces the record with the same key.
    pub(super) fn update(&mut self, resource: ResourceId, record: Record) {
        let key = record[self.base.world().resource(resource).key.index()].clone();
        self.put(resource, key, Some(record));
    }

    /// Deletes a record. References with `cascade` or `clear` are followed at once.
    pub(super) fn delete(&mut self, resource: ResourceId, key: &Value) {
        let mut gone = vec![(resource, key.clone())];
        while let Some((resource, key)) = gone.pop() {
            if self.record(resource, &key).is_none() {
                continue;
            }
            self.put(resource, key.clone(), None);
            let Some(frozen) = self.base.frozen(resource) else { continue };
            for referrer in &frozen.referrers {
                match referrer.on_delete {
                    OnDelete::Restrict => {}
                    OnDelete::Cascade => {
                        let key_field = self.base.world().resource(referrer.resource).key;
                        let keys =
                            self.referring(*referrer, &key).map(|record| record[key_field.index()].clone());
                        gone.extend(keys.map(|key| (referrer.resource, key)).collect::<Vec<_>>());
                    }
                    OnDelete::Clear => self.clear(*referrer, &key),
                }
            }
        }
    }

    /// Checks references and uniqueness, and returns the new state with the net changes.
    ///
    /// `blame` returns the parameter that sets a field, if any.
    pub(super) fn finish(
        mut self,
        blame: impl Fn(ResourceId, FieldId) -> Option<Str>,
    ) -> Outcome<(State, Vec<RecordChange>)> {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        let mut changes = Vec::with_capacity(touched.len());
        for (resource, key) in touched {
            let before = self.before.get(self.base, resource, &key);
            let after = self.record(resource, &key);
            if before != after {
                let (before, after) = (before.cloned(), after.cloned());
                changes.push(RecordChange { resource, key, before, after });
            }
        }
        for change in &changes {
            match &change.after {
                Some(after) => {
                    let checked =
                        self.check_references(change, after).and_then(|()| self.check_unique(change, after));
                    checked.map_err(|(refusal, fields)| {
                        refusal.about(fields.iter().find_map(|field| blame(change.resource, *field)).as_ref())
                    })?;
                }
                None => self.check_restrict(change)?,
            }
        }
        Ok((self.state, changes))
    }

    fn put(&mut self, resource: ResourceId, key: Value, record: Option<Record>) {
        self.state.put(self.base, resource, &key, record, &mut self.scratch);
        self.touched.push((resource, key));
    }

    /// Returns the records that refer to a key through a field.
    fn referring<'s>(&'s self, referrer: Referrer, key: &'s Value) -> impl Iterator<Item = &'s Record> {
        let form = if referrer.list { Form::Items } else { Form::Exact };
        let found = self.candidates(referrer.resource, referrer.field, form, key);
        found.into_iter().flatten().filter(move |record| match record.get(referrer.field.index()) {
            Some(Value::List(items)) => items.contains(key),
            Some(value) => value == key,
            None => false,
        })
    }

    fn clear(&mut self, referrer: Referrer, key: &Value) {
        let declared = self.base.world().resource(referrer.resource).field(referrer.field);
        let empty = if declared.schema.nullable { Value::Null } else { Value::Absent };
        let records: Vec<Record> = self.referring(referrer, key).cloned().collect();
        for record in records {
            let mut values = record.to_vec();
            if let Some(value) = values.get_mut(referrer.field.index()) {
                *value = match value {
                    Value::List(items) => {
                        Value::List(items.iter().filter(|item| *item != key).cloned().collect())
                    }
                    // A required field keeps its reference, so the final check refuses the deletion.
                    _ if !declared.schema.nullable && !declared.optional => continue,
                    _ => empty.clone(),
                };
            }
            self.update(referrer.resource, values.into());
        }
    }

    fn check_references(&self, change: &RecordChange, after: &Record) -> Result<(), RecordRefusal> {
        let declared = self.base.world().resource(change.resource);
        for (position, (field, value)) in declared.fields.iter().zip(after.iter()).enumerate() {
            if change.before.as_ref().is_some_and(|before| before[position] == *value) {
                continue;
            }
            if let Some(refusal) = self.leads_nowhere(&field.name, &field.schema, value) {
                return Err((refusal, vec![FieldId(position as u16)]));
            }
        }
        Ok(())
    }

    /// Returns the refusal of the first reference in a value that points to no record.
    pub(super) fn leads_nowhere(&self, name: &str, schema: &Schema, value: &Value) -> Option<Refusal> {
        let mut broken = None;
        visit_references(schema, value, &mut |target, key| {
            if broken.is_none() && self.record(target, key).is_none() {
                broken = Some((target, key.clone()));
            }
        });
        let (target, key) = broken?;
        let target = self.base.world().resource(target);
        let shown = key.to_text(&self.base.world().zone);
        let detail = format!("`{name}`: no {} has the {} {shown}", target.label, key_name(target));
        let expected = format!("the {} of an existing {}", key_name(target), target.label);
        Some(Refusal::new(422, detail).expecting(expected))
    }

    fn check_unique(&self, change: &RecordChange, after: &Record) -> Result<(), RecordRefusal> {
        let declared = self.base.world().resource(change.resource);
        let changed = |field: &FieldId| {
            change.before.as_ref().is_none_or(|before| before[field.index()] != after[field.index()])
        };
        for (position, _) in declared.fields.iter().enumerate().filter(|(_, field)| field.unique) {
            let field = FieldId(position as u16);
            // Keys are unique by construction.
            if field != declared.key && changed(&field) && self.occurs_elsewhere(change, after, &[field]) {
                return Err((taken(self.base, declared, &[field], after), vec![field]));
            }
        }
        for group in &declared.unique_together {
            let can_repeat = !group.contains(&declared.key) && group.iter().any(changed);
            if can_repeat && self.occurs_elsewhere(change, after, group) {
                let fields = group.iter().copied().filter(changed).collect();
                return Err((taken(self.base, declared, group, after), fields));
            }
        }
        Ok(())
    }

    /// Returns true if another record has the same values in all these fields. Missing values never count as
    /// equal.
    fn occurs_elsewhere(&self, change: &RecordChange, after: &Record, fields: &[FieldId]) -> bool {
        let key = self.base.world().resource(change.resource).key.index();
        if fields.iter().any(|field| after[field.index()].is_missing()) {
            return false;
        }
        let same = |record: &Record| {
            record[key] != change.key
                && fields.iter().all(|field| record[field.index()] == after[field.index()])
        };
        // Uses the field whose index returns the fewest frozen records.
        let narrowest = fields.iter().filter_map(|field| {
            let value = &after[field.index()];
            Some((self.base.positions(change.resource, *field, Form::Exact, value)?.len(), *field))
        });
        let narrowed = narrowest.min().and_then(|(_, field)| {
            self.candidates(change.resource, field, Form::Exact, &after[field.index()])
        });
        match narrowed {
            Some(mut candidates) => candidates.any(same),
            None => self.state.iter(self.base, change.resource).any(same),
        }
    }

    fn check_restrict(&self, change: &RecordChange) -> Outcome<()> {
        let Some(frozen) = self.base.frozen(change.resource) else { return Ok(()) };
        for referrer in &frozen.referrers {
            if let Some(record) = self.referring(*referrer, &change.key).next() {
                let world = self.base.world();
                let (target, other) = (world.resource(change.resource), world.resource(referrer.resource));
                let shown = record[other.key.index()].to_text(&world.zone);
                return Err(Refusal::new(
                    409,
                    format!(
                        "the {} {} still refers to this {}; change or delete it first",
                        other.label, shown, target.label
                    ),
                ));
            }
        }
        Ok(())
    }
}

impl Records for Draft<'_> {
    fn get(&self, resource: ResourceId, key: &Value) -> Option<&Record> {
        self.record(resource, key)
    }

    fn scan<'r>(&'r self, resource: ResourceId, visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>) {
        let _ = self.state.iter(self.base, resource).try_for_each(visit);
    }

    fn find<'r>(
        &'r self,
        resource: ResourceId,
        field: FieldId,
        value: &Value,
        visit: &mut dyn FnMut(&'r Record) -> ControlFlow<()>,
    ) -> bool {
        self.state.find(self.base, resource, field, value, visit)
    }
}

/// Returns the name of a resource's key for messages.
pub(super) fn key_name(resource: &Resource) -> &str {
    &resource.field(resource.key).name
}

fn taken(base: &Base, resource: &Resource, fields: &[FieldId], record: &Record) -> Refusal {
    let named = |field: &FieldId| {
        let value = record[field.index()].to_text(&base.world().zone);
        format!("{} {value}", resource.field(*field).name)
    };
    let named: Vec<String> = fields.iter().map(named).collect();
    Refusal::new(409, format!("another {} has the {} already", resource.label, named.join(" and ")))
}

/// Calls `visit` for each reference in a value.
fn visit_references(schema: &Schema, value: &Value, visit: &mut dyn FnMut(ResourceId, &Value)) {
    match (&schema.kind, value) {
        (Type::Reference { resource, .. }, value) if !value.is_missing() => visit(*resource, value),
        (Type::List(item), Value::List(items)) => {
            items.iter().for_each(|value| visit_references(item, value, visit));
        }
        (Type::Object(fields), Value::Object(members)) => {
            for field in fields.iter() {
                if let Some((_, value)) = members.iter().find(|(name, _)| *name == field.name) {
                    visit_references(&field.schema, value, visit);
                }
            }
        }
        _ => {}
    }
}
