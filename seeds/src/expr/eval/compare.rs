//! Owns equality, order and membership.

use std::cmp::Ordering;

use crate::expr::operator::Operator;
use crate::value::{Decimal, Value};

/// Returns true if a comparison holds. A missing operand makes each order false. `==` and `!=` compare it as
/// a value, for which null, absent and a missing record are equal.
///
/// None stands for a record.
pub(super) fn holds(operator: Operator, left: Option<&Value>, right: Option<&Value>) -> bool {
    match operator {
        Operator::Equal => equal(left, right),
        Operator::NotEqual => !equal(left, right),
        Operator::In => match (left, right) {
            (Some(item), Some(Value::List(items))) => items.iter().any(|other| equal_values(item, other)),
            _ => false,
        },
        _ => match left.zip(right).and_then(|(left, right)| order(left, right)) {
            Some(ordering) => match operator {
                Operator::Less => ordering.is_lt(),
                Operator::LessOrEqual => ordering.is_le(),
                Operator::Greater => ordering.is_gt(),
                Operator::GreaterOrEqual => ordering.is_ge(),
                _ => false,
            },
            None => false,
        },
    }
}

fn equal(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => equal_values(left, right),
        // The checker allows a record to be compared only with null, and an existing record is not null.
        _ => false,
    }
}

fn equal_values(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(a), Value::String(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal_values(a, b))
        }
        _ => (left.is_missing() && right.is_missing()) || left.loosely_equals(right),
    }
}

/// Returns the order of two values of one kind. Numbers compare by value. Returns none if one is missing or
/// the kind has no order.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
        (Value::Decimal(a), Value::Decimal(b)) if a.scale == b.scale => Some(a.minor.cmp(&b.minor)),
        (Value::Decimal(a), Value::Decimal(b)) => Some(a.cmp(b)),
        (Value::Decimal(a), Value::Integer(b)) => Some(a.cmp(&Decimal { minor: *b, scale: 0 })),
        (Value::Integer(a), Value::Decimal(b)) => Some(Decimal { minor: *a, scale: 0 }.cmp(b)),
        (Value::DateTime(a), Value::DateTime(b)) => Some(a.cmp(b)),
        (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
        (Value::Time(a), Value::Time(b)) => Some(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => left.as_f64().zip(right.as_f64()).and_then(|(a, b)| a.partial_cmp(&b)),
    }
}
