//! Filters: test records against a list's arguments.

use diorama_seeds::model::{Comparison, FieldId, FilterTest, Query, Record};
use diorama_seeds::value::{Value, Zone};

use super::index::Form;
use super::run::Run;

/// The filters of a query whose arguments are given.
pub(super) struct Filters<'a> {
    tests: Vec<Test<'a>>,
    zone: &'a Zone,
}

enum Test<'a> {
    Compare(FieldId, Comparison, Value),
    /// The words of the argument in lower case.
    Words(&'a [FieldId], Vec<String>),
}

impl<'a> Filters<'a> {
    pub(super) fn new(run: &Run<'a>, query: &'a Query) -> Self {
        let given = query.filters.iter().filter_map(|filter| {
            let argument = run.argument(filter.parameter);
            match (&filter.test, argument) {
                (_, Value::Absent) => None,
                (FilterTest::Compare(field, comparison), argument) => {
                    let argument = match (comparison, argument) {
                        (Comparison::Prefix | Comparison::Contains, Value::String(text)) => {
                            Value::String(text.to_lowercase().into())
                        }
                        _ => argument.clone(),
                    };
                    Some(Test::Compare(*field, *comparison, argument))
                }
                (FilterTest::Text(fields), Value::String(text)) => {
                    Some(Test::Words(fields, words(text).collect()))
                }
                (FilterTest::Text(_), _) => None,
            }
        });
        Self { tests: given.collect(), zone: run.zone() }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Returns the equality tests that an index may answer.
    pub(super) fn equalities(&self) -> impl Iterator<Item = (FieldId, Form, &Value)> {
        self.tests.iter().filter_map(|test| match test {
            Test::Compare(field, Comparison::Equal, value) => Some((*field, Form::Exact, value)),
            Test::Compare(field, Comparison::Has, value) => Some((*field, Form::Items, value)),
            _ => None,
        })
    }

    pub(super) fn pass(&self, record: &Record) -> bool {
        self.tests.iter().all(|test| match test {
            Test::Compare(field, comparison, argument) => {
                let value = record.get(field.index()).unwrap_or(&Value::Absent);
                compare(value, *comparison, argument, self.zone)
            }
            Test::Words(fields, wanted) => {
                let has = |word: &String| {
                    let mut values = fields.iter().filter_map(|field| record.get(field.index()));
                    values.any(|value| has_word(value, word))
                };
                wanted.iter().all(has)
            }
        })
    }
}

/// Returns the words of a text: runs of letters and digits, in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn has_word(value: &Value, word: &str) -> bool {
    match value {
        Value::String(text) => words(text).any(|found| found == word),
        Value::List(items) => items.iter().any(|item| has_word(item, word)),
        _ => false,
    }
}

fn compare(value: &Value, comparison: Comparison, argument: &Value, zone: &Zone) -> bool {
    let both = !value.is_missing() && !argument.is_missing();
    let ordered =
        |test: fn(std::cmp::Ordering) -> bool| both && order(value, argument, zone).is_some_and(test);
    match comparison {
        Comparison::Equal => equal(value, argument),
        Comparison::NotEqual => !equal(value, argument),
        Comparison::Less => ordered(std::cmp::Ordering::is_lt),
        Comparison::LessOrEqual => ordered(std::cmp::Ordering::is_le),
        Comparison::Greater => ordered(std::cmp::Ordering::is_gt),
        Comparison::GreaterOrEqual => ordered(std::cmp::Ordering::is_ge),
        Comparison::On => match (value, argument) {
            (Value::DateTime(instant), Value::Date(date)) => zone.date_of(*instant) == *date,
            (Value::DateTime(left), Value::DateTime(right)) => zone.date_of(*left) == zone.date_of(*right),
            _ => both && value == argument,
        },
        Comparison::Prefix => text_test(value, argument, |text, part| text.starts_with(part)),
        Comparison::Contains => text_test(value, argument, |text, part| text.contains(part)),
        Comparison::Has => match value {
            Value::List(items) => items.iter().any(|item| item.loosely_equals(argument)),
            _ => false,
        },
        Comparison::In => match argument {
            Value::List(items) => items.iter().any(|item| equal(value, item)),
            _ => false,
        },
    }
}

/// Returns true if a field equals an argument. Null matches fields without a value.
fn equal(value: &Value, argument: &Value) -> bool {
    match (value, argument) {
        (Value::Absent, Value::Null) => true,
        _ => value.loosely_equals(argument),
    }
}

/// Compares a field's value with an argument. Numbers compare by value, timestamps and days by the local day.
fn order(value: &Value, argument: &Value, zone: &Zone) -> Option<std::cmp::Ordering> {
    match (value, argument) {
        (Value::DateTime(instant), Value::Date(date)) => Some(zone.date_of(*instant).cmp(date)),
        (Value::Date(date), Value::DateTime(instant)) => Some(date.cmp(&zone.date_of(*instant))),
        (Value::DateTime(instant), Value::Time(time)) => Some(zone.time_of(*instant).cmp(time)),
        _ if value.kind() == argument.kind() => Some(value.cmp(argument)),
        _ => value.as_f64()?.partial_cmp(&argument.as_f64()?),
    }
}

/// Tests a string or the items of a list. `part` must be in lower case.
fn text_test(value: &Value, part: &Value, test: fn(&str, &str) -> bool) -> bool {
    match (value, part) {
        (Value::String(text), Value::String(part)) => test(&text.to_lowercase(), part),
        (Value::List(items), part) => items.iter().any(|item| text_test(item, part, test)),
        _ => false,
    }
}
