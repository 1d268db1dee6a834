//! Writes times, amounts and numbers as people say them.
//!
//! The reader of texts ([`diorama_answers`]) shares no code with this module.

pub use diorama_seeds::english::{MONTHS, weekday};
use diorama_seeds::schema::Schema;
use diorama_seeds::value::{Decimal, Time, Value, Zone};

/// The greatest number of digits before the point that are written without commas.
const MAX_PLAIN_DIGITS: usize = 4;

/// Returns a time of day on a clock of twelve hours, `2:30 pm`; one with seconds stays.
#[must_use]
pub fn twelve_hours(time: Time) -> String {
    let (hour, minute) = (time.0 / 3600, time.0 / 60 % 60);
    if !time.0.is_multiple_of(60) {
        return time.to_string();
    }
    let half = if hour < 12 { "am" } else { "pm" };
    let shown = if hour % 12 == 0 { 12 } else { hour % 12 };
    if minute == 0 { format!("{shown} {half}") } else { format!("{shown}:{minute:02} {half}") }
}

/// Returns an amount with its currency: by its sign, else by its code.
#[must_use]
pub fn money(decimal: Decimal, code: &str) -> String {
    // A price with tenths of a cent keeps all its digits.
    let places = usize::from(decimal.scale.min(2).max(decimal.reduced().scale));
    let whole = decimal.reduced().scale == 0;
    let amount = if whole { decimal.to_string() } else { format!("{:.places$}", decimal.as_f64()) };
    let amount = grouped(&amount);
    let sign = match code {
        "EUR" => "€",
        "USD" => "$",
        "GBP" => "£",
        "JPY" => "¥",
        _ => return format!("{code} {amount}"),
    };
    match amount.strip_prefix('-') {
        Some(positive) => format!("-{sign}{positive}"),
        None => format!("{sign}{amount}"),
    }
}

/// Writes a number of more than four digits with commas: `145,000`, `10,080.50`.
fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    if whole.len() <= MAX_PLAIN_DIGITS {
        return number.to_owned();
    }
    let first = (whole.len() - 1) % 3 + 1;
    let mut groups = vec![&whole[..first]];
    groups.extend((first..whole.len()).step_by(3).map(|at| &whole[at..at + 3]));
    format!("{sign}{}{rest}", groups.join(","))
}

/// Returns a number with its unit, if it has one.
#[must_use]
pub fn with_unit(number: String, schema: &Schema) -> String {
    match &schema.unit {
        Some(unit) if &**unit == "%" => format!("{number}%"),
        Some(unit) => format!("{number} {unit}"),
        None => number,
    }
}

/// Returns a number as people say it: with all its decimals up to four, otherwise rounded to two.
#[must_use]
pub fn plain_number(number: f64) -> String {
    // People do not say a quotient to sixteen digits, but the score 0.725 as it is.
    let is_short = (number * 10_000.0).round() / 10_000.0 == number;
    let rounded = (number * 100.0).round() / 100.0;
    let told = if !is_short && number.abs() >= 0.1 && rounded.is_finite() { rounded } else { number };
    Value::Number(told).to_text(&Zone::utc())
}
