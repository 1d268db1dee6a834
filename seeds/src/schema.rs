//! Owns the types of values, and the parsing of untyped input.

use std::sync::Arc;

use crate::model::ids::ResourceId;
use crate::value::{Date, Decimal, Str, Time, Value, Zone};

/// The declared type of a field, a parameter or an item, with its limits.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The type.
    pub kind: Type,
    /// The limits.
    pub limits: Limits,
    /// True if null is a valid value.
    pub nullable: bool,
    /// Unit of a number (`km`), for people, graders and unit conversion.
    pub unit: Option<Str>,
    /// Format of a string (`email`), for documents and generated values. It is not checked.
    pub format: Option<Str>,
}

/// The type of a value.
#[derive(Clone, Debug)]
pub enum Type {
    /// Whole number.
    Integer,
    /// Finite number.
    Number,
    /// Fixed-point number. With a currency, it is money.
    Decimal {
        /// Decimal places, 0 to 9.
        scale: u8,
        /// ISO 4217 code.
        currency: Option<Str>,
    },
    /// Date without a time.
    Date,
    /// Time of day.
    Time,
    /// Timestamp with a precision of one second.
    DateTime,
    /// True or false.
    Boolean,
    /// Text.
    String,
    /// One of these strings.
    Enum(Arc<[Str]>),
    /// The key of a record.
    Reference {
        /// The resource referred to.
        resource: ResourceId,
        /// The type of its key.
        key: KeyKind,
    },
    /// Values in order.
    List(Arc<Schema>),
    /// Named values.
    Object(Arc<[ObjectField]>),
    /// Any JSON. Whole numbers become integers.
    Any,
}

/// Returns the resource whose records a value refers to, alone or in a list.
#[must_use]
pub fn refers_to(kind: &Type) -> Option<ResourceId> {
    match kind {
        Type::Reference { resource, .. } => Some(*resource),
        Type::List(item) => refers_to(&item.kind),
        _ => None,
    }
}

/// The type of a resource's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Integer keys.
    Integer,
    /// String keys.
    String,
}

/// A field of an object type.
#[derive(Clone, Debug)]
pub struct ObjectField {
    /// Name of the field.
    pub name: Str,
    /// Type of its values.
    pub schema: Schema,
    /// True if the field may be absent.
    pub optional: bool,
}

/// Limits on a value.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Minimum value.
    pub min: Option<Value>,
    /// Maximum value.
    pub max: Option<Value>,
    /// Minimum length, in characters or items.
    pub min_length: Option<u32>,
    /// Maximum length, in characters or items.
    pub max_length: Option<u32>,
    /// Pattern of the whole string.
    pub pattern: Option<Pattern>,
}

/// A compiled pattern that the whole string must match.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: Str,
    regex: regex::Regex,
}

/// The reason for which a value does not fit its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct Mismatch {
    /// Requirement of the type, as a phrase: `an integer of at least 1`.
    pub expected: String,
    /// The value that was found: `the string "abc"`.
    pub found: String,
    /// Path inside a list or object, such as `[2].name`. It is empty at the top.
    pub at: String,
}

/// Maximum nesting of lists and objects in input.
pub const MAX_DEPTH: u32 = 32;

impl Schema {
    /// Makes a schema without limits.
    pub fn of(kind: Type) -> Self {
        Self { kind, limits: Limits::default(), nullable: false, unit: None, format: None }
    }

    /// Parses JSON by this type.
    ///
    /// It also parses strings as integers, numbers, decimals and booleans (`"3"`), because callers send them
    /// in practice. `1.0` is the integer 1.
    ///
    /// # Errors
    /// Returns [`Mismatch`] with the expected value, the found value and its path.
    pub fn parse_json(&self, json: &serde_json::Value, zone: &Zone) -> Result<Value, Mismatch> {
        self.parse_at(json, zone, 0)
    }

