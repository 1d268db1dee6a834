//! Owns the flattening of a schema: it follows references and merges the parts of `allOf`.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};

use super::check::list;
use super::schemas::{Schemas, reference};

/// A flattened schema, and its remaining alternatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat<'s> {
    /// Keywords, which are borrowed if the schema has no parts.
    pub(super) members: Cow<'s, Map<String, Json>>,
    pub(super) ways: &'s [Json],
    /// Names of the schemas that were followed.
    pub(super) names: Vec<&'s str>,
}

/// Maximum depth of parts inside parts.
const MAX_DEPTH: u32 = 24;

impl Schemas {
    /// Flattens a schema.
    pub(super) fn flat<'s>(&'s self, schema: &'s Json) -> Flat<'s> {
        let mut flat = Flat::default();
        self.take_in(&mut flat, schema, 0);
        flat
    }

    /// Merges one more part into a flattened schema.
    pub(super) fn with<'s>(&'s self, flat: &Flat<'s>, part: &'s Json) -> Flat<'s> {
        let mut flat = Flat { ways: &[], ..flat.clone() };
        self.take_in(&mut flat, part, 0);
        flat
    }

    fn take_in<'s>(&'s self, flat: &mut Flat<'s>, schema: &'s Json, depth: u32) {
        let Some(members) = schema.as_object().filter(|_| depth < MAX_DEPTH) else { return };
        if let Some(name) = reference(schema)
            && flat.names.iter().filter(|known| **known == name).count() < 2
        {
            flat.names.push(name);
            if let Some(target) = self.target(schema) {
                self.take_in(flat, target, depth + 1);
            }
        }
        let is_part = |key: &str| ["$ref", "allOf", "oneOf", "anyOf"].contains(&key);
        if flat.members.is_empty() && !members.keys().any(|key| is_part(key)) {
            flat.members = Cow::Borrowed(members);
            return;
        }
        for (key, value) in members.iter().filter(|(key, _)| !is_part(key)) {
            let flat = flat.members.to_mut();
            match (key.as_str(), flat.get_mut(key), value) {
                (_, None, _) => {
                    flat.insert(key.clone(), value.clone());
                }
                ("properties", Some(Json::Object(known)), Json::Object(more)) => {
                    for (name, part) in more {
                        match known.get_mut(name) {
                            Some(both) if both != part => put_together(both, part),
                            Some(_) => {}
                            None => {
                                known.insert(name.clone(), part.clone());
                            }
                        }
                    }
                }
                ("required", Some(Json::Array(known)), Json::Array(more)) => {
                    let new: Vec<Json> = more.iter().filter(|name| !known.contains(name)).cloned().collect();
                    known.extend(new);
                }
                ("enum", Some(Json::Array(known)), Json::Array(more)) => {
                    known.retain(|value| more.contains(value))
                }
                ("type", Some(known), more) if known.is_array() => {
                    let both = |kind: &Json| known.as_array().is_some_and(|known| known.contains(kind));
                    match more {
                        Json::Array(kinds) => {
                            let kinds: Vec<Json> = kinds.iter().filter(|kind| both(kind)).cloned().collect();
                            *known = Json::Array(kinds);
                        }
                        kind => *known = kind.clone(),
                    }
                }
                ("items", Some(known), more) if *known != *more => put_together(known, more),
                ("additionalProperties", Some(known), Json::Bool(false)) => *known = Json::Bool(false),
                _ => {}
            }
        }
        for part in list(members, "allOf") {
            self.take_in(flat, part, depth + 1);
        }
        for word in ["oneOf", "anyOf"] {
            let parts = list(members, word);
            match parts {
                [] => {}
                [only] => self.take_in(flat, only, depth + 1),
                [first, ..] if !flat.ways.is_empty() => self.take_in(flat, first, depth + 1),
                parts => flat.ways = parts,
            }
        }
    }
}

/// Combines two schemas in an `allOf`. Repeated combinations extend the list rather than nest it.
fn put_together(known: &mut Json, more: &Json) {
    if let Some(members) = known.as_object_mut().filter(|members| members.len() == 1)
        && let Some(Json::Array(parts)) = members.get_mut("allOf")
    {
        parts.push(more.clone());
        return;
    }
    *known = json!({"allOf": [known.take(), more]});
}
