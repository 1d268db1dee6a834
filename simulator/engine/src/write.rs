//! Field values of created and changed records.

use diorama_seeds::expr::{Expr, Slot};
use diorama_seeds::model::{Field, FieldId, ParameterId, Record, ResourceId, Setter};
use diorama_seeds::value::Value;

use super::draft::key_name;
use super::eval::SlotContent;
use super::fit::fit;
use super::refusal::{Outcome, Refusal};
use super::run::Run;

impl Run<'_> {
    /// Returns the record that a create makes.
    pub(super) fn new_record(&mut self, resource: ResourceId, set: &[(FieldId, Setter)]) -> Outcome<Record> {
        let declared = self.resource(resource);
        let mut values = vec![Value::Absent; declared.fields.len()];
        let mut authored = None;
        for (field, setter) in set {
            if let Some(value) = self.set_value(setter)? {
                let value = self.fitted(resource, *field, value, false)?;
                store(&mut values, *field, value);
            }
            if matches!(setter, Setter::Expr(_)) && declared.owner == Some(*field) {
                authored = Some(*field);
            }
        }
        if let Some((field, me)) = self.owner(declared)
            && authored.is_none()
        {
            let me = me.clone();
            store(&mut values, field, me);
        }
        self.default_body();
        self.keep_change(resource, &mut values, false)?;
        self.completed(resource, values)
    }

    /// Returns the record that an effect creates.
    pub(super) fn new_effect_record(
        &mut self,
        resource: ResourceId,
        set: &[(FieldId, Expr)],
    ) -> Outcome<Record> {
        let mut values = vec![Value::Absent; self.resource(resource).fields.len()];
        for (field, expr) in set {
            let value = self.value(expr)?;
            let value = self.fitted(resource, *field, value, false)?;
            store(&mut values, *field, value);
        }
        self.completed(resource, values)
    }

    /// Returns the record with all of its settable fields replaced.
    pub(super) fn replaced(
        &mut self,
        resource: ResourceId,
        record: &Record,
        set: &[(FieldId, Setter)],
    ) -> Outcome<Record> {
        if self.behaviour().keep.is_some() {
            return self.changed(resource, record, set, false);
        }
        let declared = self.resource(resource);
        let mut values = record.to_vec();
        for (position, field) in declared.fields.iter().enumerate() {
            let id = FieldId(position as u16);
            let kept = id == declared.key || declared.owner == Some(id) || field.generated;
            let setter = set.iter().find(|(of, _)| *of == id).map(|(_, setter)| setter);
            let given = match setter {
                Some(setter) => self.set_value(setter)?,
                None => None,
            };
            values[position] = match given {
                Some(value) => self.fitted(resource, id, value, true)?,
                None if kept => continue,
                None => match empty(field) {
                    Some(value) => value,
                    None if setter.is_none() => continue,
                    None => return Err(self.needed(resource, id)),
                },
            };
        }
        self.same_key(resource, record, &values)?;
        Ok(values.into())
    }

    /// Returns the record with the given fields changed.
    pub(super) fn patched(
        &mut self,
        resource: ResourceId,
        record: &Record,
        set: &[(FieldId, Setter)],
    ) -> Outcome<Record> {
        self.changed(resource, record, set, true)
    }

    /// Returns the record with the given fields changed and the body stored. `merge` adds the body to the
    /// stored one instead of replacing it.
    fn changed(
        &mut self,
        resource: ResourceId,
        record: &Record,
        set: &[(FieldId, Setter)],
        merge: bool,
    ) -> Outcome<Record> {
        let mut values = record.to_vec();
        self.keep_change(resource, &mut values, merge)?;
        // The key of a record cannot change.
        let key = self.resource(resource).key.index();
        values[key] = record[key].clone();
        for (field, setter) in set {
            if let Some(value) = self.set_value(setter)? {
                let value = self.fitted(resource, *field, value, true)?;
                store(&mut values, *field, value);
            }
        }
        self.same_key(resource, record, &values)?;
        Ok(values.into())
    }

    /// Returns the record after an effect's change. Expressions see it as `item`, before the change.
    pub(super) fn updated(
        &mut self,
        resource: ResourceId,
        record: &Record,
        set: &[(FieldId, Expr)],
    ) -> Outcome<Record> {
        let outer = self.bind(Slot::ITEM, SlotContent::Record(record.clone()));
        let mut values = record.to_vec();
        for (field, expr) in set {
            let value = self.value(expr)?;
            let value = self.fitted(resource, *field, value, true)?;
            store(&mut values, *field, value);
        }
        self.bind(Slot::ITEM, outer);
        self.same_key(resource, record, &values)?;
        Ok(values.into())
    }

    /// Returns the record with members added to one of its lists.
    pub(super) fn with_members(
        &mut self,
        resource: ResourceId,
        record: &Record,
        field: FieldId,
        member: ParameterId,
        position: Option<ParameterId>,
    ) -> Outcome<Record> {
        let mut items = list_of(record, field);
        let at = match position.map(|parameter| (parameter, self.argument(parameter).clone())) {
            Some((_, Value::Absent | Value::Null)) | None => items.len(),
            Some((parameter, value)) => match value {
                Value::Integer(at) if (0..=items.len() as i64).contains(&at) => at as usize,
                other => {
                    let name = self.parameter_name(parameter);
                    let expected = format!("a position from 0 to {}", items.len());
                    let found = other.to_text(self.zone());
                    let shown = name.map_or("position", |name| &**name);
                    return Err(Refusal::new(400, format!("`{shown}`: expected {expected}, found {found}"))
                        .about(name)
                        .expecting(expected));
                }
            },
        };
        for (offset, key) in self.members(member).into_iter().enumerate() {
            // With a contract, adding an existing member is no error.
            if items.contains(&key) && self.api.contract.is_some() {
                continue;
            }
            if items.contains(&key) {
                return Err(self.member_refusal(409, "is in it already", resource, field, &key, member));
            }
            items.insert((at + offset).min(items.len()), key);
        }
        self.with_list(resource, record, field, items)
    }

    /// Returns the record with members removed from one of its lists.
    pub(super) fn without_members(
        &mut self,
        resource: ResourceId,
        record: &Record,
        field: FieldId,
        member: ParameterId,
    ) -> Outcome<Record> {
        let mut items = list_of(record, field);
        for key in self.members(member) {
            let Some(at) = items.iter().position(|item| *item == key) else {
                return Err(self.member_refusal(404, "is not in it", resource, field, &key, member));
            };
            items.remove(at);
        }
        self.with_list(resource, record, field, items)
    }

    fn members(&self, parameter: ParameterId) -> Vec<Value> {
        match self.argument(parameter) {
            Value::List(items) => items.to_vec(),
            Value::Absent | Value::Null => Vec::new(),
            one => vec![one.clone()],
        }
    }

    fn with_list(
        &self,
        resource: ResourceId,
        record: &Record,
        field: FieldId,
        items: Vec<Value>,
    ) -> Outcome<Record> {
        let mut values = record.to_vec();
        let list = self.fitted(resource, field, Value::List(items.into()), true)?;
        store(&mut values, field, list);
        Ok(values.into())
    }

    fn member_refusal(
        &self,
        status: u16,
        problem: &str,
        resource: ResourceId,
        field: FieldId,
        key: &Value,
        parameter: ParameterId,
    ) -> Refusal {
        let declared = self.resource(resource);
        let list = &declared.field(field).name;
        let key = key.to_text(self.zone());
        Refusal::new(status, format!("the {list} of this {}: {key} {problem}", declared.label))
            .about(self.parameter_name(parameter))
    }

    /// Returns the value of a setter, or none if its argument was not given.
    fn set_value(&self, setter: &Setter) -> Outcome<Option<Value>> {
        Ok(match setter {
            Setter::Argument(parameter) => match self.argument(*parameter) {
                Value::Absent => None,
                value => Some(value.clone()),
            },
            Setter::Expr(expr) => Some(self.value(expr)?),
        })
    }

    /// Converts a value to its field's type and limits. Null in a field that does not allow it becomes the
    /// default or absence. If `clears` is true, it must not become the default.
    fn fitted(&self, resource: ResourceId, field: FieldId, value: Value, clears: bool) -> Outcome<Value> {
        let declared = self.resource(resource).field(field);
        if value.is_missing() && !declared.schema.nullable {
            return match &declared.default {
                _ if declared.optional => Ok(Value::Absent),
                Some(default) if !clears => Ok(default.clone()),
                // A create fills in or refuses missing values later, in [`Self::completed`].
                _ if !clears => Ok(Value::Absent),
                _ => Err(self.needed(resource, field)),
            };
        }
        let value = if matches!(value, Value::Absent) { Value::Null } else { value };
        fit(&declared.schema, &value).ok_or_else(|| {
            let expected = declared.schema.expected();
            let found = value.to_text(self.zone());
            let shown: String = found.chars().take(60).collect();
            Refusal::new(422, format!("`{}`: expected {expected}, found {shown}", declared.name))
                .about(self.parameter_of(resource, field).as_ref())
                .expecting(expected)
        })
    }

    /// Fills in missing values of a new record: its key, defaults and nulls.
    fn completed(&mut self, resource: ResourceId, mut values: Vec<Value>) -> Outcome<Record> {
        let declared = self.resource(resource);
        for (position, field) in declared.fields.iter().enumerate() {
            if !matches!(values[position], Value::Absent) {
                continue;
            }
            let id = FieldId(position as u16);
            values[position] = if id == declared.key {
                self.draft.free_key(resource)?
            } else if let Some(value) = empty(field) {
                value
            } else {
                return Err(self.needed(resource, id));
            };
        }
        Ok(values.into())
    }

    fn same_key(&self, resource: ResourceId, record: &Record, values: &[Value]) -> Outcome<()> {
        let declared = self.resource(resource);
        let key = declared.key;
        if record[key.index()] == values[key.index()] {
            return Ok(());
        }
        let detail = format!("`{}`: the key of a {} cannot change", key_name(declared), declared.label);
        Err(Refusal::new(422, detail).about(self.parameter_of(resource, key).as_ref()))
    }

    fn needed(&self, resource: ResourceId, field: FieldId) -> Refusal {
        let declared = self.resource(resource);
        let of = declared.field(field);
        let expected = of.schema.expected();
        Refusal::new(422, format!("`{}` of a {} needs a value: expected {expected}", of.name, declared.label))
            .about(self.parameter_of(resource, field).as_ref())
            .expecting(expected)
    }
}

/// Returns the value of a field that was not given: its default, null or absence. Returns none if the field
/// is required.
fn empty(field: &Field) -> Option<Value> {
    match &field.default {
        Some(default) => Some(default.clone()),
        None if field.optional => Some(Value::Absent),
        None if field.schema.nullable => Some(Value::Null),
        None => None,
    }
}

fn store(values: &mut [Value], field: FieldId, value: Value) {
    if let Some(place) = values.get_mut(field.index()) {
        *place = value;
    }
}

fn list_of(record: &Record, field: FieldId) -> Vec<Value> {
    match record.get(field.index()) {
        Some(Value::List(items)) => items.to_vec(),
        _ => Vec::new(),
    }
}
