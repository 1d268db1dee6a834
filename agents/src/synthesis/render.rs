//! How an assistant says a value: one form for each style number.
//!
//! The reader of texts ([`diorama_answers`]) shares no code with this module.

use diorama_seeds::english::enumerate;
pub use diorama_seeds::english::{MONTHS, WEEKDAYS, weekday};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::value::{Date, Decimal, Time, Value, Zone};

/// An assistant's words for a value: one form for each `style` number.
#[must_use]
pub fn told(value: &Value, schema: &Schema, zone: &Zone, style: u32) -> String {
    match value {
        Value::Absent | Value::Null => "not set".into(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.into(),
        Value::Integer(number) => with_unit(number.to_string(), schema),
        Value::Number(number) => with_unit(plain_number(*number), schema),
        Value::Decimal(decimal) => match &schema.kind {
            Type::Decimal { currency: Some(code), .. } => money(*decimal, code, style % 3),
            _ => with_unit(decimal.to_string(), schema),
        },
        Value::Date(date) => date_told(*date, style),
        Value::Time(time) => time_told(*time, style),
        Value::DateTime(instant) => {
            let (date, time) = (zone.date_of(*instant), zone.time_of(*instant));
            match style % 3 {
                0 => format!("{} at {}", date_told(date, 0), time_told(time, 0)),
                1 => format!("{} at {}", date_told(date, 1), time_told(time, 1)),
                _ => format!("{date} {time}"),
            }
        }
        Value::String(text) => match schema.kind {
            Type::Enum(_) => text.replace('_', " "),
            _ => text.to_string(),
        },
        Value::List(items) => {
            let item = match &schema.kind {
                Type::List(item) => item.as_ref().clone(),
                _ => Schema::of(Type::Any),
            };
            if items.is_empty() {
                return "none".into();
            }
            enumerate(&items.iter().map(|value| told(value, &item, zone, style)).collect::<Vec<_>>())
        }
        Value::Object(_) => value.to_text(zone),
    }
}

fn date_told(date: Date, style: u32) -> String {
    let civil = date.civil();
    let month = MONTHS[(civil.month() as usize - 1) % 12];
    match style % 3 {
        0 => format!("{} {month} {}", civil.day(), civil.year()),
        1 => format!("{month} {}, {}", civil.day(), civil.year()),
        _ => date.to_string(),
    }
}

/// A time of day: `14:30`, or `2:30 pm`.
#[must_use]
pub fn time_told(time: Time, style: u32) -> String {
    let (hour, minute) = (time.0 / 3600, time.0 / 60 % 60);
    if style.is_multiple_of(2) || !time.0.is_multiple_of(60) {
        return time.to_string();
    }
    let half = if hour < 12 { "am" } else { "pm" };
    let shown = if hour % 12 == 0 { 12 } else { hour % 12 };
    if minute == 0 { format!("{shown} {half}") } else { format!("{shown}:{minute:02} {half}") }
}

/// An amount with its currency, by sign, code or word.
#[must_use]
pub fn money(decimal: Decimal, code: &str, style: u32) -> String {
    // A price of a tenth of a cent is told whole.
    let places = usize::from(decimal.scale.min(2).max(decimal.reduced().scale));
    let whole = decimal.reduced().scale == 0;
    let amount = if whole { decimal.to_string() } else { format!("{:.places$}", decimal.as_f64()) };
    let (symbol, name) = match code {
        "EUR" => ("€", "euros"),
        "USD" => ("$", "dollars"),
        "GBP" => ("£", "pounds"),
        "JPY" => ("¥", "yen"),
        _ => ("", ""),
    };
    match style {
        0 | 2 if !symbol.is_empty() => match amount.strip_prefix('-') {
            Some(positive) => format!("-{symbol}{positive}"),
            None => format!("{symbol}{amount}"),
        },
        1 if !name.is_empty() && whole && decimal.minor.abs() > 100 => format!("{amount} {name}"),
        _ => format!("{code} {amount}"),
    }
}

/// A number with its unit, where it has one.
#[must_use]
pub fn with_unit(number: String, schema: &Schema) -> String {
    match &schema.unit {
        Some(unit) if &**unit == "%" => format!("{number}%"),
        Some(unit) => format!("{number} {unit}"),
        None => number,
    }
}

/// A number without digits that nobody says.
#[must_use]
pub fn plain_number(number: f64) -> String {
    // Nobody says a quotient to sixteen digits.
    let rounded = (number * 100.0).round() / 100.0;
    let told = if number.abs() >= 0.1 && rounded.is_finite() { rounded } else { number };
    Value::Number(told).to_text(&Zone::utc())
}
