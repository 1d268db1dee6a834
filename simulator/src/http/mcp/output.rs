//! Owns the output schemas of tools: the shape of a reply, in keywords that all validators interpret alike.
//!
//! Clients validate each successful result against the schema, so that a schema must never promise more than
//! the engine keeps. Formats, patterns and limits are omitted, because validators interpret them differently.
//! A tool whose reply may be something other than an object has no output schema, because the protocol has
//! structured content for objects only.

use std::collections::{BTreeSet, VecDeque};

use diorama_seeds::contract::Schemas;
use diorama_seeds::model::{Api, World};
use diorama_seeds::pointer::escape;
use serde_json::{Map, Value as Json, json};

use crate::http::world::openapi::reply_schema;

/// Maximum number of named schemas in an output schema. References to others allow any value.
const MAX_DEFINITIONS: usize = 32;
/// Maximum depth of nested alternatives for the test whether all are objects.
const MAX_ALTERNATIVES_DEPTH: u32 = 8;
/// Types of JSON Schema. Documents use others as well.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Returns the output schema of an API's tool, or none if a success may be something other than an object.
pub(super) fn output_schema(world: &World, api: &Api) -> Option<Map<String, Json>> {
    match &api.contract {
        Some(contract) => shape(&contract.schemas, contract.reply.as_ref()?),
        None if api.shows_nothing() => None,
        None => shape(&Schemas::default(), &reply_schema(world, api)),
    }
}

/// Returns the shape that a schema gives its objects, with the named schemas to which it refers.
fn shape(schemas: &Schemas, schema: &Json) -> Option<Map<String, Json>> {
    if !makes_objects(schemas, schema, MAX_ALTERNATIVES_DEPTH) {
        return None;
    }
    let mut shaper = Shaper { schemas, names: BTreeSet::new(), waiting: VecDeque::new() };
    let Json::Object(shape) = shaper.shape(schemas.resolve(schema)) else { return None };
    let mut root = Map::from_iter([("type".to_owned(), json!("object"))]);
    root.extend(shape.into_iter().filter(|(word, _)| word != "type"));
    let mut definitions = Map::new();
    while let Some(name) = shaper.waiting.pop_front() {
        if let Some(schema) = schemas.get(name) {
            definitions.insert(name.to_owned(), shaper.shape(schema));
        }
    }
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), Json::Object(definitions));
    }
    Some(root)
}

/// Returns true if every reply of a schema is an object.
fn makes_objects(schemas: &Schemas, schema: &Json, depth: u32) -> bool {
    let words = schemas.words_of(schema);
    if let Some(kind) = words.get("type") {
        return kind == "object";
    }
    let says_members =
        ["properties", "additionalProperties", "required"].iter().any(|word| words.contains_key(*word));
    let ways = schemas.ways_of(schema);
    (says_members || !ways.is_empty())
        && depth > 0
        && ways.iter().all(|way| makes_objects(schemas, way, depth - 1))
}

struct Shaper<'s> {
    schemas: &'s Schemas,
    /// Names of the schemas to which the shape refers.
    names: BTreeSet<&'s str>,
    /// Those names whose schemas have no shape yet.
    waiting: VecDeque<&'s str>,
}

impl<'s> Shaper<'s> {
    /// Returns a schema in the keywords that all validators interpret alike. It allows at least the values of
    /// the original.
    fn shape(&mut self, schema: &'s Json) -> Json {
        let members = match schema {
            Json::Bool(false) => return json!({"not": {}}),
            Json::Object(members) => members,
            _ => return json!({}),
        };
        let mut shape = Map::new();
        let mut parts: Vec<Json> = self.shapes(members.get("allOf"));
        // Without its limits, an alternative may match together with another one, and `oneOf` would refuse
        // both.
        for alternatives in ["anyOf", "oneOf"].map(|word| self.shapes(members.get(word))) {
            match alternatives.as_slice() {
                [] => {}
                _ if shape.contains_key("anyOf") => parts.push(json!({"anyOf": alternatives})),
                _ => {
                    shape.insert("anyOf".to_owned(), Json::Array(alternatives));
                }
            }
        }
        if !parts.is_empty() {
            shape.insert("allOf".to_owned(), Json::Array(parts));
        }
        for (word, value) in members {
            let value = match word.as_str() {
                "$ref" => self.reference(value),
                "type" => known_types(value),
                "enum" => {
                    Some(value.clone()).filter(|values| values.as_array().is_some_and(|all| !all.is_empty()))
                }
                "const" => Some(value.clone()),
                "description" => value.as_str().map(Json::from),
                "properties" => value.as_object().map(|all| {
                    Json::Object(all.iter().map(|(name, part)| (name.clone(), self.shape(part))).collect())
                }),
                "required" => Some(self.required(members, value)),
                // Old validators also apply it to the first items of a tuple.
                "items" if !value.is_array() && !members.contains_key("prefixItems") => {
                    Some(self.shape(value))
                }
                "additionalProperties" if !members.contains_key("patternProperties") => {
                    Some(self.shape(value))
                }
                _ => None,
            };
            if let Some(value) = value {
                shape.insert(word.clone(), value);
            }
        }
        Json::Object(shape)
    }

