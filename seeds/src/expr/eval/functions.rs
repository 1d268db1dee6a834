//! Built-in functions.

use crate::expr::eval::{Env, EvalError, Frame, Out, arithmetic, compare};
use crate::expr::{Cast, Function, Node, units};
use crate::value::{Date, Decimal, Time, Value};

/// Mean radius of the Earth in kilometres (IUGG: R1 = (2a + b) / 3 of GRS 80).
const EARTH_RADIUS_KM: f64 = 6_371.008_8;

impl<'e> Env<'e> {
    pub(super) fn call<'v>(
        &'v self,
        function: Function,
        arguments: &'v [Node],
        frame: Option<&'v Frame<'v>>,
    ) -> Result<Out<'v>, EvalError> {
        match function {
            Function::Given => {
                let given = match arguments.first() {
                    Some(Node::Argument(id)) => {
                        self.arguments.get(id.index()).is_some_and(|value| !matches!(value, Value::Absent))
                    }
                    _ => false,
                };
                return Ok(Out::Own(Value::Bool(given)));
            }
            Function::Coalesce => {
                for argument in arguments {
                    let out = self.run(argument, frame)?;
                    if out.value().is_none_or(|value| !value.is_missing()) {
                        return Ok(out);
                    }
                }
                return Ok(Out::NULL);
            }
            Function::Concat => {
                let mut text = String::new();
                for argument in arguments {
                    let out = self.run(argument, frame)?;
                    let value = out.scalar("concat")?;
                    if !value.is_missing() {
                        self.budget.take_bytes_of(value)?;
                        text.push_str(&value.to_text(self.zone));
                    }
                }
                return Ok(Out::Own(Value::string(&text)));
            }
            Function::Min | Function::Max => return self.extreme(function, arguments, frame),
            _ => {}
        }
        let Some(first) = arguments.first() else { return Ok(Out::NULL) };
        let first = self.run(first, frame)?;
        let second = arguments.get(1).map(|node| self.run(node, frame)).transpose()?;
        // Whatever takes a value gives null for null; only conditions give false.
        let missing = |out: &Out<'_>| out.value().is_none_or(Value::is_missing);
        if missing(&first) || second.as_ref().is_some_and(missing) {
            let condition =
                matches!(function, Function::Contains | Function::StartsWith | Function::EndsWith);
            return Ok(if condition { Out::Own(Value::Bool(false)) } else { Out::NULL });
        }
        // What is made of a text or list is about as long as it is.
        for argument in std::iter::once(&first).chain(&second) {
            argument.value().map_or(Ok(()), |value| self.budget.take_bytes_of(value))?;
        }
        let rest = arguments.get(2..).unwrap_or_default();
        let value = match second {
            None => self.unary(function, first.scalar("a function")?)?,
            Some(second) => {
                self.binary(function, first.scalar("a function")?, second.scalar("a function")?, rest, frame)?
            }
        };
        Ok(Out::Own(value))
    }

    fn extreme<'v>(
        &'v self,
        function: Function,
        arguments: &'v [Node],
        frame: Option<&'v Frame<'v>>,
    ) -> Result<Out<'v>, EvalError> {
        let mut best: Option<Out<'v>> = None;
        for argument in arguments {
            let out = self.run(argument, frame)?;
            if out.scalar("min")?.is_missing() {
                return Ok(Out::NULL);
            }
            let better = match (&best, out.value()) {
                (Some(best), Some(value)) => {
                    let order = best.value().and_then(|best| compare::order(value, best));
                    order.is_some_and(
                        |order| if function == Function::Min { order.is_lt() } else { order.is_gt() },
                    )
                }
                _ => true,
            };
            if better {
                best = Some(out);
            }
        }
        Ok(best.unwrap_or(Out::NULL))
    }

    fn unary(&self, function: Function, value: &Value) -> Result<Value, EvalError> {
        let wrong = |operation| Err(EvalError::Type { operation, found: value.kind() });
        match function {
            Function::Size => match value {
                Value::String(text) => Ok(Value::Integer(text.chars().count() as i64)),
                Value::List(items) => Ok(Value::Integer(items.len() as i64)),
                _ => wrong("size"),
            },
            Function::Lower => text(value, "lower").map(|text| Value::string(&text.to_lowercase())),
            Function::Upper => text(value, "upper").map(|text| Value::string(&text.to_uppercase())),
            Function::String => match value {
                Value::String(_) => Ok(value.clone()),
                _ => Ok(Value::string(&value.to_text(self.zone))),
            },
            Function::Integer => match value {
                Value::String(text) => Ok(text.trim().parse().map_or(Value::Null, Value::Integer)),
                _ => whole(value, "integer", f64::trunc, i128::checked_div),
            },
            Function::Number => match value {
                Value::String(text) => {
                    Ok(text.trim().parse().ok().and_then(Value::number).unwrap_or(Value::Null))
                }
                _ => arithmetic::cast(value, Cast::Number),
            },
            Function::Round => match value {
                Value::Decimal(decimal) => arithmetic::rescale(*decimal, 0)
                    .map(|whole| Value::Integer(whole.minor))
                    .ok_or(EvalError::Overflow("round")),
                _ => whole(value, "round", f64::round, i128::checked_div),
            },
            Function::Floor => whole(value, "floor", f64::floor, i128::checked_div_euclid),
            Function::Ceil => whole(value, "ceil", f64::ceil, |minor, unit| {
                minor.checked_neg()?.checked_div_euclid(unit)?.checked_neg()
            }),
            Function::Abs => match value {
                Value::Integer(whole) => {
                    whole.checked_abs().map(Value::Integer).ok_or(EvalError::Overflow("abs"))
                }
                Value::Number(float) => arithmetic::number(float.abs(), "abs"),
                Value::Decimal(Decimal { minor, scale }) => match minor.checked_abs() {
                    Some(minor) => Ok(Value::Decimal(Decimal { minor, scale: *scale })),
                    None => Err(EvalError::Overflow("abs")),
                },
                _ => wrong("abs"),
            },
            Function::Sqrt => arithmetic::number(float(value, "sqrt")?.sqrt(), "sqrt"),
            Function::Date => match value {
                Value::DateTime(instant) => Ok(Value::Date(self.zone.date_of(*instant))),
                Value::String(text) => Ok(Date::parse(text).map_or(Value::Null, Value::Date)),
                Value::Date(_) => Ok(value.clone()),
                _ => wrong("date"),
            },
            Function::Time => match value {
                Value::DateTime(instant) => Ok(Value::Time(self.zone.time_of(*instant))),
                Value::String(text) => Ok(Time::parse(text).map_or(Value::Null, Value::Time)),
                Value::Time(_) => Ok(value.clone()),
                _ => wrong("time"),
            },
            Function::DateTime => match value {
                Value::DateTime(_) => Ok(value.clone()),
                Value::String(text) => Ok(self.zone.parse_instant(text).map_or(Value::Null, Value::DateTime)),
                _ => wrong("datetime"),
            },
            Function::Days => seconds(value, 86_400, "days"),
            Function::Hours => seconds(value, 3_600, "hours"),
            Function::Minutes => seconds(value, 60, "minutes"),
            Function::Duration => Ok(value.clone()),
            Function::Weekday => {
                self.civil(value, "weekday").map(|day| integer(day.weekday().to_monday_one_offset()))
            }
            Function::Year => self.civil(value, "year").map(|day| integer(day.year())),
            Function::Month => self.civil(value, "month").map(|day| integer(day.month())),
            Function::Day => self.civil(value, "day").map(|day| integer(day.day())),
            _ => wrong("a function with one argument"),
        }
    }

    fn binary(
        &self,
        function: Function,
        a: &Value,
        b: &Value,
        rest: &[Node],
        frame: Option<&Frame<'_>>,
    ) -> Result<Value, EvalError> {
        match function {
            Function::Contains => Ok(Value::Bool(text(a, "contains")?.contains(text(b, "contains")?))),
            Function::StartsWith => {
                Ok(Value::Bool(text(a, "startsWith")?.starts_with(text(b, "startsWith")?)))
            }
            Function::EndsWith => Ok(Value::Bool(text(a, "endsWith")?.ends_with(text(b, "endsWith")?))),
            Function::Round => round(a, b),
            Function::DateTime => match (a, b) {
                (Value::Date(date), Value::Time(time)) => {
                    Ok(Value::DateTime(self.zone.instant(*date, *time)))
                }
                (Value::Date(_), other) | (other, _) => {
                    Err(EvalError::Type { operation: "datetime", found: other.kind() })
                }
            },
            Function::DaysBetween => {
                let days =
                    i64::from(self.day(b, "days_between")?.0) - i64::from(self.day(a, "days_between")?.0);
                Ok(Value::Integer(days))
            }
            Function::MinutesBetween => match arithmetic::subtract(b, a, "minutes_between")? {
                Value::Integer(seconds) => Ok(Value::Integer(seconds / 60)),
                other => Err(EvalError::Type { operation: "minutes_between", found: other.kind() }),
            },
            Function::Convert => {
                let Some(to) = rest.first() else { return Ok(Value::Null) };
                let to = self.run(to, frame)?;
                let Some(to) = to.value().and_then(Value::as_str) else { return Ok(Value::Null) };
                let converted = units::convert(float(a, "convert")?, text(b, "convert")?, to);
                Ok(converted.and_then(Value::number).unwrap_or(Value::Null))
            }
            Function::DistanceKm => {
                let [latitude, longitude] = rest else { return Ok(Value::Null) };
                let (latitude, longitude) = (self.run(latitude, frame)?, self.run(longitude, frame)?);
                let (latitude, longitude) =
                    (latitude.scalar("distance_km")?, longitude.scalar("distance_km")?);
                if latitude.is_missing() || longitude.is_missing() {
                    return Ok(Value::Null);
                }
                let from = (float(a, "distance_km")?, float(b, "distance_km")?);
                let to = (float(latitude, "distance_km")?, float(longitude, "distance_km")?);
                arithmetic::number(distance_km(from, to), "distance_km")
            }
            _ => Err(EvalError::Type { operation: "a function with two arguments", found: a.kind() }),
        }
    }

    fn day(&self, value: &Value, operation: &'static str) -> Result<Date, EvalError> {
        match value {
            Value::Date(date) => Ok(*date),
            Value::DateTime(instant) => Ok(self.zone.date_of(*instant)),
            other => Err(EvalError::Type { operation, found: other.kind() }),
        }
    }

    fn civil(&self, value: &Value, operation: &'static str) -> Result<jiff::civil::Date, EvalError> {
        self.day(value, operation).map(Date::civil)
    }
}

