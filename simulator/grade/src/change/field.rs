//! Field tests: compare the value of a changed field with the expected one.

use std::collections::BTreeMap;

use diorama_answers::TextContent;
use diorama_seeds::model::{Api, BehaviourKind, FieldId, ResourceId, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{ChangeCheck, Matcher};
use diorama_seeds::value::{Value, Zone};
use serde_json::Value as Json;

use crate::errors::ChangeError;
use crate::text;

/// The test that an expected change applies to one field.
#[derive(Debug)]
pub(crate) enum Test {
    Equals(Value),
    /// Sorted items, compared without regard to order.
    Set(Vec<Value>),
    Absent,
    New(u32),
    List(Vec<Item>),
    Text(TextContent),
}

/// An item of a list.
#[derive(Debug)]
pub(crate) enum Item {
    Is(Value),
    New(u32),
}

impl Test {
    pub(super) fn new(
        matcher: &Matcher,
        check: &ChangeCheck,
        name: &str,
        world: &World,
        resource: ResourceId,
        field: FieldId,
    ) -> Result<Self, ChangeError> {
        let declared = world.resource(resource).field(field);
        let schema = &declared.schema;
        let wrong = |json: &Json, why: String| {
            ChangeError::Value(check.resource.clone(), name.to_owned(), json.to_string(), why)
        };
        Ok(match matcher {
            Matcher::Equals(Json::Null) => Self::Equals(Value::Null),
            // The field's limits are dropped, because the expected value may break a limit that was added
            // later.
            Matcher::Equals(json) => {
                let mut open = schema.clone();
                open.limits = diorama_seeds::schema::Limits::default();
                let value =
                    open.parse_json(json, &world.zone).map_err(|error| wrong(json, error.to_string()))?;
                match value {
                    Value::List(items) if is_set(world, resource, field) => {
                        let mut items = items.to_vec();
                        items.sort_unstable();
                        Self::Set(items)
                    }
                    value => Self::Equals(value),
                }
            }
            Matcher::Absent => Self::Absent,
            Matcher::New(number) => Self::New(*number),
            Matcher::ListWithNew(items) => {
                let diorama_seeds::schema::Type::List(item) = &schema.kind else {
                    return Err(ChangeError::Kind("list_with_new is for list fields"));
                };
                let mut ready = Vec::with_capacity(items.len());
                for json in items {
                    let number = json
                        .as_object()
                        .filter(|object| object.len() == 1)
                        .and_then(|object| object.get("new"))
                        .and_then(Json::as_u64);
                    ready.push(match number.and_then(|number| u32::try_from(number).ok()) {
                        Some(number) => Item::New(number),
                        None => Item::Is(
                            item.parse_json(json, &world.zone)
                                .map_err(|error| wrong(json, error.to_string()))?,
                        ),
                    });
                }
                Self::List(ready)
            }
            Matcher::Text(text) => Self::Text(TextContent::read(text)),
        })
    }

    pub(super) fn references(&self) -> Vec<u32> {
        match self {
            Self::New(number) => vec![*number],
            Self::List(items) => items
                .iter()
                .filter_map(|item| if let Item::New(number) = item { Some(*number) } else { None })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Returns true if a value passes. New records pass here; they are compared once their keys are known.
    pub(super) fn may_hold(&self, value: &Value) -> bool {
        self.holds(value, &BTreeMap::new())
    }

    /// Returns true if a value passes. A new record whose key is not in `keys` passes.
    pub(crate) fn holds(&self, value: &Value, keys: &BTreeMap<u32, Value>) -> bool {
        let is_new = |number: &u32, value: &Value| {
            keys.get(number).is_none_or(|key| key == value) && !value.is_missing()
        };
        match self {
            Self::Equals(expected) => {
                let is_code = |(expected, value): (&str, &str)| text::is_same_code(expected, value);
                expected == value
                    || (!expected.is_missing() && expected.loosely_equals(value))
                    || expected.as_str().zip(value.as_str()).is_some_and(is_code)
            }
            Self::Set(expected) => matches!(value, Value::List(items) if {
                let mut items = items.to_vec();
                items.sort_unstable();
                items == *expected
            }),
            Self::Absent => matches!(value, Value::Absent),
            Self::New(number) => is_new(number, value),
            Self::List(items) => match value {
                Value::List(found) => {
                    found.len() == items.len()
                        && items.iter().zip(found.iter()).all(|(item, value)| match item {
                            Item::Is(expected) => expected.loosely_equals(value),
                            Item::New(number) => is_new(number, value),
                        })
                }
                _ => false,
            },
            Self::Text(content) => {
                value.as_str().is_some_and(|text| content.is_said_by(&TextContent::read(text)))
            }
        }
    }

    pub(super) fn describe(&self, zone: &Zone) -> String {
        let text =
            |value: &Value| if value.is_missing() { value.kind().to_owned() } else { value.to_text(zone) };
        match self {
            Self::Equals(value) => text(value),
            Self::Absent => "nothing".to_owned(),
            Self::New(number) => format!("the key of new record {number}"),
            Self::Set(_) | Self::List(_) => "another list".to_owned(),
            Self::Text(_) => {
                "a text with the content of the user's, in at most twice as many words".to_owned()
            }
        }
    }
}

/// Returns true if a list of references has no order, because no API returns or inserts its members in order.
fn is_set(world: &World, resource: ResourceId, field: FieldId) -> bool {
    let references = matches!(&world.resource(resource).field(field).schema.kind, Type::List(item) if matches!(item.kind, Type::Reference { .. }));
    let is_ordered = |api: &Api| {
        matches!(
            &api.behaviour.kind,
            BehaviourKind::Members { resource: of, field: list, .. }
            | BehaviourKind::AddMembers { resource: of, field: list, .. } if (*of, *list) == (resource, field)
        )
    };
    references && !world.apis.iter().any(is_ordered)
}
