//! Owns the table of functions: their names, argument and result types, and evaluation.
//!
//! A missing argument makes the result null, or false for a test of a text. A call costs one step, and the
//! bytes of its first two arguments. `docs/world-format.md` lists the functions for users, and a test
//! compares that list with this table.

use super::error::EvalError;
use super::eval::arithmetic;
use super::operator::Cast;
use super::units;
use crate::value::{Date, Decimal, Time, Value, Zone};

/// A function for one number of arguments. The table may hold a name several times, with different numbers.
#[derive(Debug)]
pub struct Function {
    pub(super) name: &'static str,
    /// Types that each argument may have. Further arguments have the types of the last.
    takes: &'static [&'static [Kind]],
    pub(super) gives: Kind,
    pub(super) form: Form,
    /// Evaluates existing arguments, as many as were written. Forms that evaluate their own arguments do not
    /// use it.
    pub(super) run: fn(&Call<'_>) -> Result<Value, EvalError>,
}

/// The type of an argument or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Integer,
    Number,
    String,
    Date,
    Time,
    DateTime,
    Duration,
    List,
    /// Any type except records, lists and objects.
    Single,
    Any,
    /// For results: the type of the first argument.
    Same,
}

/// Way of checking and evaluating a function beyond its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The types alone decide. Arguments are evaluated first.
    Plain,
    /// A literal text is evaluated when the expression is checked.
    Read,
    /// The text must be a literal.
    Duration,
    Matches,
    Round,
    MinutesBetween,
    Convert,
    Given,
    /// Functions with any number of arguments from here on.
    Concat,
    Coalesce,
    Min,
    Max,
}

/// The existing arguments of a call.
pub(super) struct Call<'v> {
    pub(super) name: &'static str,
    pub(super) zone: &'v Zone,
    pub(super) values: &'v [&'v Value],
}

/// Mean radius of the Earth in kilometres (IUGG: R1 = (2a + b) / 3 of GRS 80).
const EARTH_RADIUS_KM: f64 = 6_371.008_8;
/// Maximum number of arguments of variadic functions.
const MAX_ARGUMENTS: usize = 64;

/// Second names of functions, for authors who prefer one style throughout.
const SPELLINGS: [(&str, &str); 2] = [("starts_with", "startsWith"), ("ends_with", "endsWith")];

const TEXT: &[Kind] = &[Kind::String];
const NUMBER: &[Kind] = &[Kind::Number];
const DAY: &[Kind] = &[Kind::Date, Kind::DateTime];
const CLOCK: &[Kind] = &[Kind::DateTime, Kind::Time];
const READABLE: &[Kind] = &[Kind::Number, Kind::String];

