//! Values: what records hold, arguments carry and replies show.
//!
//! A value is parsed at the edge by its declared type ([`crate::schema::Schema`]); hashing, equality, grading
//! and grounding work on values, never on JSON text. Each type has one spelling on output.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jiff::civil;
use jiff::tz::TimeZone;

/// A shared, NFC-normalised string.
pub type Str = Arc<str>;

/// One typed value.
///
/// `Absent` marks a record slot or a reply field that is not there at all; `Null` is a value that is there and
/// empty. They differ everywhere: in equality, in hashes and in JSON.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Not there.
    #[default]
    Absent,
    /// There, and empty.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A finite number; `-0.0` is stored as `0.0`. Made by [`Value::number`].
    Number(f64),
    /// A fixed-point number, such as money.
    Decimal(Decimal),
    /// A calendar day.
    Date(Date),
    /// A time of day.
    Time(Time),
    /// An instant, to the second.
    DateTime(Instant),
    /// NFC text; the case is kept. Enum values are strings too.
    String(Str),
    /// Values in order.
    List(Arc<[Value]>),
    /// Named values, sorted by name. Made by [`Value::object`].
    Object(Arc<[(Str, Value)]>),
}

/// A fixed-point number: `minor / 10^scale`.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    /// The number in its smallest unit, such as cents.
    pub minor: i64,
    /// How many decimal places, 0 to 9.
    pub scale: u8,
}

/// A calendar day, as days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub i32);

/// A time of day, as seconds since midnight, 0 to 86,399.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u32);

/// An instant, as seconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub i64);

/// The one time zone of a world.
#[derive(Clone, Debug)]
pub struct Zone {
    name: Str,
    rules: TimeZone,
}

impl Value {
    /// Makes a number; `None` when it is not finite. `-0.0` becomes `0.0`.
    #[must_use]
    pub fn number(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self::Number(if value == 0.0 { 0.0 } else { value }))
    }

    /// Makes a string value in NFC.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::String(nfc(text))
    }

    /// Makes an object, sorted by name; of equal names the last wins.
    #[must_use]
    pub fn object(fields: impl IntoIterator<Item = (Str, Value)>) -> Self {
        let sorted: std::collections::BTreeMap<Str, Value> = fields.into_iter().collect();
        Self::Object(sorted.into_iter().collect())
    }

    /// Returns true if the value is null or absent.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Absent | Self::Null)
    }

    /// The text of a string value.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value as an `f64`, when it is one of the three numeric kinds.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            Self::Decimal(value) => Some(value.as_f64()),
            _ => None,
        }
    }

    /// Equality with numeric promotion: `1`, `1.0` and the decimal `1.00` are equal.
    #[must_use]
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

    /// Writes the value as JSON, in its one spelling. `Absent` is written as `null`; callers leave it out.
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

    /// The value as a JSON tree, in the same spelling as [`Value::write_json`].
    #[must_use]
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

    /// Returns true if JSON is [`Self::to_json`] of the value.
    #[must_use]
    pub fn is_json(&self, json: &serde_json::Value, zone: &Zone) -> bool {
        use serde_json::Value as Json;
        match (self, json) {
            (Self::String(text), Json::String(json)) => **text == **json,
            (Self::String(_), _) | (Self::Integer(_), Json::String(_)) => false,
            _ => self.to_json(zone) == *json,
        }
    }

    /// The value as plain text, as it stands in a path or a query string: JSON without the quotes.
    #[must_use]
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

    /// Appends a self-delimiting binary form that is equal exactly when the values are: what digests hash.
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

    /// The kind of a value, for messages.
    #[must_use]
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

/// A total order: by kind first, then within the kind. Strings compare by code point.
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