fn integer(part: impl Into<i64>) -> Value {
    Value::Integer(part.into())
}

fn text<'v>(value: &'v Value, operation: &'static str) -> Result<&'v str, EvalError> {
    value.as_str().ok_or(EvalError::Type { operation, found: value.kind() })
}

fn float(value: &Value, operation: &'static str) -> Result<f64, EvalError> {
    value.as_f64().ok_or(EvalError::Type { operation, found: value.kind() })
}

fn seconds(value: &Value, unit: i64, operation: &'static str) -> Result<Value, EvalError> {
    match value {
        Value::Integer(count) => {
            count.checked_mul(unit).map(Value::Integer).ok_or(EvalError::Overflow(operation))
        }
        other => Err(EvalError::Type { operation, found: other.kind() }),
    }
}

/// A number made whole: floats by one function, decimals exactly by another.
fn whole(
    value: &Value,
    operation: &'static str,
    float: fn(f64) -> f64,
    exact: fn(i128, i128) -> Option<i128>,
) -> Result<Value, EvalError> {
    match value {
        Value::Integer(_) => Ok(value.clone()),
        Value::Decimal(decimal) => {
            let quotient = exact(decimal.minor.into(), 10_i128.pow(decimal.scale.into()));
            let whole = quotient.and_then(|quotient| i64::try_from(quotient).ok());
            whole.map(Value::Integer).ok_or(EvalError::Overflow(operation))
        }
        Value::Number(number) => {
            let rounded = float(*number);
            // 2^63 as a float is the first that does not fit.
            let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded);
            if fits { Ok(Value::Integer(rounded as i64)) } else { Err(EvalError::Overflow(operation)) }
        }
        other => Err(EvalError::Type { operation, found: other.kind() }),
    }
}

