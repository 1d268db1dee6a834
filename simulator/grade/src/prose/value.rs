//! Values that a message may give, and when a mention gives one: the one place where values and words are compared.

use diorama_answers::units::Unit;
use diorama_answers::{Clock, What};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::task::Fact;
use diorama_seeds::value::{Date, Time, Value, Zone};
use serde_json::Value as Json;

/// A rounded number differs from the exact one by at most this share.
const MAX_ROUNDING: f64 = 0.05;

/// A value of a fact, of a reply or of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target<'a> {
    pub(crate) content: Content<'a>,
    pub(crate) unit: Option<Unit>,
    pub(crate) currency: Option<&'a str>,
    /// Greatest accepted difference beside rounding.
    pub(super) tolerance: f64,
}

/// The value itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content<'a> {
    Number(f64),
    Count(f64),
    Date(Date),
    Time(Time),
    Instant(Date, Time),
    /// A text, and other spellings of it.
    Text(&'a str, &'a [String]),
    Truth(bool),
}

/// One expected value.
pub(super) struct Atom<'a> {
    /// The answer check that it is of.
    pub(super) check: usize,
    /// A description of it.
    pub(super) about: &'a str,
    pub(super) fact: &'a Fact,
    pub(super) target: Target<'a>,
    /// The names of the item that has it.
    pub(super) items: &'a [String],
}

/// Why a fact cannot be expected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FactError {
    /// A day, time or instant that is none.
    #[error("`{found}` is no {expected}; write it as the world's records do")]
    Malformed {
        /// The text that was found.
        found: String,
        /// The expected form.
        expected: &'static str,
    },
    /// A list inside a list, or without items.
    #[error("{0}")]
    List(&'static str),
    /// A name without a letter or digit.
    #[error("`{0}` has no letter or digit to look for; expect a value that can be read in an answer")]
    Unreadable(String),
    /// A number that is not finite.
    #[error("the number or tolerance {0} cannot be compared; write finite numbers, tolerance at least 0")]
    Number(f64),
}

/// Checks that an answer can state a fact.
pub(crate) fn check_fact(fact: &Fact, zone: &Zone) -> Result<(), FactError> {
    let malformed = |found: &str, expected| FactError::Malformed { found: found.to_owned(), expected };
    match fact {
        Fact::Number { value, tolerance, .. } if !value.is_finite() => {
            Err(FactError::Number(if value.is_finite() { *tolerance } else { *value }))
        }
        Fact::Number { tolerance, .. } if !tolerance.is_finite() || *tolerance < 0.0 => {
            Err(FactError::Number(*tolerance))
        }
        Fact::Money { scale, .. } if *scale > 9 => {
            Err(malformed(&scale.to_string(), "number of decimal places from 0 to 9"))
        }
        Fact::Date { value } if Date::parse(value).is_none() => Err(malformed(value, "date (YYYY-MM-DD)")),
        Fact::Time { value } if Time::parse(value).is_none() => Err(malformed(value, "time (HH:MM)")),
        Fact::DateTime { value } if zone.parse_instant(value).is_none() => {
            Err(malformed(value, "date-time (RFC 3339)"))
        }
        Fact::Entity { value, .. } if !value.chars().any(char::is_alphanumeric) => {
            Err(FactError::Unreadable(value.clone()))
        }
        Fact::List { items, .. } if items.is_empty() => {
            Err(FactError::List("a list without items states nothing; expect a count of 0"))
        }
        Fact::List { items, .. } if items.iter().any(|item| matches!(item, Fact::List { .. })) => {
            Err(FactError::List("a list inside a list cannot be expected; expect its items"))
        }
        Fact::List { items, .. } => items.iter().try_for_each(|item| check_fact(item, zone)),
        _ => Ok(()),
    }
}

impl<'a> Target<'a> {
    const fn of(content: Content<'a>) -> Self {
        Self { content, unit: None, currency: None, tolerance: 0.0 }
    }

