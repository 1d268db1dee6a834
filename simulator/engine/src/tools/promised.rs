//! Tool schemas of parameters with a contract: without references, and limited in size.

use diorama_seeds::contract::{Contract, RESOURCE};
use diorama_seeds::model::{Api, Parameter, Place};
use diorama_seeds::schema::Type;
use serde_json::{Map, Value as Json, json};

/// Maximum nesting of objects and lists in a tool schema.
const MAX_DEPTH: usize = 5;
/// Maximum number of subschemas per parameter.
const MAX_PARTS: usize = 120;
/// Schema keywords that are of no use to a caller.
const UNTOLD: [&str; 5] = [RESOURCE, "xml", "example", "writeOnly", "readOnly"];

/// Returns the contract's schema of a body parameter, if the parameter's own type does not describe its
/// content.
pub(super) fn of_parameter(api: &Api, parameter: &Parameter) -> Option<Json> {
    let contract = api.contract.as_ref().filter(|_| parameter.place == Place::Body)?;
    let is_open = matches!(parameter.schema.kind, Type::Any);
    let request = contract.request.as_ref().filter(|_| is_open)?;
    let schema = match api.whole_body() {
        Some(whole) if whole.name == parameter.name => request.clone(),
        _ => contract.schemas.words_of(request).get("properties")?.get(&*parameter.name)?.clone(),
    };
    let mut shown = SchemaExpansion { contract, left: MAX_PARTS }.schema(&schema, 0);
    if let Json::Object(words) = &mut shown
        && !parameter.description.is_empty()
    {
        words.insert("description".to_owned(), Json::from(&*parameter.description));
    }
    Some(shown)
}

/// Expands schemas within the limits.
struct SchemaExpansion<'a> {
    contract: &'a Contract,
    left: usize,
}

impl SchemaExpansion<'_> {
    fn schema(&mut self, schema: &Json, depth: usize) -> Json {
        if let Json::Bool(_) = schema {
            return schema.clone();
        }
        let words = self.contract.schemas.words_of(schema);
        if depth > MAX_DEPTH || self.left == 0 {
            let kind = words.get("type").cloned().map(|kind| json!({"type": kind}));
            return kind.unwrap_or_else(|| json!({}));
        }
        self.left -= 1;
        let mut out = Map::new();
        for (word, value) in words.iter().filter(|(word, _)| !UNTOLD.contains(&word.as_str())) {
            let value = match (word.as_str(), value) {
                ("properties", Json::Object(all)) => Json::Object(self.properties(all, depth)),
                ("items" | "additionalProperties" | "not", part) => self.schema(part, depth + 1),
                ("prefixItems", Json::Array(parts)) => {
                    Json::Array(parts.iter().map(|part| self.schema(part, depth + 1)).collect())
                }
                ("required", Json::Array(names)) => {
                    let properties = words.get("properties").and_then(Json::as_object);
                    let is_sent = |name: &&Json| {
                        let part = name.as_str().and_then(|name| properties?.get(name));
                        !part.is_some_and(|part| self.is_read_only(part))
                    };
                    Json::Array(names.iter().filter(is_sent).cloned().collect())
                }
                (_, value) => value.clone(),
            };
            out.insert(word.clone(), value);
        }
        let ways = self.contract.schemas.ways_of(schema);
        if !ways.is_empty() {
            let ways = ways.iter().map(|way| self.schema(way, depth + 1)).collect();
            out.insert("anyOf".to_owned(), Json::Array(ways));
        }
        Json::Object(out)
    }

    fn properties(&mut self, all: &Map<String, Json>, depth: usize) -> Map<String, Json> {
        let sent: Vec<(&String, &Json)> = all.iter().filter(|(_, part)| !self.is_read_only(part)).collect();
        sent.into_iter().map(|(name, part)| (name.clone(), self.schema(part, depth + 1))).collect()
    }

    /// Returns true for a property that only the server writes.
    fn is_read_only(&self, schema: &Json) -> bool {
        self.contract.schemas.words_of(schema).get("readOnly") == Some(&Json::Bool(true))
    }
}
