//! Fitting: converts calculated values to a field's declared type.

use std::sync::Arc;

use diorama_seeds::schema::{KeyKind, Schema, Type};
use diorama_seeds::value::{Decimal, Value};

/// Returns the value in the schema's type and within its limits, or `None` if it does not fit. Promotes
/// numbers and rounds them to a decimal's places. Converts nothing else.
pub(super) fn fit(schema: &Schema, value: &Value) -> Option<Value> {
    let fitted = match (&schema.kind, value) {
        (_, Value::Absent) => return None,
        (_, Value::Null) => Value::Null,
        (Type::Integer | Type::Reference { key: KeyKind::Integer, .. }, value) => {
            Value::Integer(whole(value)?)
        }
        (Type::Number, value) => Value::number(value.as_f64()?)?,
        (Type::Decimal { scale, .. }, value) => Value::Decimal(rescale(value, *scale)?),
        (Type::Enum(values), Value::String(text)) => values.contains(text).then(|| value.clone())?,
        (Type::Date, Value::Date(_))
        | (Type::Time, Value::Time(_))
        | (Type::DateTime, Value::DateTime(_))
        | (Type::Boolean, Value::Bool(_))
        | (Type::String | Type::Reference { key: KeyKind::String, .. }, Value::String(_))
        | (Type::Any, _) => value.clone(),
        (Type::List(item), Value::List(items)) => {
            Value::List(items.iter().map(|value| fit(item, value)).collect::<Option<Arc<[_]>>>()?)
        }
        (Type::Object(fields), Value::Object(members)) => {
            if members.iter().any(|(name, _)| !fields.iter().any(|field| field.name == *name)) {
                return None;
            }
            let mut fitted = Vec::with_capacity(fields.len());
            for field in fields.iter() {
                match members.iter().find(|(name, _)| *name == field.name) {
                    Some((name, value)) if !matches!(value, Value::Absent) => {
                        fitted.push((name.clone(), fit(&field.schema, value)?));
                    }
                    _ if field.optional => {}
                    _ => return None,
                }
            }
            Value::object(fitted)
        }
        _ => return None,
    };
    schema.allows(&fitted).then_some(fitted)
}

/// Returns the integer that a number equals, if any.
pub(super) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(value) => Some(*value),
        Value::Decimal(value) => {
            let value = value.reduced();
            (value.scale == 0).then_some(value.minor)
        }
        Value::Number(value) => (value.fract() == 0.0 && value.abs() < 9.0e15).then_some(*value as i64),
        _ => None,
    }
}

fn rescale(value: &Value, scale: u8) -> Option<Decimal> {
    match value {
        Value::Integer(value) => {
            let minor = value.checked_mul(10_i64.checked_pow(u32::from(scale))?)?;
            Some(Decimal { minor, scale })
        }
        Value::Decimal(value) if value.scale <= scale => {
            let minor = value.minor.checked_mul(10_i64.checked_pow(u32::from(scale - value.scale))?)?;
            Some(Decimal { minor, scale })
        }
        Value::Decimal(value) => {
            let divisor = 10_i128.checked_pow(u32::from(value.scale - scale))?;
            let minor = i128::from(value.minor);
            let rounded = (minor.abs() + divisor / 2) / divisor * minor.signum();
            Some(Decimal { minor: i64::try_from(rounded).ok()?, scale })
        }
        Value::Number(value) => Decimal::round(*value, scale),
        _ => None,
    }
}

/// Converts a value to a key. A numeric key becomes an integer, whatever type an expression calculated.
pub(super) fn as_key(value: &Value) -> Value {
    match value {
        Value::Number(_) | Value::Decimal(_) => whole(value).map_or_else(|| value.clone(), Value::Integer),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Type, value: Value, expect: Option<Value>) {
        assert_eq!(fit(&Schema::of(kind), &value), expect);
    }

    #[test]
    fn numbers_are_promoted_and_rounded_and_nothing_else_is_converted() {
        let money = || Type::Decimal { scale: 2, currency: None };
        let decimal = |minor, scale| Value::Decimal(Decimal { minor, scale });
        check(Type::Integer, Value::Number(3.0), Some(Value::Integer(3)));
        check(Type::Integer, Value::Number(3.5), None);
        check(Type::Integer, decimal(300, 2), Some(Value::Integer(3)));
        check(Type::Number, Value::Integer(3), Some(Value::Number(3.0)));
        check(money(), Value::Integer(3), Some(decimal(300, 2)));
        check(money(), decimal(1_235, 3), Some(decimal(124, 2)));
        check(money(), decimal(-1_235, 3), Some(decimal(-124, 2)));
        check(money(), Value::Integer(i64::MAX), None);
        check(Type::String, Value::Integer(3), None);
        check(Type::Enum(["a".into()].into()), Value::string("b"), None);
        check(Type::Boolean, Value::Null, None);
    }
}