    /// Parses plain text (a path segment, a query parameter) by this type. Commas separate list items.
    ///
    /// # Errors
    /// Returns [`Mismatch`], as for JSON.
    pub fn parse_text(&self, text: &str, zone: &Zone) -> Result<Value, Mismatch> {
        match &self.kind {
            Type::List(_) if !text.trim_start().starts_with('[') => {
                let items = text.split(',').filter(|item| !item.is_empty());
                let array = items.map(|item| serde_json::Value::String(item.to_owned())).collect();
                self.parse_json(&serde_json::Value::Array(array), zone)
            }
            Type::List(_) | Type::Object(_) | Type::Any => match serde_json::from_str(text) {
                Ok(json) => self.parse_json(&json, zone),
                Err(_) => self.parse_json(&serde_json::Value::String(text.to_owned()), zone),
            },
            _ => self.parse_json(&serde_json::Value::String(text.to_owned()), zone),
        }
    }

    fn parse_at(&self, json: &serde_json::Value, zone: &Zone, depth: u32) -> Result<Value, Mismatch> {
        use serde_json::Value as Json;
        if json.is_null() && self.nullable {
            return Ok(Value::Null);
        }
        if depth > MAX_DEPTH {
            return Err(self.mismatch(json));
        }
        let text = json.as_str();
        let parsed = match &self.kind {
            Type::Integer => parse_integer(json).map(Value::Integer),
            Type::Number => match json {
                Json::Number(number) => number.as_f64(),
                _ => text.and_then(|text| text.parse().ok()),
            }
            .and_then(Value::number),
            Type::Decimal { scale, .. } => parse_decimal(json, *scale).map(Value::Decimal),
            Type::Date => text.and_then(Date::parse).map(Value::Date),
            Type::Time => text.and_then(Time::parse).map(Value::Time),
            Type::DateTime => text.and_then(|text| zone.parse_instant(text)).map(Value::DateTime),
            Type::Boolean => match json {
                Json::Bool(value) => Some(Value::Bool(*value)),
                _ => text.and_then(|text| text.parse().ok()).map(Value::Bool),
            },
            Type::String => text.map(Value::string),
            Type::Enum(values) => text
                .and_then(|text| values.iter().find(|value| &***value == text))
                .cloned()
                .map(Value::String),
            Type::Reference { key: KeyKind::Integer, .. } => parse_integer(json).map(Value::Integer),
            Type::Reference { key: KeyKind::String, .. } => text.map(Value::string),
            Type::List(item) => {
                let Some(array) = json.as_array() else { return Err(self.mismatch(json)) };
                let mut items = Vec::with_capacity(array.len());
                for (i, json) in array.iter().enumerate() {
                    items.push(
                        item.parse_at(json, zone, depth + 1)
                            .map_err(|error| error.inside(&format!("[{i}]")))?,
                    );
                }
                Some(Value::List(items.into()))
            }
            Type::Object(fields) => return self.parse_object(fields, json, zone, depth),
            Type::Any => any_json(json, depth),
        };
        parsed.filter(|value| self.limits.allow(value)).ok_or_else(|| self.mismatch(json))
    }

    fn parse_object(
        &self,
        fields: &[ObjectField],
        json: &serde_json::Value,
        zone: &Zone,
        depth: u32,
    ) -> Result<Value, Mismatch> {
        let Some(object) = json.as_object() else { return Err(self.mismatch(json)) };
        if let Some(name) = object.keys().find(|name| !fields.iter().any(|field| *field.name == ***name)) {
            let known: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
            return Err(Mismatch {
                expected: format!("only the members {}", known.join(", ")),
                found: format!("the member `{name}`"),
                at: String::new(),
            });
        }
        let mut parsed = Vec::with_capacity(fields.len());
        for field in fields {
            let at = format!(".{}", field.name);
            match object.get(&*field.name) {
                Some(json) => {
                    let value =
                        field.schema.parse_at(json, zone, depth + 1).map_err(|error| error.inside(&at))?;
                    parsed.push((field.name.clone(), value));
                }
                None if field.optional => {}
                None => {
                    return Err(Mismatch {
                        expected: field.schema.expected(),
                        found: "nothing".to_owned(),
                        at,
                    });
                }
            }
        }
        Ok(Value::object(parsed))
    }