static FUNCTIONS: [Function; 37] = {
    use Kind::{Any, Boolean, Date, DateTime, Duration, Integer, List, Number, Same, Single, String, Time};
    [
        plain("size", &[&[String, List]], Integer, size),
        plain("lower", &[TEXT], String, |call| Ok(Value::string(&call.text(0)?.to_lowercase()))),
        plain("upper", &[TEXT], String, |call| Ok(Value::string(&call.text(0)?.to_uppercase()))),
        plain("contains", &[TEXT, TEXT], Boolean, |call| call.test(|text, part| text.contains(part))),
        plain("startsWith", &[TEXT, TEXT], Boolean, |call| call.test(|text, part| text.starts_with(part))),
        plain("endsWith", &[TEXT, TEXT], Boolean, |call| call.test(|text, part| text.ends_with(part))),
        formed("matches", &[TEXT, TEXT], Boolean, Form::Matches),
        plain("string", &[&[Single]], String, string),
        formed("concat", &[&[Single]], String, Form::Concat),
        plain("integer", &[READABLE], Integer, integer),
        plain("number", &[READABLE], Number, number),
        plain("round", &[NUMBER], Integer, round_whole),
        Function { form: Form::Round, ..plain("round", &[NUMBER, &[Integer]], Same, round) },
        plain("floor", &[NUMBER], Integer, |call| call.whole(f64::floor, i128::checked_div_euclid)),
        plain("ceil", &[NUMBER], Integer, |call| {
            call.whole(f64::ceil, |minor, unit| minor.checked_neg()?.checked_div_euclid(unit)?.checked_neg())
        }),
        plain("abs", &[&[Number, Duration]], Same, abs),
        plain("sqrt", &[NUMBER], Number, |call| arithmetic::number(call.float(0)?.sqrt(), call.name)),
        formed("min", &[&[Any]], Same, Form::Min),
        formed("max", &[&[Any]], Same, Form::Max),
        Function { form: Form::Read, ..plain("date", &[&[DateTime, Date, String]], Date, date) },
        Function { form: Form::Read, ..plain("time", &[&[DateTime, Time, String]], Time, time) },
        Function { form: Form::Read, ..plain("datetime", &[&[String, DateTime]], DateTime, date_time) },
        plain("datetime", &[&[Date], &[Time]], DateTime, date_with_time),
        Function { form: Form::Duration, ..plain("duration", &[TEXT], Duration, duration) },
        plain("days", &[&[Integer]], Duration, |call| call.seconds(86_400)),
        plain("hours", &[&[Integer]], Duration, |call| call.seconds(3_600)),
        plain("minutes", &[&[Integer]], Duration, |call| call.seconds(60)),
        plain("days_between", &[DAY, DAY], Integer, |call| {
            let (to, from) = (call.day(1)?, call.day(0)?);
            Ok(Value::Integer(i64::from(to.0) - i64::from(from.0)))
        }),
        Function {
            form: Form::MinutesBetween,
            ..plain("minutes_between", &[CLOCK, CLOCK], Integer, minutes_between)
        },
        plain("weekday", &[DAY], Integer, |call| {
            call.part(|day| day.weekday().to_monday_one_offset().into())
        }),
        plain("year", &[DAY], Integer, |call| call.part(|day| day.year().into())),
        plain("month", &[DAY], Integer, |call| call.part(|day| day.month().into())),
        plain("day", &[DAY], Integer, |call| call.part(|day| day.day().into())),
        Function { form: Form::Convert, ..plain("convert", &[NUMBER, TEXT, TEXT], Number, convert) },
        plain("distance_km", &[NUMBER, NUMBER, NUMBER, NUMBER], Number, distance_km),
        formed("coalesce", &[&[Any]], Same, Form::Coalesce),
        formed("given", &[&[Any]], Boolean, Form::Given),
    ]
};

const fn plain(
    name: &'static str,
    takes: &'static [&'static [Kind]],
    gives: Kind,
    run: fn(&Call<'_>) -> Result<Value, EvalError>,
) -> Function {
    Function { name, takes, gives, form: Form::Plain, run }
}

const fn formed(name: &'static str, takes: &'static [&'static [Kind]], gives: Kind, form: Form) -> Function {
    Function { form, ..plain(name, takes, gives, |_| Ok(Value::Null)) }
}

/// Returns all names, each once.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let mut last = "";
    let own = FUNCTIONS.iter().map(|function| function.name);
    let own = own.filter(move |name| std::mem::replace(&mut last, name) != *name);
    own.chain(SPELLINGS.iter().map(|(name, _)| *name))
}

/// Returns the functions of a name. An unknown name has none.
pub(super) fn named(name: &str) -> impl Iterator<Item = &'static Function> + Clone {
    let name = SPELLINGS.iter().find(|(other, _)| *other == name).map_or(name, |(_, name)| name).to_owned();
    FUNCTIONS.iter().filter(move |function| function.name == name)
}

impl Function {
    /// Returns the types that an argument may have.
    pub(super) fn kinds(&self, index: usize) -> &'static [Kind] {
        self.takes.get(index).or(self.takes.last()).copied().unwrap_or_default()
    }

    /// Returns the minimum and the maximum number of arguments.
    pub(super) fn counts(&self) -> (usize, usize) {
        match self.form {
            Form::Concat | Form::Coalesce | Form::Min | Form::Max => (1, MAX_ARGUMENTS),
            _ => (self.takes.len(), self.takes.len()),
        }
    }
}

impl Kind {
    /// Returns the type in words, for messages.
    pub(super) const fn described(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Date => "a date",
            Self::Time => "a time",
            Self::DateTime => "a date-time",
            Self::Duration => "a duration",
            Self::List => "a list",
            Self::Single | Self::Any | Self::Same => "a single value",
        }
    }
}

