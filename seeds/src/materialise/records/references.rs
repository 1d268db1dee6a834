//! Owns the resolution of given references, each a key or a display value of a record.

use std::sync::Arc;

use serde_json::Value as Json;

use super::super::plan::GivenValue;
use super::Run;
use crate::model::ResourceId;
use crate::schema::{Schema, Type};
use crate::value::Value;
use diorama_format::Finding;

impl Run<'_> {
    /// Returns a given value, or `None` if a reference names a record that is not made yet.
    pub(super) fn given(
        &self,
        index: usize,
        n: usize,
        schema: &Schema,
        given: &GivenValue,
    ) -> Result<Option<Value>, Finding> {
        let (_, plan) = self.parts(index);
        let place = || format!("{}.{}[{n}]", plan.path, plan.section);
        match (given, &schema.kind) {
            (GivenValue::Value(value), _) => Ok(Some(value.clone())),
            (GivenValue::Reference(json), Type::Reference { resource, .. }) => {
                self.referred(resource.index(), schema, json, &place)
            }
            (GivenValue::References(items), Type::List(item)) => {
                let Type::Reference { resource, .. } = item.kind else { return Ok(Some(Value::Null)) };
                let mut values = Vec::with_capacity(items.len());
                for json in items {
                    match self.referred(resource.index(), item, json, &place)? {
                        Some(value) => values.push(value),
                        None => return Ok(None),
                    }
                }
                Ok(Some(Value::List(values.into())))
            }
            _ => Ok(Some(Value::Null)),
        }
    }

    /// Returns the key of a given reference, which is the key itself or a display value.
    fn referred(
        &self,
        target: usize,
        schema: &Schema,
        json: &Json,
        place: &dyn Fn() -> String,
    ) -> Result<Option<Value>, Finding> {
        let (resource, plan) = self.parts(target);
        let done = &self.done[target];
        let mut known = self.known.borrow_mut();
        if let Ok(key) = schema.parse_json(json, &self.world.zone)
            && known[target].has_key(&self.keys[target], &key)
        {
            return Ok(Some(key));
        }
        let shown = match json {
            Json::String(text) => crate::value::nfc(text),
            other => crate::value::nfc(&other.to_string()),
        };
        let mut found: Vec<&Value> = Vec::new();
        if let Some(display) = resource.display {
            if done.is_empty() {
                // The target is not made yet, so only given records can be found. They already have keys, by
                // whose order they are found.
                let given = known[target].given(&plan.given, display.index(), &shown);
                found.extend(given.iter().filter_map(|n| self.keys[target].get(*n)));
                if found.is_empty() && self.size(target) > 0 {
                    return Ok(None);
                }
            } else {
                let called = (ResourceId(target as u16), display);
                let places = self.indexes.positions(called, &Value::String(shown), done);
                found.extend(
                    places.iter().flat_map(|all| all.iter()).map(|at| &done[*at][resource.key.index()]),
                );
            }
        }
        match found.as_slice() {
            [key] => Ok(Some((*key).clone())),
            [] => Err(Finding::error(
                place(),
                format!("found a reference to {json}, which is neither key nor name of a {}", resource.label),
                "write the key or the display value of a record",
            )),
            several => Err(Finding::error(
                place(),
                format!("found a reference to {json}, which {} records are called", several.len()),
                "write the key instead",
            )),
        }
    }

    /// Resolves the remaining references. It is the last step, because no value is made from them.
    pub(super) fn resolve_later(&mut self) -> Result<(), Finding> {
        for (index, key, field, given) in std::mem::take(&mut self.later) {
            let (resource, plan) = self.parts(index);
            let at = resource.key.index();
            let Ok(found) = self.done[index].binary_search_by(|record| record[at].cmp(&key)) else {
                continue;
            };
            let value = self.given(index, found, &resource.fields[field].schema, &given)?;
            let Some(value) = value else {
                return Err(Finding::error(
                    format!("{}.{}", plan.path, plan.section),
                    format!("found a reference in `{}` that names no record", resource.fields[field].name),
                    "write the key or the display value of a record",
                ));
            };
            let mut values = self.done[index][found].to_vec();
            values[field] = value;
            self.done[index][found] = Arc::from(values);
            if resource.display.is_some_and(|display| display.index() == field) {
                self.indexes.forget();
            }
        }
        Ok(())
    }
}
