//! Alterations of a state: one record added, one removed, or one field with another value.

use std::collections::BTreeSet;

use diorama_engine::{Base, State};
use diorama_seeds::model::{Comparison, FieldId, FilterTest, Record, Resource, ResourceId};
use diorama_seeds::schema::Type;
use diorama_seeds::value::{Date, Decimal, Instant, Time, Value};

use super::question::{Answer, Question, Standard};

/// A change of one record in a state. A `record` of none removes it.
pub(super) struct Alteration {
    pub(super) resource: ResourceId,
    pub(super) key: Value,
    pub(super) kind: AlterationKind,
    record: Option<Record>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AlterationKind {
    New,
    Gone,
    /// This field has another value.
    Field(FieldId),
}

/// Selects the alterations of a record to try.
#[derive(Clone, Copy)]
pub(super) enum FieldChoice<'a> {
    All,
    /// These fields, and the removal of the record.
    Fields(&'a BTreeSet<(ResourceId, FieldId)>),
}

/// Makes the alterations that may affect the answer to a question.
#[derive(Clone, Copy)]
pub(super) struct Alterer<'a> {
    pub(super) base: &'a Base,
    pub(super) state: &'a State,
    pub(super) question: &'a Question,
    pub(super) standard: Standard,
}

impl Alteration {
    /// Returns the field that the alteration changes.
    pub(super) const fn field(&self) -> Option<(ResourceId, FieldId)> {
        match self.kind {
            AlterationKind::Field(field) => Some((self.resource, field)),
            AlterationKind::New | AlterationKind::Gone => None,
        }
    }

    pub(super) fn apply_to(&self, base: &Base, state: &State) -> State {
        state.with_record(base, self.resource, &self.key, self.record.clone())
    }
}

