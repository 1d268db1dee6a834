//! Serialised states: the differences from the base.
//!
//! Values keep their types, so no schema is needed to parse them. Deserialised states are checked against the
//! base, and the digest proves that nothing was lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_seeds::model::{ApiId, DomainId, Record, ResourceId};
use diorama_seeds::task::OutageKind;
use diorama_seeds::value::{Date, Decimal, Instant, Time, Value};
use serde::{Deserialize, Serialize};

use super::{State, Token};
use crate::base::Base;
use crate::overlay::Table;

/// A serialised state, without its base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptState {
    clock: i64,
    issued: u64,
    tokens: Vec<KeptToken>,
    tables: Vec<KeptTable>,
    /// The remaining outages: API and kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outages: Vec<(u16, OutageKind)>,
    digest: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptToken {
    text: String,
    domain: u16,
    user: StoredValue,
    expires: i64,
}

/// The differences in one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptTable {
    resource: u16,
    creates: u64,
    /// The number of the create that made a record, by key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    made: Vec<(StoredValue, u64)>,
    /// The changed records by key. None means that the record is deleted.
    changed: Vec<(StoredValue, Option<Vec<StoredValue>>)>,
}

/// A serialised value. Its tags are short because there are many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum StoredValue {
    #[serde(rename = "-")]
    Absent,
    #[serde(rename = "0")]
    Null,
    #[serde(rename = "b")]
    Bool(bool),
    #[serde(rename = "i")]
    Integer(i64),
    /// The bits of the number, so that no formatting can change it.
    #[serde(rename = "n")]
    Number(u64),
    #[serde(rename = "d")]
    Decimal(i64, u8),
    #[serde(rename = "y")]
    Date(i32),
    #[serde(rename = "t")]
    Time(u32),
    #[serde(rename = "m")]
    DateTime(i64),
    #[serde(rename = "s")]
    String(String),
    #[serde(rename = "l")]
    List(Vec<StoredValue>),
    #[serde(rename = "o")]
    Object(Vec<(String, StoredValue)>),
}

impl State {
    /// Returns the serialised state.
    pub fn kept(&self) -> KeptState {
        let tokens = self.tokens.iter().map(|(text, token)| KeptToken {
            text: text.to_string(),
            domain: token.domain.0,
            user: StoredValue::of(&token.user),
            expires: token.expires.0,
        });
        let tables =
            self.tables.iter().enumerate().filter(|(_, table)| table.creates() > 0 || !table.is_empty());
        let tables = tables.map(|(position, table)| {
            let record = |record: &Option<Record>| {
                record.as_ref().map(|record| record.iter().map(StoredValue::of).collect::<Vec<_>>())
            };
            KeptTable {
                resource: position as u16,
                creates: table.creates(),
                made: table.all_made().map(|(key, create)| (StoredValue::of(key), create)).collect(),
                changed: table.entries().map(|(key, found)| (StoredValue::of(key), record(found))).collect(),
            }
        });
        KeptState {
            clock: self.clock.0,
            issued: self.issued,
            tokens: tokens.collect(),
            tables: tables.collect(),
            outages: self.outages.iter().map(|(api, kind)| (api.0, *kind)).collect(),
            digest: self.digest().to_string(),
        }
    }

    /// Returns the number of records that differ from the base.
    pub fn changed(&self) -> usize {
        self.tables.iter().map(Table::changes).sum()
    }