/// Rounds to decimal places, halves away from zero; the type stays.
fn round(value: &Value, places: &Value) -> Result<Value, EvalError> {
    let Value::Integer(places) = places else {
        return Err(EvalError::Type { operation: "round", found: places.kind() });
    };
    let places = (*places).clamp(0, 9) as u8;
    match value {
        Value::Integer(_) => Ok(value.clone()),
        Value::Decimal(decimal) if decimal.scale <= places => Ok(value.clone()),
        Value::Decimal(decimal) => arithmetic::rescale(*decimal, places)
            .and_then(|rounded| arithmetic::rescale(rounded, decimal.scale))
            .map(Value::Decimal)
            .ok_or(EvalError::Overflow("round")),
        // Beyond what a decimal holds, a float has no such places left to round.
        Value::Number(float) => match Decimal::round(*float, places) {
            Some(rounded) => arithmetic::number(rounded.as_f64(), "round"),
            None => Ok(value.clone()),
        },
        other => Err(EvalError::Type { operation: "round", found: other.kind() }),
    }
}

/// The great-circle distance of two places in degrees (haversine).
fn distance_km(from: (f64, f64), to: (f64, f64)) -> f64 {
    let (from_latitude, to_latitude) = (from.0.to_radians(), to.0.to_radians());
    let half_latitude = (to_latitude - from_latitude) / 2.0;
    let half_longitude = (to.1 - from.1).to_radians() / 2.0;
    let chord =
        half_latitude.sin().powi(2) + from_latitude.cos() * to_latitude.cos() * half_longitude.sin().powi(2);
    2.0 * EARTH_RADIUS_KM * chord.clamp(0.0, 1.0).sqrt().asin()
}