impl Call<'_> {
    fn value(&self, index: usize) -> &Value {
        self.values.get(index).copied().unwrap_or(&Value::Null)
    }

    fn wrong<T>(&self, index: usize) -> Result<T, EvalError> {
        Err(EvalError::Type { operation: self.name, found: self.value(index).kind() })
    }

    fn in_range(&self, value: Option<Value>) -> Result<Value, EvalError> {
        value.ok_or(EvalError::Overflow(self.name))
    }

    fn text(&self, index: usize) -> Result<&str, EvalError> {
        self.value(index).as_str().map_or_else(|| self.wrong(index), Ok)
    }

    fn float(&self, index: usize) -> Result<f64, EvalError> {
        self.value(index).as_f64().map_or_else(|| self.wrong(index), Ok)
    }

    fn day(&self, index: usize) -> Result<Date, EvalError> {
        match self.value(index) {
            Value::Date(date) => Ok(*date),
            Value::DateTime(instant) => Ok(self.zone.date_of(*instant)),
            _ => self.wrong(index),
        }
    }

    fn part(&self, part: fn(jiff::civil::Date) -> i64) -> Result<Value, EvalError> {
        match self.day(0)? {
            day if day.is_in_calendar() => Ok(Value::Integer(part(day.civil()))),
            _ => self.in_range(None),
        }
    }

    fn test(&self, holds: fn(&str, &str) -> bool) -> Result<Value, EvalError> {
        Ok(Value::Bool(holds(self.text(0)?, self.text(1)?)))
    }

    fn seconds(&self, unit: i64) -> Result<Value, EvalError> {
        match self.value(0) {
            Value::Integer(count) => self.in_range(count.checked_mul(unit).map(Value::Integer)),
            _ => self.wrong(0),
        }
    }

    /// Rounds a number to an integer, with one function for floats and an exact one for decimals.
    fn whole(
        &self,
        float: fn(f64) -> f64,
        exact: fn(i128, i128) -> Option<i128>,
    ) -> Result<Value, EvalError> {
        match self.value(0) {
            Value::Integer(whole) => Ok(Value::Integer(*whole)),
            Value::Decimal(decimal) => {
                let quotient = exact(decimal.minor.into(), 10_i128.pow(decimal.scale.into()));
                let whole = quotient.and_then(|quotient| i64::try_from(quotient).ok());
                self.in_range(whole.map(Value::Integer))
            }
            Value::Number(number) => {
                let rounded = float(*number);
                // A float of 2^63 is the first that does not fit.
                let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded);
                self.in_range(fits.then_some(Value::Integer(rounded as i64)))
            }
            _ => self.wrong(0),
        }
    }
}

fn size(call: &Call<'_>) -> Result<Value, EvalError> {
    match call.value(0) {
        Value::String(text) => Ok(Value::Integer(text.chars().count() as i64)),
        Value::List(items) => Ok(Value::Integer(items.len() as i64)),
        _ => call.wrong(0),
    }
}

fn string(call: &Call<'_>) -> Result<Value, EvalError> {
    Ok(match call.value(0) {
        text @ Value::String(_) => text.clone(),
        other if other.is_in_calendar(call.zone) => Value::string(&other.to_text(call.zone)),
        _ => return call.in_range(None),
    })
}

fn integer(call: &Call<'_>) -> Result<Value, EvalError> {
    match call.value(0) {
        Value::String(text) => Ok(text.trim().parse().map_or(Value::Null, Value::Integer)),
        _ => call.whole(f64::trunc, i128::checked_div),
    }
}

fn number(call: &Call<'_>) -> Result<Value, EvalError> {
    match call.value(0) {
        Value::String(text) => Ok(text.trim().parse().ok().and_then(Value::number).unwrap_or(Value::Null)),
        other => arithmetic::cast(other, Cast::Number),
    }
}

fn round_whole(call: &Call<'_>) -> Result<Value, EvalError> {
    match call.value(0) {
        Value::Decimal(decimal) => {
            call.in_range(arithmetic::rescale(*decimal, 0).map(|whole| Value::Integer(whole.minor)))
        }
        _ => call.whole(f64::round, i128::checked_div),
    }
}

/// Rounds to decimal places, with halves away from zero. The type stays the same.
fn round(call: &Call<'_>) -> Result<Value, EvalError> {
    let Value::Integer(places) = call.value(1) else { return call.wrong(1) };
    let places = (*places).clamp(0, 9) as u8;
    match call.value(0) {
        Value::Integer(whole) => Ok(Value::Integer(*whole)),
        Value::Decimal(decimal) if decimal.scale <= places => Ok(Value::Decimal(*decimal)),
        Value::Decimal(decimal) => {
            let rounded = arithmetic::rescale(*decimal, places)
                .and_then(|rounded| arithmetic::rescale(rounded, decimal.scale));
            call.in_range(rounded.map(Value::Decimal))
        }
        // A float beyond the range of decimals has no such places.
        Value::Number(float) => match Decimal::round(*float, places) {
            Some(rounded) => arithmetic::number(rounded.as_f64(), call.name),
            None => Ok(Value::Number(*float)),
        },
        _ => call.wrong(0),
    }
}