    /// Restores a serialised state of a session that started like this one. Shares equal parts with this
    /// state. Returns none if the state does not fit the base or its digest differs.
    pub fn resumed(&self, base: &Base, kept: &KeptState) -> Option<Self> {
        let world = base.world();
        let mut state = self.clone();
        let mut scratch = Vec::new();
        state.clock = Instant(kept.clock);
        state.set_outages(kept.outages.iter().map(|(api, kind)| (ApiId(*api), *kind)));
        for (position, ours) in self.tables.iter().enumerate() {
            let resource = ResourceId(position as u16);
            let fields = world.resources.get(position)?.fields.len();
            let theirs = kept.tables.iter().find(|table| usize::from(table.resource) == position);
            let changed = theirs.into_iter().flat_map(|table| &table.changed);
            let changed: BTreeMap<Value, &Option<Vec<StoredValue>>> =
                changed.map(|(key, record)| Some((key.value()?, record))).collect::<Option<_>>()?;
            for key in ours.keys().filter(|key| !changed.contains_key(key)) {
                state.put(base, resource, key, base.find(resource, key).cloned(), &mut scratch);
            }
            for (key, record) in changed {
                let record = match record {
                    Some(values) if values.len() != fields => return None,
                    Some(values) => Some(values.iter().map(StoredValue::value).collect::<Option<Record>>()?),
                    None => None,
                };
                if ours.changed(&key) != Some(&record) {
                    state.put(base, resource, &key, record, &mut scratch);
                }
            }
            let creates = theirs.map_or(0, |table| table.creates);
            if ours.creates() != creates {
                let made = theirs.into_iter().flat_map(|table| &table.made);
                let made: Vec<(Value, u64)> =
                    made.map(|(key, create)| Some((key.value()?, *create))).collect::<Option<_>>()?;
                Arc::make_mut(&mut state.tables).get_mut(position)?.set_creates(creates, made.into_iter());
            }
        }
        let known: BTreeSet<&str> = kept.tokens.iter().map(|token| &*token.text).collect();
        for text in self.tokens.keys().filter(|text| !known.contains(&***text)) {
            state.revoke(text);
        }
        for token in &kept.tokens {
            world.domains.get(usize::from(token.domain))?;
            let (user, expires) = (token.user.value()?, Instant(token.expires));
            let known = Token { domain: DomainId(token.domain), user, expires };
            if state.token(&token.text) != Some(&known) {
                state.issue(token.text.as_str().into(), known);
            }
        }
        state.issued = kept.issued;
        (state.digest().to_string() == kept.digest).then_some(state)
    }
}

impl StoredValue {
    fn of(value: &Value) -> Self {
        match value {
            Value::Absent => Self::Absent,
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Integer(value) => Self::Integer(*value),
            Value::Number(value) => Self::Number(value.to_bits()),
            Value::Decimal(value) => Self::Decimal(value.minor, value.scale),
            Value::Date(value) => Self::Date(value.0),
            Value::Time(value) => Self::Time(value.0),
            Value::DateTime(value) => Self::DateTime(value.0),
            Value::String(value) => Self::String(value.to_string()),
            Value::List(items) => Self::List(items.iter().map(Self::of).collect()),
            Value::Object(members) => Self::Object(
                members.iter().map(|(name, value)| (name.to_string(), Self::of(value))).collect(),
            ),
        }
    }

    /// Returns the value, or none if it is invalid.
    fn value(&self) -> Option<Value> {
        Some(match self {
            Self::Absent => Value::Absent,
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Integer(value) => Value::Integer(*value),
            Self::Number(bits) => {
                Value::Number(Some(f64::from_bits(*bits)).filter(|value| value.is_finite())?)
            }
            Self::Decimal(minor, scale) if *scale <= 9 => {
                Value::Decimal(Decimal { minor: *minor, scale: *scale })
            }
            Self::Decimal(..) => return None,
            Self::Date(days) => Value::Date(Date(*days)),
            Self::Time(seconds) => Value::Time(Time(*seconds)),
            Self::DateTime(seconds) => Value::DateTime(Instant(*seconds)),
            Self::String(text) => Value::String(text.as_str().into()),
            Self::List(items) => Value::List(items.iter().map(Self::value).collect::<Option<_>>()?),
            Self::Object(members) => {
                let member = |(name, value): &(String, Self)| Some((name.as_str().into(), value.value()?));
                Value::Object(members.iter().map(member).collect::<Option<_>>()?)
            }
        })
    }
}
