//! Replies: a status, and a body that records the origin of each leaf.

use std::fmt::Display;

use diorama_seeds::model::{FieldId, ResourceId};
use diorama_seeds::value::{Str, Value, Zone, write_json_string};
use serde_json::Value as Json;

use super::overlay::held;

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The body.
    pub body: Body,
    /// Path and query of the list's next page, if there is one.
    pub next: Option<Str>,
    /// Number of items in the list, if the reply shows a page.
    pub total: Option<usize>,
}

/// A body as a tree. Lists and objects are split into leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A value with its origin.
    Leaf(Value, Origin),
    /// Members in order.
    Object(Vec<(Str, Body)>),
    /// Items in order.
    List(Vec<Body>),
}

/// The origin of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A field of a record.
    Field {
        /// The resource.
        resource: ResourceId,
        /// The record's key.
        key: Value,
        /// The field.
        field: FieldId,
    },
    /// The world calculated it: a total, a sum, an expression.
    Computed,
    /// It reflects no record: the text of an error, a literal, an echoed argument.
    Constant,
}

impl Reply {
    /// Makes a reply that is no page of a list.
    pub(super) const fn new(status: u16, body: Body) -> Self {
        Self { status, body, next: None, total: None }
    }

    /// Returns true if the status is from 200 to 299.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// Returns the address of the list's next page. `here` is the address of the list.
    #[must_use]
    pub fn next_at(&self, here: impl Display) -> Option<String> {
        let (_, query) = self.next.as_ref()?.split_once('?')?;
        Some(format!("{here}?{query}"))
    }

    /// Returns the body as canonical JSON text.
    #[must_use]
    pub fn to_json(&self, zone: &Zone) -> String {
        self.body.to_json(zone)
    }

    /// Returns the body as a JSON value.
    #[must_use]
    pub fn json_tree(&self, zone: &Zone) -> Json {
        self.body.json_tree(zone)
    }
}

impl Body {
    /// Makes a leaf that reflects no record.
    pub(super) const fn constant(value: Value) -> Self {
        Self::Leaf(value, Origin::Constant)
    }

    /// Makes a leaf that the world calculated.
    pub(super) const fn computed(value: Value) -> Self {
        Self::Leaf(value, Origin::Computed)
    }

    /// Splits a value into leaves with the same origin.
    pub(super) fn of(value: &Value, origin: Origin) -> Self {
        let part = |value: &Value| Self::of(value, origin.clone());
        match value {
            Value::List(items) => Self::List(items.iter().map(part).collect()),
            Value::Object(fields) => {
                let present = fields.iter().filter(|(_, value)| !matches!(value, Value::Absent));
                Self::Object(present.map(|(name, value)| (name.clone(), part(value))).collect())
            }
            leaf => Self::Leaf(leaf.clone(), origin),
        }
    }

    /// Makes a constant body from JSON. Numbers outside of the supported range take the nearest value.
    pub(super) fn from_json(json: &Json) -> Self {
        match json {
            Json::Null => Self::constant(Value::Null),
            Json::Bool(value) => Self::constant(Value::Bool(*value)),
            Json::Number(number) => Self::constant(match (number.as_i64(), number.as_f64()) {
                (Some(value), _) => Value::Integer(value),
                (None, Some(value)) => Value::number(value).unwrap_or(Value::Null),
                (None, None) => Value::Null,
            }),
            Json::String(text) => Self::constant(Value::string(text)),
            Json::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            Json::Object(members) => {
                let members =
                    members.iter().map(|(name, json)| (Str::from(name.as_str()), Self::from_json(json)));
                Self::Object(members.collect())
            }
        }
    }

