//! Owns the validation of values against schemas.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Json};

use super::format::fits as fits_format;
use super::schemas::Schemas;

/// Maximum depth of schemas inside schemas. Deeper parts count as valid.
const MAX_DEPTH: u32 = 64;
/// Maximum number of schemas in one validation. The rest counts as valid. Alternatives that contain
/// themselves would double the number with each level.
const MAX_STEPS: u32 = 1_000_000;

/// The side that sends a body. Requests need not have read-only members, nor replies write-only ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The caller.
    Request,
    /// The API.
    Reply,
}

/// A problem with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Path of the value: `address.city`, `items[2]`. It is empty at the top.
    pub at: String,
    /// Requirement of the schema, as a phrase.
    pub expected: String,
    /// The value that was found.
    pub found: String,
}

/// Position and progress of a validation.
#[derive(Clone, Copy)]
pub(super) struct Progress<'c> {
    side: Side,
    depth: u32,
    steps: &'c Cell<u32>,
}

impl<'c> Progress<'c> {
    const fn top(side: Side, steps: &'c Cell<u32>) -> Self {
        Self { side, depth: 0, steps }
    }

    pub(super) const fn inside(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    /// Counts a step. Returns true if the depth or the steps exceed their maximum.
    pub(super) fn is_spent(self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        self.depth > MAX_DEPTH || self.steps.get() > MAX_STEPS
    }
}

pub(super) type Verdict = Result<(), Wrong>;

impl Schemas {
    /// Validates a value against a schema.
    ///
    /// # Errors
    /// Returns the first problem.
    pub fn check(&self, schema: &Json, value: &Json, side: Side) -> Verdict {
        self.check_at(schema, value, Progress::top(side, &Cell::new(0)))
    }

    /// Returns true if a reply is valid against a schema. `steps` includes those of earlier validations.
    pub(super) fn fits_within(&self, schema: &Json, value: &Json, steps: &Cell<u32>) -> bool {
        self.check_at(schema, value, Progress::top(Side::Reply, steps)).is_ok()
    }

    /// Returns true if a value is valid against a flattened schema, whose alternatives it ignores.
    pub(super) fn fits_members(&self, members: &Map<String, Json>, value: &Json) -> bool {
        self.check_members(members, value, Progress::top(Side::Reply, &Cell::new(0))).is_ok()
    }

    pub(super) fn check_at(&self, schema: &Json, value: &Json, at: Progress<'_>) -> Verdict {
        if at.is_spent() {
            return Ok(());
        }
        let members = match schema {
            Json::Bool(false) => return Err(wrong("nothing", value)),
            Json::Object(members) => members,
            _ => return Ok(()),
        };
        if let Some(target) = self.target(schema) {
            self.check_at(target, value, at.inside())?;
            if members.len() == 1 {
                return Ok(());
            }
        }
        self.check_members(members, value, at)
    }

    fn check_members(&self, members: &Map<String, Json>, value: &Json, at: Progress<'_>) -> Verdict {
        check_kind(members, value)?;
        for part in list(members, "allOf") {
            self.check_at(part, value, at.inside())?;
        }
        self.check_choice(members, value, at)?;
        if let Some(not) = word(members, "not")
            && self.check_at(not, value, at.inside()).is_ok()
        {
            return Err(wrong("a value that `not` does not describe", value));
        }
        self.check_condition(members, value, at)?;
        match value {
            Json::Object(found) => {
                self.check_object(members, found, at)?;
                self.check_dependents(members, found, value, at)
            }
            Json::Array(items) => {
                self.check_array(members, items, at)?;
                self.check_contains(members, items, at)
            }
            Json::String(text) => check_text(members, text, at.side),
            Json::Number(number) => check_number(members, number.as_f64().unwrap_or_default(), value),
            Json::Null | Json::Bool(_) => Ok(()),
        }
    }

