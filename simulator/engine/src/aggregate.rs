//! Aggregates: counts, sums, means and extremes of the selected records, by group.

use std::collections::BTreeMap;

use diorama_seeds::model::{FieldId, Measure, Query, Record};
use diorama_seeds::schema::Type;
use diorama_seeds::value::{Decimal, Str, Value};

use super::eval::EvalError;
use super::page::Window;
use super::refusal::Outcome;
use super::reply::Body;
use super::run::Run;

impl Run<'_> {
    /// Returns the body of an aggregate: one object of measures, or a list with one object per group.
    pub(super) fn aggregate(
        &mut self,
        query: &Query,
        group_by: Option<FieldId>,
        measures: &[(Str, Measure)],
    ) -> Outcome<Body> {
        let declared = self.resource(query.resource);
        let selected = self.select(query)?;
        let measured = |records: &[&Record]| -> Outcome<Vec<(Str, Body)>> {
            let measure = |(name, measure): &(Str, Measure)| {
                let kind = field_of(*measure).map(|field| &declared.field(field).schema.kind);
                let value = compute(*measure, kind, records);
                let value = value.map_err(|error| self.blaming(error, |_| true))?;
                Ok((name.clone(), Body::computed(value)))
            };
            measures.iter().map(measure).collect()
        };
        let Some(field) = group_by else {
            let members = measured(&selected)?;
            return self.show_members(members);
        };
        // A record without a value belongs to the group of null, which comes last.
        let mut groups: BTreeMap<(bool, Value), Vec<&Record>> = BTreeMap::new();
        for record in selected {
            let value = record.get(field.index()).filter(|value| !value.is_missing()).cloned();
            groups.entry((value.is_none(), value.unwrap_or(Value::Null))).or_default().push(record);
        }
        let mut items = Vec::with_capacity(groups.len());
        for ((_, value), records) in &groups {
            let mut members = vec![(declared.field(field).name.clone(), Body::computed(value.clone()))];
            members.extend(measured(records)?);
            items.push(Body::Object(members));
        }
        if self.sort(query)?.is_some_and(|sort| sort.field == field && sort.descending) {
            items.reverse();
        }
        let window = Window::new(self, query)?;
        let total = items.len();
        let page = window.of(&items).to_vec();
        self.show_items(page, total, &window)
    }
}

const fn field_of(measure: Measure) -> Option<FieldId> {
    match measure {
        Measure::Count => None,
        Measure::Sum(field) | Measure::Average(field) | Measure::Min(field) | Measure::Max(field) => {
            Some(field)
        }
    }
}

fn compute(measure: Measure, kind: Option<&Type>, records: &[&Record]) -> Result<Value, EvalError> {
    let Some(field) = field_of(measure) else {
        return Ok(Value::Integer(i64::try_from(records.len()).unwrap_or(i64::MAX)));
    };
    let values =
        records.iter().filter_map(|record| record.get(field.index())).filter(|value| !value.is_missing());
    match measure {
        Measure::Min(_) => Ok(values.min().cloned().unwrap_or(Value::Null)),
        Measure::Max(_) => Ok(values.max().cloned().unwrap_or(Value::Null)),
        Measure::Sum(_) => total(kind, values).and_then(|total| total.sum()),
        Measure::Average(_) => total(kind, values).and_then(|total| total.average()),
        Measure::Count => Ok(Value::Null),
    }
}

/// An accumulating sum, exact for integers and decimals.
struct Total {
    exact: i128,
    scale: Option<u8>,
    inexact: f64,
    whole: bool,
    count: i128,
}

fn total<'a>(kind: Option<&Type>, values: impl Iterator<Item = &'a Value>) -> Result<Total, EvalError> {
    let scale = match kind {
        Some(Type::Decimal { scale, .. }) => Some(*scale),
        _ => None,
    };
    let mut total =
        Total { exact: 0, scale, inexact: 0.0, whole: matches!(kind, Some(Type::Integer)), count: 0 };
    for value in values {
        total.count += 1;
        match value {
            Value::Integer(value) => {
                total.exact += i128::from(*value);
                total.inexact += *value as f64;
            }
            Value::Decimal(value) => {
                let places = u32::from(total.scale.unwrap_or(0).saturating_sub(value.scale));
                total.exact += i128::from(value.minor) * 10_i128.pow(places);
            }
            Value::Number(value) => total.inexact += value,
            other => return Err(EvalError::Type { operation: "sum", found: other.kind() }),
        }
    }
    Ok(total)
}

impl Total {
    fn sum(&self) -> Result<Value, EvalError> {
        let exact = || i64::try_from(self.exact).map_err(|_| EvalError::Overflow("sum"));
        match self.scale {
            Some(scale) => Ok(Value::Decimal(Decimal { minor: exact()?, scale })),
            None if self.whole => Ok(Value::Integer(exact()?)),
            None => Value::number(self.inexact).ok_or(EvalError::NotFinite("sum")),
        }
    }

    /// Returns the mean, or null if there are no values. Decimals keep their scale; halves are rounded away
    /// from zero.
    fn average(&self) -> Result<Value, EvalError> {
        if self.count == 0 {
            return Ok(Value::Null);
        }
        match self.scale {
            Some(scale) => {
                let rounded = (self.exact.abs() + self.count / 2) / self.count * self.exact.signum();
                let minor = i64::try_from(rounded).map_err(|_| EvalError::Overflow("avg"))?;
                Ok(Value::Decimal(Decimal { minor, scale }))
            }
            None => {
                let sum = if self.whole { self.exact as f64 } else { self.inexact };
                Value::number(sum / self.count as f64).ok_or(EvalError::NotFinite("avg"))
            }
        }
    }
}
