//! Facts: refuses facts that no answer can state, and fills in facts that the world generates for new
//! records.

use diorama_seeds::task::Fact;
use diorama_seeds::value::{Date, Time, Value, Zone};

/// The reason for which a fact cannot be expected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FactError {
    /// A day, time or timestamp does not parse.
    #[error("`{found}` is no {expected}; write it as the world's records do")]
    Malformed {
        /// The text that was found.
        found: String,
        /// The expected form.
        expected: &'static str,
    },
    /// A list is nested in a list, or has no items.
    #[error("{0}")]
    List(&'static str),
    /// A name has no letter or digit.
    #[error("`{0}` has no letter or digit to look for; expect a value that can be given")]
    Unreadable(String),
    /// A number is not finite, or a tolerance is negative.
    #[error("the number or tolerance {0} cannot be compared; write finite numbers, tolerance at least 0")]
    Number(f64),
}

/// Checks that an answer can state a fact.
pub(crate) fn check_fact(fact: &Fact, zone: &Zone) -> Result<(), FactError> {
    let malformed = |found: &str, expected| FactError::Malformed { found: found.to_owned(), expected };
    match fact {
        Fact::Number { value, .. } if !value.is_finite() => Err(FactError::Number(*value)),
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

/// Returns a value that the world generated for a new record as a fact.
#[must_use]
pub fn fact_from_value(value: &Value, zone: &Zone) -> Fact {
    match value {
        Value::Integer(number) => {
            Fact::Number { value: *number as f64, unit: None, tolerance: 0.0, magnitude: false }
        }
        other => Fact::Entity { value: other.to_text(zone), aliases: Vec::new(), of: None },
    }
}

/// Returns a fact with its generated parts replaced by `value_of`. Returns none if `value_of` lacks one of
/// them.
pub fn fill_fact(fact: &Fact, value_of: impl Fn(u32, &str) -> Option<Fact> + Copy) -> Option<Fact> {
    Some(match fact {
        Fact::Made { new, field } => value_of(*new, field)?,
        Fact::List { items } => {
            Fact::List { items: items.iter().map(|item| fill_fact(item, value_of)).collect::<Option<_>>()? }
        }
        other => other.clone(),
    })
}