impl Decimal {
    /// The nearest `f64`.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.minor as f64 / 10_f64.powi(i32::from(self.scale))
    }

    /// The same number with trailing zeros of the fraction removed.
    #[must_use]
    pub fn reduced(mut self) -> Self {
        while self.scale > 0 && self.minor % 10 == 0 {
            self.minor /= 10;
            self.scale -= 1;
        }
        self
    }

    /// Parses plain decimal text, such as `12`, `-3.5` or `12.50`; `None` where the text is not a number, has
    /// more decimals than `scale` allows (trailing zeros aside), or does not fit.
    #[must_use]
    pub fn parse(text: &str, scale: u8) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || (digits.contains('.') && fraction.is_empty()) {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > usize::from(scale)
            || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let mut minor: i64 = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            minor = minor.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
        }
        for _ in fraction.len()..usize::from(scale) {
            minor = minor.checked_mul(10)?;
        }
        Some(Self { minor: if negative { -minor } else { minor }, scale })
    }

    /// The nearest decimal of this scale, halves away from zero; `None` when it does not fit.
    #[must_use]
    pub fn round(value: f64, scale: u8) -> Option<Self> {
        // A tiny nudge keeps 1.005 * 100 (100.49999999999999) from rounding the wrong way.
        let scaled = value * 10_f64.powi(i32::from(scale));
        let nudged = (scaled + scaled.signum() * 1e-9 * scaled.abs().max(1.0)).round();
        (nudged.is_finite() && nudged.abs() < 9.0e15).then_some(Self { minor: nudged as i64, scale })
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        let widen = |value: &Self| i128::from(value.minor) * 10_i128.pow(u32::from(scale - value.scale));
        widen(self).cmp(&widen(other))
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let reduced = self.reduced();
        reduced.minor.hash(state);
        reduced.scale.hash(state);
    }
}

/// The shortest spelling: `12.5`, `12`, `-0.05`.
impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let reduced = self.reduced();
        if reduced.scale == 0 {
            return write!(f, "{}", reduced.minor);
        }
        let unit = 10_u64.pow(u32::from(reduced.scale));
        let magnitude = reduced.minor.unsigned_abs();
        let sign = if reduced.minor < 0 { "-" } else { "" };
        write!(
            f,
            "{sign}{}.{:0width$}",
            magnitude / unit,
            magnitude % unit,
            width = usize::from(reduced.scale)
        )
    }
}

impl Date {
    /// The day of a civil date.
    #[must_use]
    pub fn from_civil(date: civil::Date) -> Self {
        Self(
            (jiff::Timestamp::from(date.to_zoned(TimeZone::UTC).unwrap_or_default()).as_second() / 86_400)
                as i32,
        )
    }

    /// The civil date; days outside years -9999 to 9999 are clamped.
    #[must_use]
    pub fn civil(self) -> civil::Date {
        const EPOCH: civil::Date = civil::date(1970, 1, 1);
        EPOCH.saturating_add(jiff::Span::new().days(i64::from(self.0)))
    }

    /// Parses `YYYY-MM-DD`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let number = |range: std::ops::Range<usize>| digits(bytes.get(range)?);
        let date = civil::Date::new(number(0..4)? as i16, number(5..7)? as i8, number(8..10)? as i8).ok()?;
        Some(Self::from_civil(date))
    }
}

/// `YYYY-MM-DD`.
impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let date = self.civil();
        write!(f, "{:04}-{:02}-{:02}", date.year(), date.month(), date.day())
    }
}

impl Time {
    /// Parses `H:MM`, `HH:MM` or `HH:MM:SS`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let hour = parts.next().filter(|part| matches!(part.len(), 1 | 2))?;
        let rest: Vec<&str> = parts.collect();
        if !(1..=2).contains(&rest.len()) || rest.iter().any(|part| part.len() != 2) {
            return None;
        }
        let hour = digits(hour.as_bytes())?;
        let minute = digits(rest[0].as_bytes())?;
        let second = rest.get(1).map_or(Some(0), |part| digits(part.as_bytes()))?;
        (hour < 24 && minute < 60 && second < 60).then_some(Self(hour * 3600 + minute * 60 + second))
    }
}

/// `HH:MM`, or `HH:MM:SS` when the seconds are not zero.
impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 3600, self.0 / 60 % 60)?;
        if !self.0.is_multiple_of(60) { write!(f, ":{:02}", self.0 % 60) } else { Ok(()) }
    }
}