    /// The value of a single fact; none for lists, and for what the world has not made.
    pub(crate) fn of_fact(fact: &'a Fact, zone: &Zone) -> Option<Self> {
        Some(match fact {
            Fact::Number { value, unit, tolerance } => Self {
                unit: unit.as_deref().and_then(Unit::named),
                tolerance: *tolerance,
                ..Self::of(Content::Number(*value))
            },
            Fact::Money { minor, scale, currency } => Self {
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

    /// A value of a reply.
    pub(crate) fn of_value(value: &'a Value, schema: Option<&'a Schema>, zone: &Zone) -> Option<Self> {
        let content = match value {
            Value::Date(date) => Content::Date(*date),
            Value::Time(time) => Content::Time(*time),
            Value::DateTime(instant) => Content::Instant(zone.date_of(*instant), zone.time_of(*instant)),
            Value::String(text) => Content::Text(text, &[]),
            Value::Bool(value) => Content::Truth(*value),
            number => Content::Number(number.as_f64()?),
        };
        Some(Self::measured(content, schema))
    }

    fn measured(content: Content<'a>, schema: Option<&'a Schema>) -> Self {
        let currency = schema.and_then(|schema| match &schema.kind {
            Type::Decimal { currency: Some(code), .. } => Some(&**code),
            _ => None,
        });
        let unit = schema.and_then(|schema| schema.unit.as_deref()).and_then(Unit::named);
        Self { unit, currency, ..Self::of(content) }
    }

    /// A value that a call sends: texts that spell a day, a time or an instant are one.
    pub(crate) fn of_argument(json: &'a Json, schema: Option<&'a Schema>, zone: &Zone) -> Option<Self> {
        let content = match json {
            Json::String(text) => spelt(text, zone).unwrap_or(Content::Text(text, &[])),
            Json::Bool(value) => Content::Truth(*value),
            json => Content::Number(json.as_f64()?),
        };
        Some(Self::measured(content, schema))
    }

    /// The number that it is.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.content {
            Content::Number(number) | Content::Count(number) => Some(number),
            _ => None,
        }
    }

    /// Returns true if a mention gives this value, in any unit that converts. An instant is given by its day, and by its
    /// time.
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
                // Spent amounts are told without the sign that a list of bookings gives it.
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

    /// Returns true if a mention is of this kind: it could be the value, were it another.
    pub(crate) fn is_like(&self, what: &What) -> bool {
        match (&self.content, what) {
            (Content::Number(_), What::Number(said)) => match (said.unit, self.unit) {
                (Some(unit), Some(own)) => unit.dimension == own.dimension,
                (None, None) => self.currency.is_none(),
                _ => false,
            },
            (Content::Number(_), What::Money(_)) => self.unit.is_none(),
            (Content::Count(_), What::Number(said)) => said.unit.is_none(),
            (Content::Date(_) | Content::Instant(..), What::Date(_))
            | (Content::Time(_) | Content::Instant(..), What::Time(_)) => true,
            _ => false,
        }
    }

    /// Equal, within the tolerance, or equal after rounding to the decimals shown; whole numbers are not rounded, unless the
    /// text hides digits (`1.2k`).
    fn is_near(&self, own: f64, said: f64, decimals: i8) -> bool {
        let difference = (own - said).abs();
        let step = 0.5 * 10_f64.powi(-i32::from(decimals.clamp(-12, 9)));
        let rounds = own.fract() != 0.0 || decimals < 0;
        difference <= (1e-9 * own.abs().max(1.0)).max(self.tolerance)
            || (rounds && difference <= step * 1.000_001 && difference <= own.abs() * MAX_ROUNDING)
    }
}

/// A day, time or instant that a text spells.
fn spelt(text: &str, zone: &Zone) -> Option<Content<'static>> {
    let date = || Date::parse(text).map(Content::Date);
    let time = || Time::parse(text).map(Content::Time);
    let instant = || {
        let instant = zone.parse_instant(text)?;
        Some(Content::Instant(zone.date_of(instant), zone.time_of(instant)))
    };
    let starts = text.starts_with(|c: char| c.is_ascii_digit());
    starts.then(|| date().or_else(time).or_else(instant)).flatten()
}