    fn shapes(&mut self, parts: Option<&'s Json>) -> Vec<Json> {
        parts.and_then(Json::as_array).into_iter().flatten().map(|part| self.shape(part)).collect()
    }

    fn reference(&mut self, target: &'s Json) -> Option<Json> {
        let name = target.as_str()?.strip_prefix("#/schemas/")?;
        if !self.names.contains(name) {
            if self.names.len() == MAX_DEFINITIONS || self.schemas.get(name).is_none() {
                return None;
            }
            self.names.insert(name);
            self.waiting.push_back(name);
        }
        Some(Json::from(format!("#/$defs/{}", escape(name))))
    }

    /// Returns the required members of a reply. Members that only requests send are excluded.
    fn required(&self, members: &'s Map<String, Json>, names: &'s Json) -> Json {
        let properties = members.get("properties");
        let is_sent = |name: &str| {
            let part = properties.and_then(|properties| properties.get(name));
            let flag = |part: &Json| part.get("writeOnly") == Some(&Json::Bool(true));
            part.is_some_and(|part| flag(part) || flag(self.schemas.resolve(part)))
        };
        let names: BTreeSet<&str> = names.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        names.into_iter().filter(|name| !is_sent(name)).map(Json::from).collect()
    }
}

/// Returns the types of a schema that JSON Schema has, or none if all values are allowed.
fn known_types(types: &Json) -> Option<Json> {
    match types {
        Json::String(kind) => TYPES.contains(&kind.as_str()).then(|| types.clone()),
        Json::Array(kinds) => {
            let known: BTreeSet<&str> = kinds.iter().filter_map(Json::as_str).collect();
            let all_known = !known.is_empty() && known.iter().all(|kind| TYPES.contains(kind));
            all_known.then(|| known.into_iter().map(Json::from).collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schemas: Json, schema: Json, expect: Json) {
        let Json::Object(named) = schemas else { panic!("an object of schemas") };
        let found = shape(&Schemas::new(named), &schema);
        assert_eq!(found.map(Json::Object).unwrap_or_default(), expect, "{schema}");
    }

    #[test]
    fn a_shape_leaves_out_what_validators_read_in_different_ways() {
        let schema = json!({
            "type": "object",
            "x-resource": "boat",
            "required": ["id", "id", "key"],
            "properties": {
                "id": {"type": "string", "format": "uuid", "pattern": "^\\p{L}+$", "maxLength": 3},
                "key": {"type": "string", "writeOnly": true},
                "any": true,
                "count": {"type": ["integer", "null"], "minimum": 1, "multipleOf": 0.1},
                "file": {"type": "file"},
                "empty": {"enum": []},
                "pair": {"type": "array", "prefixItems": [{}], "items": {"type": "string"}},
            },
            "patternProperties": {"^x": {}},
            "additionalProperties": false,
        });
        let expect = json!({
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string"},
                "key": {"type": "string"},
                "any": {},
                "count": {"type": ["integer", "null"]},
                "file": {},
                "empty": {},
                "pair": {"type": "array"},
            },
        });
        check(json!({}), schema, expect);
    }

    #[test]
    fn a_shape_carries_the_schemas_that_it_refers_to() {
        let schemas = json!({
            "Fee": {"oneOf": [{"$ref": "#/schemas/Daily"}, {"$ref": "#/schemas/Yearly"}]},
            "Daily": {"type": "object", "properties": {"next": {"$ref": "#/schemas/Fee"}}},
            "Yearly": {"type": "object", "required": ["euros"]},
            "Word": {"type": "string"},
        });
        let alternatives = json!([{"$ref": "#/$defs/Daily"}, {"$ref": "#/$defs/Yearly"}]);
        let definitions = json!({
            "Daily": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Fee"}}},
            "Yearly": {"type": "object", "required": ["euros"]},
            "Fee": {"anyOf": alternatives},
        });
        let expect = json!({"type": "object", "anyOf": alternatives, "$defs": definitions});
        check(schemas.clone(), json!({"$ref": "#/schemas/Fee"}), expect);
        for other in [
            json!({"$ref": "#/schemas/Word"}),
            json!({"type": "array", "items": {"$ref": "#/schemas/Daily"}}),
            json!({"anyOf": [{"$ref": "#/schemas/Daily"}, {"type": "null"}]}),
            json!({"type": ["object", "null"]}),
            json!({}),
            json!(true),
        ] {
            check(schemas.clone(), other, Json::Null);
        }
    }

    #[test]
    fn a_shape_is_bounded() {
        let named: Map<String, Json> = (0..100)
            .map(|number| {
                let next = json!({"$ref": format!("#/schemas/S{}", number + 1)});
                (format!("S{number}"), json!({"type": "object", "properties": {"next": next}}))
            })
            .collect();
        let found = shape(&Schemas::new(named), &json!({"$ref": "#/schemas/S0"})).unwrap();
        assert_eq!(found["$defs"].as_object().unwrap().len(), MAX_DEFINITIONS);
    }
}