impl<'a> Alterer<'a> {
    /// Returns the alterations of a record: its removal, and each field with other values.
    pub(super) fn alterations(
        self,
        resource: ResourceId,
        record: &'a Record,
        tried: FieldChoice<'a>,
    ) -> impl Iterator<Item = Alteration> + 'a {
        let declared = self.base.world().resource(resource);
        let key = &record[declared.key.index()];
        let fields = (0..declared.fields.len()).map(|at| FieldId(at as u16)).filter(move |field| {
            *field != declared.key
                && match tried {
                    FieldChoice::All => true,
                    FieldChoice::Fields(fields) => fields.contains(&(resource, *field)),
                }
        });
        let changed = fields.flat_map(move |field| {
            let others = self.other_values(declared, resource, field, &record[field.index()]);
            others.into_iter().map(move |value| {
                let mut other: Vec<Value> = record.to_vec();
                other[field.index()] = value;
                let kind = AlterationKind::Field(field);
                Alteration { resource, key: key.clone(), kind, record: Some(other.into()) }
            })
        });
        let gone = Alteration { resource, key: key.clone(), kind: AlterationKind::Gone, record: None };
        std::iter::once(gone).chain(changed)
    }

    /// Returns the record with a value of a field that exceeds, or falls below, that of all others.
    pub(super) fn find_better(
        self,
        resource: ResourceId,
        record: &Record,
        field: FieldId,
        greatest: bool,
    ) -> Option<Alteration> {
        let sign = if greatest { 1 } else { -1 };
        let value = match &record[field.index()] {
            Value::Integer(number) => Value::Integer(number.saturating_add(sign * 1_000_000_000)),
            Value::Number(number) => Value::number(number + sign as f64 * 1e9)?,
            Value::Decimal(decimal) => {
                let minor = decimal.minor.saturating_add(sign * 100_000_000_000);
                Value::Decimal(Decimal { minor, ..*decimal })
            }
            Value::Date(date) => Value::Date(Date(date.0 + sign as i32 * 10_000)),
            Value::Time(_) => Value::Time(Time(if greatest { 86_399 } else { 0 })),
            Value::DateTime(instant) => Value::DateTime(Instant(instant.0 + sign * 10_000 * 86_400)),
            _ => return None,
        };
        let mut other: Vec<Value> = record.to_vec();
        let key = record[self.base.world().resource(resource).key.index()].clone();
        other[field.index()] = value;
        Some(Alteration { resource, key, kind: AlterationKind::Field(field), record: Some(other.into()) })
    }

    /// Returns new records that match the question's arguments. Models for them are records that replies
    /// show, records at even steps, and the last record.
    pub(super) fn new_records<'k>(
        self,
        resource: ResourceId,
        shown: impl Iterator<Item = &'k Value>,
    ) -> impl Iterator<Item = Alteration> {
        let declared = self.base.world().resource(resource);
        let most = self.standard.max_models();
        let step = self.state.count(self.base, resource).div_ceil(most).max(1);
        let last = self.state.iter(self.base, resource).last();
        let mut models: Vec<&Record> = last.into_iter().collect();
        models.extend(shown.filter_map(|key| self.state.get(self.base, resource, key)).take(most));
        models.extend(self.state.iter(self.base, resource).step_by(step));
        let key = last.and_then(|record| match &record[declared.key.index()] {
            Value::Integer(key) => Some(Value::Integer(key.checked_add(1)?)),
            Value::String(key) => Some(Value::string(&format!("{key}0"))),
            _ => None,
        });
        let made = move |record: Vec<Value>| {
            let key = record[declared.key.index()].clone();
            Alteration { resource, key, kind: AlterationKind::New, record: Some(record.into()) }
        };
        models.into_iter().flat_map(move |model| {
            let mut record: Vec<Value> = model.to_vec();
            let Some(key) = &key else { return Vec::new() };
            record[declared.key.index()] = key.clone();
            let others = self.fill(resource, &mut record);
            let mut records = with_each(declared, &record, &others);
            records.insert(0, record);
            records.into_iter().map(made).collect()
        })
    }

    /// Sets the fields of a record to the question's arguments. Returns the argument values for which the API
    /// names no field.
    fn fill(self, resource: ResourceId, record: &mut [Value]) -> Vec<&'a Value> {
        let world = self.base.world();
        let api = world.api(self.question.api);
        let mut others = Vec::new();
        for (id, argument) in &self.question.arguments {
            let named = api.parameters.get(id.index()).and_then(|parameter| parameter.field);
            if let Some((of, field)) = named
                && of == resource
                && record[field.index()].kind() == argument.kind()
            {
                record[field.index()] = argument.clone();
            }
            let query = api.query().filter(|query| query.resource == resource);
            let filters = query.into_iter().flat_map(|query| &query.filters);
            let mut is_filter = false;
            for filter in filters.filter(|filter| filter.parameter == *id) {
                is_filter = true;
                let FilterTest::Compare(field, comparison) = &filter.test else { continue };
                let schema = &world.resource(resource).field(*field).schema.kind;
                if let Some(value) = self.passing(*comparison, argument, schema) {
                    record[field.index()] = value;
                }
            }
            if named.is_none() && !is_filter {
                add_parts(argument, &mut others);
            }
        }
        others
    }

    /// Returns a value of a field that passes a filter.
    fn passing(self, comparison: Comparison, argument: &Value, kind: &Type) -> Option<Value> {
        let value = match (comparison, argument) {
            (Comparison::NotEqual, _) => return None,
            (Comparison::Has, item) => Value::List([item.clone()].into()),
            (Comparison::In, Value::List(items)) => items.first()?.clone(),
            (Comparison::Less, Value::Date(date)) => Value::Date(Date(date.0.checked_sub(1)?)),
            (Comparison::Greater, Value::Date(date)) => Value::Date(Date(date.0.checked_add(1)?)),
            (Comparison::Less, Value::Integer(number)) => Value::Integer(number.checked_sub(1)?),
            (Comparison::Greater, Value::Integer(number)) => Value::Integer(number.checked_add(1)?),
            (_, argument) => argument.clone(),
        };
        match (kind, value) {
            // Uses noon of the day.
            (Type::DateTime, Value::Date(date)) => {
                Some(Value::DateTime(self.base.world().zone.instant(date, Time(12 * 3_600))))
            }
            (_, value) => Some(value),
        }
    }

    /// Returns today, or a time one hour from now. A rule that requires notice forbids it, whereas the API
    /// itself would refuse one in the past.
    fn soon(self, value: &Value) -> Option<Value> {
        const SOON_SECONDS: i64 = 3_600;
        let clock = self.state.clock();
        match value {
            Value::DateTime(_) => Some(Value::DateTime(Instant(clock.0.checked_add(SOON_SECONDS)?))),
            Value::Date(_) => Some(Value::Date(self.base.world().zone.date_of(clock))),
            _ => None,
        }
    }

    /// Returns other values of a field: values in the question, values of other records, and adjacent values.
    fn other_values(
        self,
        declared: &Resource,
        resource: ResourceId,
        field: FieldId,
        value: &Value,
    ) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        let kind = &declared.field(field).schema.kind;
        let arguments = self.question.arguments.iter().map(|(_, value)| value);
        found.extend(arguments.filter(|named| named.kind() == value.kind()).cloned());
        if matches!(self.question.answer, Answer::Permitted(_)) {
            found.extend(self.soon(value));
        }
        match (kind, value) {
            (Type::Enum(values), _) => found.extend(values.iter().cloned().map(Value::String)),
            (_, Value::Bool(flag)) => found.push(Value::Bool(!flag)),
            (_, Value::Integer(number)) => {
                found.extend([0, number.saturating_add(1_000_000)].map(Value::Integer));
            }
            (_, Value::Number(number)) => {
                found.extend([0.0, number + 1.0].into_iter().filter_map(Value::number));
            }
            (_, Value::Decimal(decimal)) => {
                for minor in [0, decimal.minor.saturating_add(100_000_000)] {
                    found.push(Value::Decimal(Decimal { minor, ..*decimal }));
                }
            }
            (_, Value::Date(date)) => found.extend([-400, 400].map(|days| Value::Date(Date(date.0 + days)))),
            (_, Value::Time(time)) => found.push(Value::Time(Time((time.0 + 3_600) % 86_400))),
            (_, Value::DateTime(instant)) => {
                let seconds = [-400 * 86_400, 400 * 86_400];
                found.extend(seconds.map(|seconds| Value::DateTime(Instant(instant.0 + seconds))));
            }
            _ => {}
        }
        let (most, of_records) = self.standard.max_other_values();
        let records = self.state.iter(self.base, resource).filter_map(|record| record.get(field.index()));
        found.extend(records.filter(|other| *other != value).take(of_records).cloned());
        if declared.field(field).optional && !value.is_missing() {
            found.push(Value::Absent);
        }
        found.dedup();
        found.retain(|other| other != value);
        found.truncate(most);
        found
    }
}

/// Adds the numbers, days and times of a value. Objects and lists add those of their parts.
fn add_parts<'a>(value: &'a Value, parts: &mut Vec<&'a Value>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(_, member)| add_parts(member, parts)),
        Value::List(items) => items.iter().for_each(|item| add_parts(item, parts)),
        Value::String(_) | Value::Absent | Value::Null => {}
        value => parts.push(value),
    }
}

/// Returns copies of a record, each with one of the values in one field of the same type.
fn with_each(declared: &Resource, record: &[Value], values: &[&Value]) -> Vec<Vec<Value>> {
    let fields = (0..record.len()).filter(|at| *at != declared.key.index());
    let pairs = fields.flat_map(|at| values.iter().map(move |value| (at, *value)));
    let fits = |(at, value): &(usize, &Value)| record[*at].kind() == value.kind() && record[*at] != **value;
    let changed = |(at, value): (usize, &Value)| {
        let mut other = record.to_vec();
        other[at] = value.clone();
        other
    };
    pairs.filter(fits).map(changed).collect()
}
