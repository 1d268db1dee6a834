//! Owns the values of records, arguments and replies.
//!
//! The declared type ([`crate::schema::Schema`]) parses a value at the edge. Hashing, equality, grading and
//! grounding work on values, never on JSON text. Each type has one form on output.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use self::calendar::{Date, Instant, Time, Zone};
pub use self::decimal::Decimal;
pub use diorama_format::nfc;

mod calendar;
mod decimal;

/// A shared, NFC-normalised string.
pub type Str = Arc<str>;

/// One typed value.
///
/// `Absent` marks a record slot or a reply field that does not exist. `Null` is an existing empty value. They
/// differ in equality, in hashes and in JSON.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Missing value.
    #[default]
    Absent,
    /// Existing empty value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A finite number, made by [`Value::number`]. `-0.0` is stored as `0.0`.
    Number(f64),
    /// A fixed-point number, such as money.
    Decimal(Decimal),
    /// A date without a time.
    Date(Date),
    /// A time of day.
    Time(Time),
    /// A timestamp with a precision of one second.
    DateTime(Instant),
    /// NFC text with its case. Enum values are also strings.
    String(Str),
    /// Values in order.
    List(Arc<[Value]>),
    /// Named values, sorted by name and made by [`Value::object`].
    Object(Arc<[(Str, Value)]>),
}

