//! Owns the arithmetic of numbers, dates and texts.
//!
//! Dates and timestamps may leave the calendar within an expression, so that a comparison with a bound is
//! never out of range. The final result is checked.

use crate::expr::error::EvalError;
use crate::expr::operator::{Cast, Operator};
use crate::value::{Date, Decimal, Instant, Time, Value};

const DAY: i64 = 86_400;

/// Computes `+ - * / %`. The result is null if an operand is missing.
pub(in crate::expr) fn apply(operator: Operator, left: &Value, right: &Value) -> Result<Value, EvalError> {
    let sign = operator.sign();
    match operator {
        Operator::Add => add(left, right, sign),
        Operator::Subtract => subtract(left, right, sign),
        Operator::Multiply => multiply(left, right, sign),
        Operator::Divide => divide(left, right, sign),
        _ => remainder(left, right, sign),
    }
}

pub(in crate::expr) fn add(left: &Value, right: &Value, sign: &'static str) -> Result<Value, EvalError> {
    match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => {
            a.checked_add(*b).map(Value::Integer).ok_or(EvalError::Overflow(sign))
        }
        (Value::DateTime(instant), Value::Integer(seconds))
        | (Value::Integer(seconds), Value::DateTime(instant)) => Ok(shift_instant(*instant, *seconds)),
        (Value::Date(date), Value::Integer(seconds)) | (Value::Integer(seconds), Value::Date(date)) => {
            Ok(shift_date(*date, *seconds))
        }
        (Value::Time(time), Value::Integer(seconds)) | (Value::Integer(seconds), Value::Time(time)) => {
            Ok(shift_time(*time, *seconds))
        }
        (Value::String(a), Value::String(b)) => Ok(Value::string(&format!("{a}{b}"))),
        _ => plain(left, right, sign, |a, b| a.checked_add(b), |a, b| a + b),
    }
}

pub(in crate::expr) fn subtract(left: &Value, right: &Value, sign: &'static str) -> Result<Value, EvalError> {
    match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => {
            a.checked_sub(*b).map(Value::Integer).ok_or(EvalError::Overflow(sign))
        }
        (Value::DateTime(a), Value::DateTime(b)) => difference(a.0, b.0, 1, sign),
        (Value::Date(a), Value::Date(b)) => difference(a.0.into(), b.0.into(), DAY, sign),
        (Value::Time(a), Value::Time(b)) => difference(a.0.into(), b.0.into(), 1, sign),
        (Value::DateTime(instant), Value::Integer(seconds)) => {
            Ok(shift_instant(*instant, seconds.saturating_neg()))
        }
        (Value::Date(date), Value::Integer(seconds)) => Ok(shift_date(*date, seconds.saturating_neg())),
        (Value::Time(time), Value::Integer(seconds)) => Ok(shift_time(*time, -(seconds % DAY))),
        _ => plain(left, right, sign, |a, b| a.checked_sub(b), |a, b| a - b),
    }
}

/// Returns the sum or difference of numbers. Decimals are exact, at the greater scale.
fn plain(
    left: &Value,
    right: &Value,
    sign: &'static str,
    exact: fn(i128, i128) -> Option<i128>,
    float: fn(f64, f64) -> f64,
) -> Result<Value, EvalError> {
    if left.is_missing() || right.is_missing() {
        return Ok(Value::Null);
    }
    if let Some((a, b)) = decimals(left, right) {
        let scale = a.scale.max(b.scale);
        return decimal(exact(widen(a, scale), widen(b, scale)), scale, sign);
    }
    let (a, b) = floats(left, right, sign)?;
    number(float(a, b), sign)
}

fn multiply(left: &Value, right: &Value, sign: &'static str) -> Result<Value, EvalError> {
    if let (Value::Integer(a), Value::Integer(b)) = (left, right) {
        return a.checked_mul(*b).map(Value::Integer).ok_or(EvalError::Overflow(sign));
    }
    if left.is_missing() || right.is_missing() {
        return Ok(Value::Null);
    }
    if let Some((a, b)) = decimals(left, right) {
        let product = i128::from(a.minor).checked_mul(i128::from(b.minor));
        let extra = 10_i128.pow(u32::from(a.scale.min(b.scale)));
        return decimal(product.map(|product| divide_rounded(product, extra)), a.scale.max(b.scale), sign);
    }
    let (a, b) = floats(left, right, sign)?;
    number(a * b, sign)
}

fn divide(left: &Value, right: &Value, sign: &'static str) -> Result<Value, EvalError> {
    if left.is_missing() || right.is_missing() {
        return Ok(Value::Null);
    }
    if right.as_f64() == Some(0.0) {
        return Err(EvalError::DivisionByZero);
    }
    if let Value::Decimal(a) = left {
        // The quotient keeps the scale of the left side, so that a quotient of money is money.
        return match right {
            Value::Integer(b) => decimal(Some(divide_rounded(a.minor.into(), (*b).into())), a.scale, sign),
            Value::Decimal(b) => {
                let scaled = i128::from(a.minor).checked_mul(10_i128.pow(u32::from(b.scale)));
                decimal(scaled.map(|scaled| divide_rounded(scaled, b.minor.into())), a.scale, sign)
            }
            _ => {
                let (a_float, b) = floats(left, right, sign)?;
                Decimal::round(a_float / b, a.scale).map(Value::Decimal).ok_or(EvalError::Overflow(sign))
            }
        };
    }
    let (a, b) = floats(left, right, sign)?;
    number(a / b, sign)
}