    /// Returns the requirement of the type as a phrase for messages: `an integer of at least 1`.
    pub fn expected(&self) -> String {
        let mut phrase = match &self.kind {
            Type::Integer | Type::Reference { key: KeyKind::Integer, .. } => "an integer".to_owned(),
            Type::Number => "a number".to_owned(),
            Type::Decimal { scale, .. } => format!("a number with at most {scale} decimal places"),
            Type::Date => "a date as YYYY-MM-DD".to_owned(),
            Type::Time => "a time as HH:MM".to_owned(),
            Type::DateTime => "a date-time as YYYY-MM-DDTHH:MM".to_owned(),
            Type::Boolean => "true or false".to_owned(),
            Type::String | Type::Reference { key: KeyKind::String, .. } => "a string".to_owned(),
            Type::Enum(values) => format!("one of {}", values.join(", ")),
            Type::List(item) => format!("a list in which each item is {}", item.expected()),
            Type::Object(_) => "an object".to_owned(),
            Type::Any => "a JSON value".to_owned(),
        };
        self.limits.describe(&mut phrase);
        if self.nullable {
            phrase.push_str(", or null");
        }
        phrase
    }

    fn mismatch(&self, json: &serde_json::Value) -> Mismatch {
        Mismatch { expected: self.expected(), found: describe(json), at: String::new() }
    }

    /// Returns true if a value of this type, such as a computed value or a default, keeps its limits.
    pub fn allows(&self, value: &Value) -> bool {
        match value {
            Value::Null => self.nullable,
            _ => self.limits.allow(value),
        }
    }
}

impl Limits {
    fn allow(&self, value: &Value) -> bool {
        let length = match value {
            Value::String(text) if self.min_length.is_some() || self.max_length.is_some() => {
                Some(text.chars().count())
            }
            Value::List(items) => Some(items.len()),
            _ => None,
        };
        let long_enough = length.zip(self.min_length).is_none_or(|(length, min)| length >= min as usize);
        let short_enough = length.zip(self.max_length).is_none_or(|(length, max)| length <= max as usize);
        let above = self.min.as_ref().is_none_or(|min| in_order(min, value));
        let below = self.max.as_ref().is_none_or(|max| in_order(value, max));
        let matches = match (&self.pattern, value) {
            (Some(pattern), Value::String(text)) => pattern.matches(text),
            _ => true,
        };
        long_enough && short_enough && above && below && matches
    }

    fn describe(&self, phrase: &mut String) {
        let utc = Zone::utc();
        match (&self.min, &self.max) {
            (Some(min), Some(max)) => {
                phrase.push_str(&format!(" from {} to {}", min.to_text(&utc), max.to_text(&utc)));
            }
            (Some(min), None) => phrase.push_str(&format!(" of at least {}", min.to_text(&utc))),
            (None, Some(max)) => phrase.push_str(&format!(" of at most {}", max.to_text(&utc))),
            (None, None) => {}
        }
        match (self.min_length, self.max_length) {
            (Some(min), Some(max)) => phrase.push_str(&format!(" of length {min} to {max}")),
            (Some(min), None) => phrase.push_str(&format!(" of length {min} or more")),
            (None, Some(max)) => phrase.push_str(&format!(" of length {max} or less")),
            (None, None) => {}
        }
        if let Some(pattern) = &self.pattern {
            phrase.push_str(&format!(" that matches /{}/", pattern.source));
        }
    }
}

impl Pattern {
    /// Compiles a pattern. Its size is bounded, and matching takes linear time.
    ///
    /// # Errors
    /// Returns a message that describes the problem with the pattern.
    pub fn new(source: &str) -> Result<Self, String> {
        let regex = regex::RegexBuilder::new(&format!("^(?:{source})$"))
            .size_limit(1 << 18)
            .dfa_size_limit(1 << 18)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { source: Arc::from(source), regex })
    }

    /// Returns the pattern as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns true if the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl Mismatch {
    fn inside(mut self, at: &str) -> Self {
        self.at.insert_str(0, at);
        self
    }
}

/// Returns true if two values are in numeric or natural order. Values of different kinds pass, because their
/// type was checked before.
fn in_order(low: &Value, high: &Value) -> bool {
    match (low.as_f64(), high.as_f64()) {
        (Some(low), Some(high)) => low <= high,
        _ => low.kind() != high.kind() || low <= high,
    }
}