    /// Returns the part at a path such as `items[0].doctor_id`. The empty path returns the whole body.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<&Self> {
        let mut part = self;
        let mut rest = path;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (position, after) = inner.split_once(']')?;
                let Self::List(items) = part else { return None };
                part = items.get(position.parse::<usize>().ok()?)?;
                rest = after;
            } else {
                rest = rest.strip_prefix('.').unwrap_or(rest);
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                part = part.member(name)?;
                rest = after;
            }
        }
        Some(part)
    }

    /// Returns a member of an object.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().find(|(member, _)| &**member == name).map(|(_, body)| body)
            }
            _ => None,
        }
    }

    /// Returns the value of a leaf.
    #[must_use]
    pub const fn value(&self) -> Option<&Value> {
        match self {
            Self::Leaf(value, _) => Some(value),
            _ => None,
        }
    }

    /// Returns the body and all its parts in document order, each part before its content.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let part = stack.pop()?;
            match part {
                Self::Leaf(..) => {}
                Self::List(items) => stack.extend(items.iter().rev()),
                Self::Object(members) => stack.extend(members.iter().rev().map(|(_, member)| member)),
            }
            Some(part)
        })
    }

    /// Returns all leaves in document order. [`Self::leaves`] adds their paths.
    pub fn values(&self) -> impl Iterator<Item = (&Value, &Origin)> {
        self.parts().filter_map(|part| match part {
            Self::Leaf(value, origin) => Some((value, origin)),
            _ => None,
        })
    }

    /// Returns true if a reply matched no record: an empty list, or only zeros and nulls, without any record
    /// field.
    #[must_use]
    pub fn is_empty_result(&self) -> bool {
        let mut nothing = false;
        for part in self.parts() {
            match part {
                Self::Leaf(_, Origin::Field { .. }) => return false,
                Self::Leaf(value, Origin::Computed) => match value.as_f64() {
                    Some(0.0) => nothing = true,
                    Some(_) => return false,
                    None => nothing |= value.is_missing(),
                },
                Self::Leaf(..) | Self::Object(_) => {}
                Self::List(items) => nothing |= items.is_empty(),
            }
        }
        nothing
    }

    /// Estimates the bytes of memory that the body takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let leaf = size_of::<Self>() as u64;
        self.values().map(|(value, _)| leaf + held(value)).sum()
    }

    /// Returns all leaves with their paths, in document order.
    pub fn leaves(&self) -> impl Iterator<Item = (String, &Value, &Origin)> {
        let mut stack = vec![(String::new(), self)];
        std::iter::from_fn(move || {
            loop {
                let (path, part) = stack.pop()?;
                match part {
                    Self::Leaf(value, origin) => return Some((path, value, origin)),
                    Self::List(items) => {
                        let items = items.iter().enumerate().rev();
                        stack.extend(items.map(|(position, item)| (format!("{path}[{position}]"), item)));
                    }
                    Self::Object(members) => stack.extend(members.iter().rev().map(|(name, body)| {
                        let mut place = String::with_capacity(path.len() + 1 + name.len());
                        place.push_str(&path);
                        if !path.is_empty() {
                            place.push('.');
                        }
                        place.push_str(name);
                        (place, body)
                    })),
                }
            }
        })
    }

    /// Returns the body as canonical JSON text.
    #[must_use]
    pub fn to_json(&self, zone: &Zone) -> String {
        let mut out = String::with_capacity(1024);
        self.write_json(&mut out, zone);
        out
    }

    /// Appends the body as JSON text.
    pub fn write_json(&self, out: &mut String, zone: &Zone) {
        match self {
            Self::Leaf(value, _) => value.write_json(out, zone),
            Self::List(items) => {
                out.push('[');
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    item.write_json(out, zone);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (position, (name, body)) in members.iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    write_json_string(out, name);
                    out.push(':');
                    body.write_json(out, zone);
                }
                out.push('}');
            }
        }
    }

    /// Returns the body as a JSON value.
    #[must_use]
    pub fn json_tree(&self, zone: &Zone) -> Json {
        match self {
            Self::Leaf(value, _) => value.to_json(zone),
            Self::List(items) => Json::Array(items.iter().map(|item| item.json_tree(zone)).collect()),
            Self::Object(members) => Json::Object(
                members.iter().map(|(name, body)| (name.to_string(), body.json_tree(zone))).collect(),
            ),
        }
    }
}