fn remainder(left: &Value, right: &Value, sign: &'static str) -> Result<Value, EvalError> {
    match (left, right) {
        (Value::Integer(_), Value::Integer(0)) => Err(EvalError::DivisionByZero),
        (Value::Integer(a), Value::Integer(b)) => {
            a.checked_rem(*b).map(Value::Integer).ok_or(EvalError::Overflow(sign))
        }
        _ if left.is_missing() || right.is_missing() => Ok(Value::Null),
        (Value::Integer(_), other) | (other, _) => {
            Err(EvalError::Type { operation: sign, found: other.kind() })
        }
    }
}

/// Converts a number to another numeric type. Null stays null.
pub(in crate::expr) fn cast(value: &Value, cast: Cast) -> Result<Value, EvalError> {
    let out_of_range = EvalError::Overflow("a cast to decimal");
    match (value, cast) {
        (Value::Absent | Value::Null, _) => Ok(Value::Null),
        (_, Cast::Number) => {
            let float =
                value.as_f64().ok_or(EvalError::Type { operation: "a number", found: value.kind() })?;
            number(float, "a number")
        }
        (Value::Integer(whole), Cast::Decimal(scale)) => {
            decimal(Some(widen(Decimal { minor: *whole, scale: 0 }, scale)), scale, "a cast to decimal")
        }
        (Value::Decimal(from), Cast::Decimal(scale)) => {
            Ok(Value::Decimal(rescale(*from, scale).ok_or(out_of_range)?))
        }
        (Value::Number(float), Cast::Decimal(scale)) => {
            Ok(Value::Decimal(Decimal::round(*float, scale).ok_or(out_of_range)?))
        }
        (other, Cast::Decimal(_)) => Err(EvalError::Type { operation: "a decimal", found: other.kind() }),
    }
}

/// Returns the nearest decimal of a scale, with halves rounded away from zero.
pub(in crate::expr) fn rescale(from: Decimal, scale: u8) -> Option<Decimal> {
    let minor = if scale >= from.scale {
        widen(from, scale)
    } else {
        divide_rounded(from.minor.into(), 10_i128.pow(u32::from(from.scale - scale)))
    };
    Some(Decimal { minor: i64::try_from(minor).ok()?, scale })
}

pub(in crate::expr) fn number(value: f64, sign: &'static str) -> Result<Value, EvalError> {
    Value::number(value).ok_or(EvalError::NotFinite(sign))
}

fn decimal(minor: Option<i128>, scale: u8, sign: &'static str) -> Result<Value, EvalError> {
    let minor = minor.and_then(|minor| i64::try_from(minor).ok()).ok_or(EvalError::Overflow(sign))?;
    Ok(Value::Decimal(Decimal { minor, scale }))
}

/// Returns both values as decimals if one is a decimal and the other converts exactly.
fn decimals(left: &Value, right: &Value) -> Option<(Decimal, Decimal)> {
    let whole = |minor: &i64| Decimal { minor: *minor, scale: 0 };
    match (left, right) {
        (Value::Decimal(a), Value::Decimal(b)) => Some((*a, *b)),
        (Value::Decimal(a), Value::Integer(b)) => Some((*a, whole(b))),
        (Value::Integer(a), Value::Decimal(b)) => Some((whole(a), *b)),
        _ => None,
    }
}

fn floats(left: &Value, right: &Value, sign: &'static str) -> Result<(f64, f64), EvalError> {
    let float =
        |value: &Value| value.as_f64().ok_or(EvalError::Type { operation: sign, found: value.kind() });
    Ok((float(left)?, float(right)?))
}

fn widen(decimal: Decimal, scale: u8) -> i128 {
    i128::from(decimal.minor) * 10_i128.pow(u32::from(scale.saturating_sub(decimal.scale)))
}

/// Returns the quotient, with halves rounded away from zero. The divisor must not be zero.
fn divide_rounded(dividend: i128, divisor: i128) -> i128 {
    let quotient = dividend / divisor;
    let rest = dividend % divisor;
    if rest.unsigned_abs() * 2 >= divisor.unsigned_abs() {
        quotient + if (dividend < 0) == (divisor < 0) { 1 } else { -1 }
    } else {
        quotient
    }
}

fn difference(a: i64, b: i64, unit: i64, sign: &'static str) -> Result<Value, EvalError> {
    let seconds = a.checked_sub(b).and_then(|units| units.checked_mul(unit));
    seconds.map(Value::Integer).ok_or(EvalError::Overflow(sign))
}

fn shift_instant(instant: Instant, seconds: i64) -> Value {
    Value::DateTime(Instant(instant.0.saturating_add(seconds)))
}

/// Shifts a date by the whole days of a duration. The rest is ignored.
fn shift_date(date: Date, seconds: i64) -> Value {
    let shifted = i64::from(date.0).saturating_add(seconds / DAY);
    Value::Date(Date(shifted.clamp(i32::MIN.into(), i32::MAX.into()) as i32))
}

/// Shifts a time of day, which wraps around at midnight.
fn shift_time(time: Time, seconds: i64) -> Value {
    let shifted = (i64::from(time.0) + seconds % DAY).rem_euclid(DAY);
    Value::Time(Time(shifted as u32))
}