fn parse_integer(json: &serde_json::Value) -> Option<i64> {
    match json {
        serde_json::Value::Number(number) => number.as_i64().or_else(|| {
            let value = number.as_f64()?;
            (value.fract() == 0.0 && value.abs() < 9.0e15).then_some(value as i64)
        }),
        serde_json::Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn parse_decimal(json: &serde_json::Value, scale: u8) -> Option<Decimal> {
    match json {
        serde_json::Value::Number(number) => {
            let text = number.to_string();
            Decimal::parse(&text, scale).or_else(|| {
                let value = number.as_f64()?;
                Decimal::round(value, scale).filter(|decimal| decimal.as_f64() == value)
            })
        }
        serde_json::Value::String(text) => Decimal::parse(text, scale),
        _ => None,
    }
}

fn any_json(json: &serde_json::Value, depth: u32) -> Option<Value> {
    use serde_json::Value as Json;
    if depth > MAX_DEPTH {
        return None;
    }
    Some(match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(_) => match parse_integer(json) {
            Some(value) => Value::Integer(value),
            None => Value::number(json.as_f64()?)?,
        },
        Json::String(text) => Value::string(text),
        Json::Array(items) => Value::List(
            items.iter().map(|item| any_json(item, depth + 1)).collect::<Option<Vec<_>>>()?.into(),
        ),
        Json::Object(fields) => Value::object(
            fields
                .iter()
                .map(|(name, json)| Some((crate::value::nfc(name), any_json(json, depth + 1)?)))
                .collect::<Option<Vec<_>>>()?,
        ),
    })
}

fn describe(json: &serde_json::Value) -> String {
    let shown = |text: &str| {
        let short: String = text.chars().take(60).collect();
        if short.len() < text.len() { format!("{short}…") } else { short }
    };
    match json {
        serde_json::Value::Null => "null".to_owned(),
        serde_json::Value::Bool(value) => value.to_string(),
        serde_json::Value::Number(number) => number.to_string(),
        serde_json::Value::String(text) => format!("\"{}\"", shown(text)),
        serde_json::Value::Array(items) => format!("a list of {} items", items.len()),
        serde_json::Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(kind: Type, input: serde_json::Value, expect: &str) {
        let schema = Schema::of(kind);
        let text = match schema.parse_json(&input, &Zone::utc()) {
            Ok(value) => format!("{} {}", value.kind(), value.to_json(&Zone::utc())),
            Err(error) => format!("{error}{}", error.at),
        };
        assert_eq!(text, expect);
    }

    #[test]
    fn values_are_parsed_by_declared_type() {
        let money = || Type::Decimal { scale: 2, currency: Some("EUR".into()) };
        check(Type::Integer, json!(1.0), "integer 1");
        check(Type::Integer, json!("12"), "integer 12");
        check(Type::Integer, json!(1.5), "expected an integer, found 1.5");
        check(Type::Number, json!(-0.0), "number 0");
        check(Type::Number, json!("NaN"), "expected a number, found \"NaN\"");
        check(money(), json!(0.1), "decimal 0.1");
        check(money(), json!(1e2), "decimal 100");
        check(money(), json!(0.125), "expected a number with at most 2 decimal places, found 0.125");
        check(Type::Time, json!("9:00"), "time \"09:00\"");
        check(Type::Enum(["a".into(), "b".into()].into()), json!("A"), "expected one of a, b, found \"A\"");
        check(Type::Any, json!({"b": 1.0, "a": [null]}), "object {\"a\":[null],\"b\":1}");
        check(
            Type::List(Arc::new(Schema::of(Type::Date))),
            json!(["2026-03-02", "soon"]),
            "expected a date as YYYY-MM-DD, found \"soon\"[1]",
        );
    }

    #[test]
    fn limits_are_part_of_the_message() {
        let mut schema = Schema::of(Type::Integer);
        schema.limits.min = Some(Value::Integer(1));
        schema.limits.max = Some(Value::Integer(10));
        let error = schema.parse_text("11", &Zone::utc()).unwrap_err();
        assert_eq!(error.to_string(), "expected an integer from 1 to 10, found \"11\"");
    }

    #[test]
    fn deep_input_is_refused_without_recursion_to_the_end() {
        let mut json = json!(1);
        for _ in 0..100 {
            json = json!([json]);
        }
        assert!(Schema::of(Type::Any).parse_json(&json, &Zone::utc()).is_err());
    }
}
