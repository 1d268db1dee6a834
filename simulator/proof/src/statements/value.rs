//! Compares values with words: the only module that does so.

use diorama_answers::units::Unit;
use diorama_answers::{Clock, What};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::task::Fact;
use diorama_seeds::value::{Date, Time, Value, Zone};
use serde_json::Value as Json;

/// The greatest relative error of a rounded number.
const MAX_ROUNDING: f64 = 0.05;

/// A value of a fact, of a reply or of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target<'a> {
    pub(crate) content: Content<'a>,
    pub(crate) unit: Option<Unit>,
    pub(crate) currency: Option<&'a str>,
    /// The greatest accepted difference beside rounding.
    pub(super) tolerance: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content<'a> {
    Number(f64),
    Count(f64),
    Date(Date),
    Time(Time),
    Instant(Date, Time),
    /// A string, and other spellings of it.
    Text(&'a str, &'a [String]),
    Truth(bool),
}

impl<'a> Target<'a> {
    const fn of(content: Content<'a>) -> Self {
        Self { content, unit: None, currency: None, tolerance: 0.0 }
    }

    /// Returns the value of a single fact; none for lists, and for values that the world has not generated.
    pub(crate) fn of_fact(fact: &'a Fact, zone: &Zone) -> Option<Self> {
        Some(match fact {
            Fact::Number { value, unit, tolerance, magnitude } => Self {
                unit: unit.as_deref().and_then(Unit::named),
                tolerance: *tolerance,
                ..Self::of(Content::Number(if *magnitude { value.abs() } else { *value }))
            },
            Fact::Money { minor, scale, currency, .. } => Self {
                currency: Some(currency),
                ..Self::of(Content::Number(*minor as f64 / 10_f64.powi(i32::from(*scale))))
            },
            Fact::Count { value } => Self::of(Content::Count(*value as f64)),
            Fact::Date { value } => Self::of(Content::Date(Date::parse(value)?)),
            Fact::Time { value } => Self::of(Content::Time(Time::parse(value)?)),
            Fact::DateTime { value } => {
                let instant = zone.parse_instant(value)?;
                Self::of(Content::Instant(zone.date_of(instant), zone.time_of(instant)))
            }
            Fact::Entity { value, aliases, .. } => Self::of(Content::Text(value, aliases)),
            Fact::Boolean { value, .. } => Self::of(Content::Truth(*value)),
            Fact::Made { .. } | Fact::List { .. } => return None,
        })
    }

    /// Returns a value of a reply.
    pub(crate) fn of_value(value: &'a Value, schema: Option<&'a Schema>, zone: &Zone) -> Option<Self> {
        let content = match value {
            Value::Date(date) => Content::Date(*date),
            Value::Time(time) => Content::Time(*time),
            Value::DateTime(instant) => Content::Instant(zone.date_of(*instant), zone.time_of(*instant)),
            Value::String(text) => Content::Text(text, &[]),
            Value::Bool(value) => Content::Truth(*value),
            number => Content::Number(number.as_f64()?),
        };
        Some(Self::with_schema(content, schema))
    }

    fn with_schema(content: Content<'a>, schema: Option<&'a Schema>) -> Self {
        let currency = schema.and_then(|schema| match &schema.kind {
            Type::Decimal { currency: Some(code), .. } => Some(&**code),
            _ => None,
        });
        let unit = schema.and_then(|schema| schema.unit.as_deref()).and_then(Unit::named);
        Self { unit, currency, ..Self::of(content) }
    }

    /// Returns a value that a call sends. A string that spells a day, a time or an instant becomes one.
    pub(crate) fn of_argument(json: &'a Json, schema: Option<&'a Schema>, zone: &Zone) -> Option<Self> {
        let content = match json {
            Json::String(text) => parse_content(text, zone).unwrap_or(Content::Text(text, &[])),
            Json::Bool(value) => Content::Truth(*value),
            json => Content::Number(json.as_f64()?),
        };
        Some(Self::with_schema(content, schema))
    }

    /// Returns the number that it is.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.content {
            Content::Number(number) | Content::Count(number) => Some(number),
            _ => None,
        }
    }

    /// Returns true if a mention gives this value, in any unit that converts. Either its day or its time
    /// gives an instant.
    pub(crate) fn is(&self, what: &What, clock: &Clock) -> bool {
        match (&self.content, what) {
            (Content::Number(own) | Content::Count(own), What::Number(said)) => {
                let near = |value: f64| self.is_near(*own, value, said.decimals);
                match (said.unit, self.unit) {
                    (Some(unit), Some(own)) => unit.convert(said.value, own).is_some_and(near),
                    _ => {
                        self.currency.is_none_or(|_| said.unit.is_none())
                            && (near(said.value) || said.other.is_some_and(near))
                    }
                }
            }
            (Content::Number(own), What::Money(said)) => {
                // People state spent amounts without the sign that a list of bookings has.
                let near = |value: f64| self.is_near(if value < 0.0 { *own } else { own.abs() }, value, 2);
                self.unit.is_none()
                    && self.currency.is_none_or(|code| said.currency.means(code))
                    && (near(said.amount.as_f64()) || said.other.is_some_and(|other| near(other.as_f64())))
            }
            (Content::Number(own) | Content::Count(own), What::None) => *own == 0.0,
            (Content::Date(own) | Content::Instant(own, _), What::Date(said)) => {
                said.means(*own, clock.today)
            }
            (Content::Time(own) | Content::Instant(_, own), What::Time(said)) => {
                said.time == *own || said.other == Some(*own)
            }
            _ => false,
        }
    }

    /// Returns true if values are equal, within the tolerance, or equal after rounding to the shown decimals.
    /// Whole numbers are not rounded, unless the text hides digits (`1.2k`).
    fn is_near(&self, own: f64, said: f64, decimals: i8) -> bool {
        let difference = (own - said).abs();
        let step = 0.5 * 10_f64.powi(-i32::from(decimals.clamp(-12, 9)));
        let rounds = own.fract() != 0.0 || decimals < 0;
        difference <= (1e-9 * own.abs().max(1.0)).max(self.tolerance)
            || (rounds && difference <= step * 1.000_001 && difference <= own.abs() * MAX_ROUNDING)
    }
}

/// Returns the day, time or instant that a string spells.
fn parse_content(text: &str, zone: &Zone) -> Option<Content<'static>> {
    let date = || Date::parse(text).map(Content::Date);
    let time = || Time::parse(text).map(Content::Time);
    let instant = || {
        let instant = zone.parse_instant(text)?;
        Some(Content::Instant(zone.date_of(instant), zone.time_of(instant)))
    };
    let starts = text.starts_with(|c: char| c.is_ascii_digit());
    starts.then(|| date().or_else(time).or_else(instant)).flatten()
}