impl Zone {
    /// Finds a zone by its IANA name, such as `Europe/Lisbon`; `None` when the bundled database has none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let rules = jiff::tz::TimeZoneDatabase::bundled().get(name).ok()?;
        Some(Self { name: Arc::from(rules.iana_name().unwrap_or(name)), rules })
    }

    /// Coordinated universal time.
    #[must_use]
    pub fn utc() -> Self {
        Self { name: Arc::from("UTC"), rules: TimeZone::UTC }
    }

    /// The IANA name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The local date and time of an instant.
    #[must_use]
    pub fn civil(&self, instant: Instant) -> civil::DateTime {
        let timestamp = jiff::Timestamp::from_second(instant.0).unwrap_or_default();
        self.rules.to_datetime(timestamp)
    }

    /// The local day of an instant.
    #[must_use]
    pub fn date_of(&self, instant: Instant) -> Date {
        Date::from_civil(self.civil(instant).date())
    }

    /// The local time of day of an instant.
    #[must_use]
    pub fn time_of(&self, instant: Instant) -> Time {
        let time = self.civil(instant).time();
        Time(time.hour() as u32 * 3600 + time.minute() as u32 * 60 + time.second() as u32)
    }

    /// The instant of a local date and time. In an hour that occurs twice the earlier is meant; in one that is
    /// skipped, the time after the gap.
    #[must_use]
    pub fn instant(&self, date: Date, time: Time) -> Instant {
        let clock = civil::time((time.0 / 3600) as i8, (time.0 / 60 % 60) as i8, (time.0 % 60) as i8, 0);
        let local = date.civil().to_datetime(clock);
        let zoned = self.rules.to_ambiguous_zoned(local).compatible();
        Instant(zoned.map_or(0, |zoned| zoned.timestamp().as_second()))
    }

    /// Parses an RFC 3339 date-time, with an offset or, without one, as local time in this zone. A space may
    /// stand for the `T`, and the seconds may be left out; fractions of a second are refused unless zero.
    #[must_use]
    pub fn parse_instant(&self, text: &str) -> Option<Instant> {
        let date = Date::parse(text.get(..10)?)?;
        let rest = text.get(10..)?.strip_prefix(['T', 't', ' '])?;
        let split = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
        let (mut clock, offset) = rest.split_at(split);
        if let Some((whole, fraction)) = clock.split_once('.') {
            if fraction.is_empty() || !fraction.bytes().all(|byte| byte == b'0') {
                return None;
            }
            clock = whole;
        }
        let time = Time::parse(clock)?;
        match offset {
            "" => Some(self.instant(date, time)),
            "Z" | "z" => Some(Instant(i64::from(date.0) * 86_400 + i64::from(time.0))),
            _ => {
                let sign = if offset.starts_with('-') { -1 } else { 1 };
                let shift = Time::parse(&offset[1..]).filter(|_| offset.len() == 6)?;
                Some(Instant(i64::from(date.0) * 86_400 + i64::from(time.0) - sign * i64::from(shift.0)))
            }
        }
    }

    /// Writes `YYYY-MM-DDTHH:MM:SS+HH:MM` (RFC 3339), `Z` when the zone is UTC.
    pub fn write_instant(&self, instant: Instant, out: &mut String) {
        let timestamp = jiff::Timestamp::from_second(instant.0).unwrap_or_default();
        let offset = self.rules.to_offset(timestamp);
        let local = offset.to_datetime(timestamp);
        let _ = write!(
            out,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            local.year(),
            local.month(),
            local.day(),
            local.hour(),
            local.minute(),
            local.second()
        );
        if &*self.name == "UTC" {
            out.push('Z');
            return;
        }
        let seconds = offset.seconds();
        let sign = if seconds < 0 { '-' } else { '+' };
        let _ = write!(out, "{sign}{:02}:{:02}", seconds.abs() / 3600, seconds.abs() / 60 % 60);
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Zone {}

/// NFC, without copying through an intermediate when the text already is.
#[must_use]
pub fn nfc(text: &str) -> Str {
    use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Arc::from(text)
    } else {
        text.nfc().collect::<String>().into()
    }
}

fn digits(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0_u32, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
}

fn tagged(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    out.extend(bytes);
}

/// A whole number is written without a fraction, so that 1 and 1.0 have one spelling.
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
    // Without branches, so that many bytes are looked at in one step; few texts hold a byte that is escaped.
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