impl Value {
    /// Makes a number, or `None` if it is not finite. `-0.0` becomes `0.0`.
    pub fn number(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self::Number(if value == 0.0 { 0.0 } else { value }))
    }

    /// Makes a string value in NFC.
    pub fn string(text: &str) -> Self {
        Self::String(nfc(text))
    }

    /// Makes an object, sorted by name. Of equal names, the last wins.
    pub fn object(fields: impl IntoIterator<Item = (Str, Value)>) -> Self {
        let sorted: std::collections::BTreeMap<Str, Value> = fields.into_iter().collect();
        Self::Object(sorted.into_iter().collect())
    }

    /// Returns true if the value is null or absent.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Absent | Self::Null)
    }

    /// Returns the text of a string value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value as an `f64` if it has one of the three numeric kinds.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            Self::Decimal(value) => Some(value.as_f64()),
            _ => None,
        }
    }

    /// Returns a number, date, time or timestamp as one number, which orders values of one kind.
    pub fn ordinal(&self) -> Option<f64> {
        match self {
            Self::Date(date) => Some(f64::from(date.0)),
            Self::Time(time) => Some(f64::from(time.0)),
            Self::DateTime(instant) => Some(instant.0 as f64),
            other => other.as_f64(),
        }
    }

    /// Compares values with numeric promotion: `1`, `1.0` and the decimal `1.00` are equal.
    pub fn loosely_equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Decimal(a), Self::Decimal(b)) => a == b,
            (Self::Decimal(a), Self::Integer(b)) | (Self::Integer(b), Self::Decimal(a)) => {
                *a == Decimal { minor: *b, scale: 0 }
            }
            _ => match (self.as_f64(), other.as_f64()) {
                (Some(a), Some(b)) => a == b,
                _ => self == other,
            },
        }
    }

    /// Writes the value as JSON in its only form. `Absent` becomes `null`, so callers omit it.
    pub fn write_json(&self, out: &mut String, zone: &Zone) {
        match self {
            Self::Absent | Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Integer(value) => out.push_str(itoa::Buffer::new().format(*value)),
            Self::Number(value) => write_number(out, *value),
            Self::Decimal(value) => {
                let _ = write!(out, "{value}");
            }
            Self::Date(_) | Self::Time(_) | Self::DateTime(_) => {
                out.push('"');
                self.write_text(out, zone);
                out.push('"');
            }
            Self::String(text) => write_json_string(out, text),
            Self::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write_json(out, zone);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                let mut first = true;
                for (name, value) in fields.iter().filter(|(_, value)| !matches!(value, Self::Absent)) {
                    if !first {
                        out.push(',');
                    }
                    first = false;
                    write_json_string(out, name);
                    out.push(':');
                    value.write_json(out, zone);
                }
                out.push('}');
            }
        }
    }

    /// Returns the value as a JSON tree, in the form of [`Value::write_json`].
    pub fn to_json(&self, zone: &Zone) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Self::Absent | Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Integer(value) => Json::from(*value),
            Self::Number(value) => number_json(*value),
            Self::Decimal(value) if value.minor % 10_i64.pow(u32::from(value.scale)) == 0 => {
                Json::from(value.minor / 10_i64.pow(u32::from(value.scale)))
            }
            Self::Decimal(value) => Json::from(value.as_f64()),
            Self::Date(_) | Self::Time(_) | Self::DateTime(_) => Json::String(self.to_text(zone)),
            Self::String(text) => Json::String(text.to_string()),
            Self::List(items) => Json::Array(items.iter().map(|item| item.to_json(zone)).collect()),
            Self::Object(fields) => Json::Object(
                fields
                    .iter()
                    .filter(|(_, value)| !matches!(value, Self::Absent))
                    .map(|(name, value)| (name.to_string(), value.to_json(zone)))
                    .collect(),
            ),
        }
    }

    /// Returns true if the JSON equals [`Self::to_json`] of the value.
    pub fn is_json(&self, json: &serde_json::Value, zone: &Zone) -> bool {
        use serde_json::Value as Json;
        match (self, json) {
            (Self::String(text), Json::String(json)) => **text == **json,
            (Self::String(_), _) | (Self::Integer(_), Json::String(_)) => false,
            _ => self.to_json(zone) == *json,
        }
    }

    /// Returns the value as plain text for a path or a query string: JSON without the quotes.
    pub fn to_text(&self, zone: &Zone) -> String {
        let mut out = String::new();
        self.write_text(&mut out, zone);
        out
    }

    fn write_text(&self, out: &mut String, zone: &Zone) {
        match self {
            Self::String(text) => out.push_str(text),
            Self::Date(date) => {
                let _ = write!(out, "{date}");
            }
            Self::Time(time) => {
                let _ = write!(out, "{time}");
            }
            Self::DateTime(instant) => zone.write_instant(*instant, out),
            other => other.write_json(out, zone),
        }
    }

    /// Appends a self-delimiting binary form for digests. Equal values have equal forms, and unequal values
    /// unequal ones.
    pub fn write_canonical(&self, out: &mut Vec<u8>) {
        match self {
            Self::Absent => out.push(0),
            Self::Null => out.push(1),
            Self::Bool(value) => out.extend([2, u8::from(*value)]),
            Self::Integer(value) => tagged(out, 3, &value.to_le_bytes()),
            Self::Number(value) => tagged(out, 4, &value.to_bits().to_le_bytes()),
            Self::Decimal(value) => {
                let value = value.reduced();
                tagged(out, 5, &value.minor.to_le_bytes());
                out.push(value.scale);
            }
            Self::Date(date) => tagged(out, 6, &date.0.to_le_bytes()),
            Self::Time(time) => tagged(out, 7, &time.0.to_le_bytes()),
            Self::DateTime(instant) => tagged(out, 8, &instant.0.to_le_bytes()),
            Self::String(text) => {
                tagged(out, 9, &(text.len() as u64).to_le_bytes());
                out.extend(text.as_bytes());
            }
            Self::List(items) => {
                tagged(out, 10, &(items.len() as u64).to_le_bytes());
                items.iter().for_each(|item| item.write_canonical(out));
            }
            Self::Object(fields) => {
                tagged(out, 11, &(fields.len() as u64).to_le_bytes());
                for (name, value) in fields.iter() {
                    out.extend((name.len() as u64).to_le_bytes());
                    out.extend(name.as_bytes());
                    value.write_canonical(out);
                }
            }
        }
    }

    /// Returns false for a date or timestamp outside the calendar, which has no text. Only calculations make
    /// such values.
    pub fn is_in_calendar(&self, zone: &Zone) -> bool {
        match self {
            Self::Date(date) => date.is_in_calendar(),
            Self::DateTime(instant) => zone.has(*instant),
            _ => true,
        }
    }

    /// Returns the kind of a value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Integer(_) => "integer",
            Self::Number(_) => "number",
            Self::Decimal(_) => "decimal",
            Self::Date(_) => "date",
            Self::Time(_) => "time",
            Self::DateTime(_) => "date-time",
            Self::String(_) => "string",
            Self::List(_) => "list",
            Self::Object(_) => "object",
        }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Absent => 0,
            Self::Null => 1,
            Self::Bool(_) => 2,
            Self::Integer(_) => 3,
            Self::Number(_) => 4,
            Self::Decimal(_) => 5,
            Self::Date(_) => 6,
            Self::Time(_) => 7,
            Self::DateTime(_) => 8,
            Self::String(_) => 9,
            Self::List(_) => 10,
            Self::Object(_) => 11,
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::String(a), Self::String(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => self.cmp(other) == Ordering::Equal,
        }
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Total order by kind, then within the kind. Strings compare by code point.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Decimal(a), Self::Decimal(b)) => a.cmp(b),
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::DateTime(a), Self::DateTime(b)) => a.cmp(b),
            (Self::String(a), Self::String(b)) => a.cmp(b),
            (Self::List(a), Self::List(b)) => a.cmp(b),
            (Self::Object(a), Self::Object(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.rank());
        match self {
            Self::Absent | Self::Null => {}
            Self::Bool(value) => value.hash(state),
            Self::Integer(value) => value.hash(state),
            Self::Number(value) => value.to_bits().hash(state),
            Self::Decimal(value) => value.hash(state),
            Self::Date(value) => value.hash(state),
            Self::Time(value) => value.hash(state),
            Self::DateTime(value) => value.hash(state),
            Self::String(value) => value.hash(state),
            Self::List(items) => items.hash(state),
            Self::Object(fields) => fields.hash(state),
        }
    }
}

fn tagged(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    out.extend(bytes);
}

/// Writes a number. A whole number has no fraction, so that 1 and 1.0 have one form.
fn write_number(out: &mut String, value: f64) {
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        out.push_str(itoa::Buffer::new().format(value as i64));
    } else {
        out.push_str(&number_json(value).to_string());
    }
}

fn number_json(value: f64) -> serde_json::Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        serde_json::Value::from(value as i64)
    } else {
        serde_json::Value::from(value)
    }
}

/// Appends a text as JSON.
pub fn write_json_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    // The check has no branches, so that it covers many bytes in one step. Few texts need an escape.
    let escaped = |byte: u8| (byte < 0x20) | (byte == b'"') | (byte == b'\\');
    if text.bytes().fold(false, |any, byte| any | escaped(byte)) {
        push_escaped(out, text);
    } else {
        out.push_str(text);
    }
    out.push('"');
}

fn push_escaped(out: &mut String, text: &str) {
    let mut start = 0;
    for (i, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[start..i]);
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        start = i + 1;
    }
    out.push_str(&text[start..]);
}

#[cfg(test)]
mod tests;
