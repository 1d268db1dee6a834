//! Tracing: finds the record field behind each leaf of a contract reply.

use std::collections::HashMap;

use diorama_seeds::contract::plain;
use diorama_seeds::model::{FieldId, Record, ResourceId};
use diorama_seeds::value::{Str, Value};
use serde_json::Value as Json;

use crate::reply::{Body, Origin};
use crate::run::Run;

/// The leaves of a record by plain name: value, JSON form, origin.
pub(super) type Leaves = HashMap<String, (Value, Json, Origin)>;

impl Run<'_> {
    /// Returns the fields of a record as reply leaves, by plain name.
    pub(super) fn leaves_of(&self, id: ResourceId, record: &Record) -> Leaves {
        let key = record.get(self.resource(id).key.index()).cloned().unwrap_or(Value::Null);
        let fields = self.called(id).fields.iter().zip(record.iter()).enumerate();
        let present = fields.filter(|(_, (_, value))| !matches!(value, Value::Absent));
        present
            .map(|(index, (name, value))| {
                let origin = Origin::Field { resource: id, key: key.clone(), field: FieldId(index as u16) };
                (name.clone(), (value.clone(), value.to_json(self.zone()), origin))
            })
            .collect()
    }

    /// Converts a reply to a body. Leaves that show a field of the record get it as their origin.
    pub(super) fn traced(&self, json: &Json, name: &str, leaves: &Leaves) -> Body {
        match json {
            Json::Object(members) => Body::Object(
                members
                    .iter()
                    .map(|(name, json)| (Str::from(name.as_str()), self.traced(json, name, leaves)))
                    .collect(),
            ),
            Json::Array(items) => {
                Body::List(items.iter().map(|item| self.traced(item, name, leaves)).collect())
            }
            leaf => match leaves.get(&plain(name)) {
                Some((value, spelt, origin)) if spelt == leaf => Body::Leaf(value.clone(), origin.clone()),
                _ => Body::from_json(leaf),
            },
        }
    }

    pub(super) fn traced_list(&self, json: &Json, list: &str, name: &str, records: &[Leaves]) -> Body {
        match json {
            Json::Array(items) if name == list && items.len() <= records.len() => {
                let items = items.iter().zip(records).map(|(item, leaves)| self.traced(item, "", leaves));
                Body::List(items.collect())
            }
            Json::Object(members) => Body::Object(
                members
                    .iter()
                    .map(|(name, json)| {
                        (Str::from(name.as_str()), self.traced_list(json, list, name, records))
                    })
                    .collect(),
            ),
            other => Body::from_json(other),
        }
    }
}