fn abs(call: &Call<'_>) -> Result<Value, EvalError> {
    match call.value(0) {
        Value::Integer(whole) => call.in_range(whole.checked_abs().map(Value::Integer)),
        Value::Number(float) => arithmetic::number(float.abs(), call.name),
        Value::Decimal(Decimal { minor, scale }) => {
            let minor = minor.checked_abs();
            call.in_range(minor.map(|minor| Value::Decimal(Decimal { minor, scale: *scale })))
        }
        _ => call.wrong(0),
    }
}

fn date(call: &Call<'_>) -> Result<Value, EvalError> {
    match call.value(0) {
        Value::DateTime(instant) => Ok(Value::Date(call.zone.date_of(*instant))),
        Value::String(text) => Ok(Date::parse(text).map_or(Value::Null, Value::Date)),
        Value::Date(date) => Ok(Value::Date(*date)),
        _ => call.wrong(0),
    }
}

fn time(call: &Call<'_>) -> Result<Value, EvalError> {
    match call.value(0) {
        Value::DateTime(instant) => Ok(Value::Time(call.zone.time_of(*instant))),
        Value::String(text) => Ok(Time::parse(text).map_or(Value::Null, Value::Time)),
        Value::Time(time) => Ok(Value::Time(*time)),
        _ => call.wrong(0),
    }
}

fn date_time(call: &Call<'_>) -> Result<Value, EvalError> {
    match call.value(0) {
        Value::DateTime(instant) => Ok(Value::DateTime(*instant)),
        Value::String(text) => Ok(call.zone.parse_instant(text).map_or(Value::Null, Value::DateTime)),
        _ => call.wrong(0),
    }
}

fn date_with_time(call: &Call<'_>) -> Result<Value, EvalError> {
    match (call.value(0), call.value(1)) {
        (Value::Date(date), Value::Time(time)) => Ok(Value::DateTime(call.zone.instant(*date, *time))),
        (Value::Date(_), _) => call.wrong(1),
        _ => call.wrong(0),
    }
}

/// Returns the seconds of `1h30m`, `90m`, `2d` or `45s`, or null for any other text.
fn duration(call: &Call<'_>) -> Result<Value, EvalError> {
    fn parse(text: &str) -> Option<i64> {
        let (negative, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if rest.is_empty() {
            return None;
        }
        let mut seconds: i64 = 0;
        while !rest.is_empty() {
            let digits = rest.find(|each: char| !each.is_ascii_digit())?;
            let count: i64 = rest.get(..digits)?.parse().ok()?;
            let unit = match rest.as_bytes().get(digits)? {
                b'd' => 86_400,
                b'h' => 3_600,
                b'm' => 60,
                b's' => 1,
                _ => return None,
            };
            seconds = seconds.checked_add(count.checked_mul(unit)?)?;
            rest = rest.get(digits + 1..)?;
        }
        Some(if negative { -seconds } else { seconds })
    }
    Ok(parse(call.text(0)?).map_or(Value::Null, Value::Integer))
}

fn minutes_between(call: &Call<'_>) -> Result<Value, EvalError> {
    match arithmetic::subtract(call.value(1), call.value(0), call.name)? {
        Value::Integer(seconds) => Ok(Value::Integer(seconds / 60)),
        other => Err(EvalError::Type { operation: call.name, found: other.kind() }),
    }
}

fn convert(call: &Call<'_>) -> Result<Value, EvalError> {
    let Some(to) = call.value(2).as_str() else { return Ok(Value::Null) };
    let converted = units::convert(call.float(0)?, call.text(1)?, to);
    Ok(converted.and_then(Value::number).unwrap_or(Value::Null))
}

/// Returns the great-circle distance of two positions in degrees (haversine).
fn distance_km(call: &Call<'_>) -> Result<Value, EvalError> {
    let (from, to) = ((call.float(0)?, call.float(1)?), (call.float(2)?, call.float(3)?));
    let (from_latitude, to_latitude) = (from.0.to_radians(), to.0.to_radians());
    let half_latitude = (to_latitude - from_latitude) / 2.0;
    let half_longitude = (to.1 - from.1).to_radians() / 2.0;
    let chord =
        half_latitude.sin().powi(2) + from_latitude.cos() * to_latitude.cos() * half_longitude.sin().powi(2);
    let distance = 2.0 * EARTH_RADIUS_KM * chord.clamp(0.0, 1.0).sqrt().asin();
    arithmetic::number(distance, call.name)
}