    fn check_choice(&self, members: &Map<String, Json>, value: &Json, at: Progress<'_>) -> Verdict {
        for word in ["anyOf", "oneOf"] {
            let parts = list(members, word);
            if parts.is_empty() {
                continue;
            }
            let mut fitting = 0;
            let mut nearest: Option<Wrong> = None;
            for part in parts {
                match self.check_at(part, value, at.inside()) {
                    Ok(()) => fitting += 1,
                    Err(error) if nearest.as_ref().is_none_or(|known| error.rank() > known.rank()) => {
                        nearest = Some(error);
                    }
                    Err(_) => {}
                }
            }
            match (fitting, word) {
                (0, _) => return Err(nearest.unwrap_or_else(|| wrong("one of the alternatives", value))),
                // A request may fit several alternatives, but a reply must fit exactly one.
                (2.., "oneOf") if at.side == Side::Reply => {
                    return Err(wrong("exactly one of the alternatives", value));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_object(
        &self,
        members: &Map<String, Json>,
        found: &Map<String, Json>,
        at: Progress<'_>,
    ) -> Verdict {
        let properties = word(members, "properties").and_then(Json::as_object);
        for name in list(members, "required").iter().filter_map(Json::as_str) {
            let known = properties.and_then(|properties| properties.get(name));
            if !found.contains_key(name) && !known.is_some_and(|known| self.owed_by_other(known, at.side)) {
                return Err(Wrong::missing(name));
            }
        }
        let extra = word(members, "additionalProperties");
        let patterns = word(members, "patternProperties").and_then(Json::as_object);
        for (name, value) in found {
            let mut known = false;
            if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
                known = true;
                self.check_at(schema, value, at.inside()).map_err(|error| error.inside(name))?;
            }
            for (pattern, schema) in patterns.into_iter().flatten() {
                if matches(pattern, name) {
                    known = true;
                    self.check_at(schema, value, at.inside()).map_err(|error| error.inside(name))?;
                }
            }
            match extra {
                Some(Json::Bool(false)) if !known => {
                    return Err(wrong("no such member", value).inside(name));
                }
                Some(schema @ Json::Object(_)) if !known => {
                    self.check_at(schema, value, at.inside()).map_err(|error| error.inside(name))?;
                }
                _ => {}
            }
        }
        let size = found.len() as f64;
        if number(members, "minProperties").is_some_and(|least| size < least)
            || number(members, "maxProperties").is_some_and(|most| size > most)
        {
            return Err(wrong("another number of members", &Json::from(found.len())));
        }
        Ok(())
    }

    /// Returns true if only the other side sends a required member.
    pub(super) fn owed_by_other(&self, schema: &Json, side: Side) -> bool {
        let flag = if side == Side::Request { "readOnly" } else { "writeOnly" };
        let set = |schema: &Json| {
            schema.as_object().and_then(|members| word(members, flag)) == Some(&Json::Bool(true))
        };
        set(schema) || set(self.resolve(schema))
    }

    fn check_array(&self, members: &Map<String, Json>, items: &[Json], at: Progress<'_>) -> Verdict {
        let size = items.len() as f64;
        if let Some(least) = number(members, "minItems").filter(|least| size < *least) {
            return Err(wrong(format!("at least {least} items"), &Json::from(items.len())));
        }
        if let Some(most) = number(members, "maxItems").filter(|most| size > *most) {
            return Err(wrong(format!("at most {most} items"), &Json::from(items.len())));
        }
        if word(members, "uniqueItems") == Some(&Json::Bool(true)) {
            let mut known = HashSet::new();
            if !items.iter().all(|item| known.insert(item)) {
                return Err(wrong("different items", &Json::from(items.len())));
            }
        }
        let first = list(members, "prefixItems");
        for (place, (schema, item)) in first.iter().zip(items).enumerate() {
            self.check_at(schema, item, at.inside()).map_err(|error| error.inside(&format!("[{place}]")))?;
        }
        if let Some(schema) = word(members, "items").filter(|schema| !schema.is_array()) {
            for (place, item) in items.iter().enumerate().skip(first.len()) {
                self.check_at(schema, item, at.inside())
                    .map_err(|error| error.inside(&format!("[{place}]")))?;
            }
        }
        Ok(())
    }
}

impl Wrong {
    /// Returns the likelihood that the sender meant this alternative. A wrong value is stronger evidence than
    /// a missing one.
    fn rank(&self) -> (bool, usize) {
        (self.found != "nothing", self.at.len())
    }

    /// Makes the problem of a missing required member.
    pub(super) fn missing(name: &str) -> Self {
        Self { at: name.to_owned(), expected: "a value".to_owned(), found: "nothing".to_owned() }
    }

    pub(super) fn inside(mut self, place: &str) -> Self {
        let dot = if self.at.is_empty() || self.at.starts_with('[') { "" } else { "." };
        self.at = format!("{place}{dot}{}", self.at);
        self
    }
}

fn check_kind(members: &Map<String, Json>, value: &Json) -> Verdict {
    match word(members, "type") {
        Some(Json::String(kind)) if !is_kind(kind, value) => return Err(wrong(with_article(kind), value)),
        Some(Json::Array(kinds))
            if !kinds.iter().filter_map(Json::as_str).any(|kind| is_kind(kind, value)) =>
        {
            let kinds: Vec<&str> = kinds.iter().filter_map(Json::as_str).collect();
            return Err(wrong(kinds.join(" or "), value));
        }
        _ => {}
    }
    if let Some(only) = word(members, "const").filter(|only| !same(only, value)) {
        return Err(wrong(only.to_string(), value));
    }
    if let Some(values) = word(members, "enum").and_then(Json::as_array)
        && !values.iter().any(|known| same(known, value))
    {
        let shown: Vec<String> = values.iter().take(12).map(ToString::to_string).collect();
        return Err(wrong(format!("one of {}", shown.join(", ")), value));
    }
    Ok(())
}

fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    if kind == "null" { kind.to_owned() } else { format!("{article} {kind}") }
}

/// Numbers with a point or an exponent count as integers up to 2^53. Integers beyond 2^63 lose digits, so
/// they do not count as integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns true if a value has a type.
pub(super) fn is_kind(kind: &str, value: &Json) -> bool {
    match (kind, value) {
        ("null", Json::Null)
        | ("boolean", Json::Bool(_))
        | ("number", Json::Number(_))
        | ("string" | "file", Json::String(_))
        | ("array", Json::Array(_))
        | ("object", Json::Object(_)) => true,
        ("integer", Json::Number(number)) => {
            number.is_i64()
                || (!number.is_u64()
                    && number.as_f64().is_some_and(|value| value.fract() == 0.0 && value.abs() <= EXACT))
        }
        ("null" | "boolean" | "number" | "string" | "file" | "array" | "object" | "integer", _) => false,
        _ => true,
    }
}

/// Returns true if two values are equal by JSON Schema, in which 1 equals 1.0.
pub(super) fn same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(_), Json::Number(_)) => compare(one, other).is_eq(),
        _ => one == other,
    }
}

/// Validates a string. Formats bind only requests. A reply shows sent values and other known values, for
/// which the format is a description.
fn check_text(members: &Map<String, Json>, text: &str, side: Side) -> Verdict {
    let length = text.chars().count() as f64;
    let found = || Json::from(text);
    if let Some(least) = number(members, "minLength").filter(|least| length < *least) {
        return Err(wrong(format!("at least {least} characters"), &found()));
    }
    if let Some(most) = number(members, "maxLength").filter(|most| length > *most) {
        return Err(wrong(format!("at most {most} characters"), &found()));
    }
    let format = word(members, "format").and_then(Json::as_str).filter(|_| side == Side::Request);
    if let Some(format) = format.filter(|format| !fits_format(format, text)) {
        return Err(wrong(format!("a string of the format {format}"), &found()));
    }
    match word(members, "pattern").and_then(Json::as_str) {
        Some(pattern) if !matches(pattern, text) => {
            Err(wrong(format!("a text that matches {pattern}"), &found()))
        }
        _ => Ok(()),
    }
}

fn check_number(members: &Map<String, Json>, value: f64, found: &Json) -> Verdict {
    let bound = |key: &str| Some(compare(found, word(members, key)?)).zip(number(members, key));
    if let Some((_, least)) = bound("minimum").filter(|(order, _)| order.is_lt()) {
        return Err(wrong(format!("at least {least}"), found));
    }
    if let Some((_, most)) = bound("maximum").filter(|(order, _)| order.is_gt()) {
        return Err(wrong(format!("at most {most}"), found));
    }
    if let Some((_, least)) = bound("exclusiveMinimum").filter(|(order, _)| order.is_le()) {
        return Err(wrong(format!("more than {least}"), found));
    }
    if let Some((_, most)) = bound("exclusiveMaximum").filter(|(order, _)| order.is_ge()) {
        return Err(wrong(format!("less than {most}"), found));
    }
    let step = number(members, "multipleOf").filter(|step| *step > 0.0);
    match step.filter(|step| ((value / step) - (value / step).round()).abs() > 1e-9) {
        Some(step) => Err(wrong(format!("a multiple of {step}"), found)),
        None => Ok(()),
    }
}

/// Compares two numbers. The comparison of integers is exact.
fn compare(one: &Json, other: &Json) -> Ordering {
    let whole = |value: &Json| value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => {
            let value = |value: &Json| value.as_f64().unwrap_or_default();
            value(one).partial_cmp(&value(other)).unwrap_or(Ordering::Equal)
        }
    }
}

/// Returns the value of a keyword. Schemas have few keywords, so a scan is faster than hashing.
pub(super) fn word<'m>(members: &'m Map<String, Json>, word: &str) -> Option<&'m Json> {
    members.iter().find(|(known, _)| *known == word).map(|(_, said)| said)
}

pub(super) fn number(members: &Map<String, Json>, key: &str) -> Option<f64> {
    word(members, key).and_then(Json::as_f64)
}

pub(super) fn list<'m>(members: &'m Map<String, Json>, key: &str) -> &'m [Json] {
    word(members, key).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

/// Returns true if a part of a text matches a pattern. An invalid pattern allows all texts.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    thread_local! {
        static READ: RefCell<HashMap<String, Option<regex::Regex>>> = RefCell::new(HashMap::new());
    }
    READ.with(|read| {
        let mut read = read.borrow_mut();
        if read.len() > 4_096 {
            read.clear();
        }
        if !read.contains_key(pattern) {
            let compiled = regex::RegexBuilder::new(pattern).size_limit(1 << 20).build();
            read.insert(pattern.to_owned(), compiled.ok().filter(|_| !pattern.starts_with("/^")));
        }
        read.get(pattern).and_then(Option::as_ref).is_none_or(|known| known.is_match(text))
    })
}

pub(super) fn wrong(expected: impl Into<String>, found: &Json) -> Wrong {
    let found = match found {
        Json::Object(_) => "an object".to_owned(),
        Json::Array(_) => "a list".to_owned(),
        other => other.to_string().chars().take(60).collect(),
    };
    Wrong { at: String::new(), expected: expected.into(), found }
}
