//! Copies the schemas of request and reply bodies into contracts, with the schemas that they refer to.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use diorama_seeds::contract::{RESOURCE, noun, plain};
use diorama_seeds::doc::ContractDoc;
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use super::document::Operation;
use super::shape::{is_placeholder, lookup};
use super::walk::Walk;

/// The keywords that constrain values or lend them a form.
const WORDS: [&str; 40] = [
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "items",
    "prefixItems",
    "additionalProperties",
    "patternProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "propertyNames",
    "unevaluatedProperties",
    "contains",
    "minContains",
    "maxContains",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "pattern",
    "format",
    "readOnly",
    "writeOnly",
    "xml",
];
/// Examples and defaults of this many bytes or more are dropped.
const LONGEST: usize = 200;

/// Returns the resource whose records objects with such members are, by the noun of the schema that holds
/// them.
pub(super) type Resources<'a> = &'a dyn Fn(&BTreeSet<String>, &str) -> Option<String>;

/// Takes schemas out of a document and collects the schemas that they refer to.
pub(super) struct Taker<'a> {
    root: &'a Json,
    resources: Resources<'a>,
    /// True before 3.1, where members beside a `$ref` do not count.
    old: bool,
    /// True if the document says that its URIs are relative to a server. Only documents with URIs are read for it.
    relative: OnceCell<bool>,
    names: IndexMap<String, String>,
    waiting: Vec<String>,
    schemas: IndexMap<String, Json>,
}

impl<'a> Taker<'a> {
    pub(super) fn new(root: &'a Json, resources: Resources<'a>) -> Self {
        let version = root.get("openapi").and_then(Json::as_str).unwrap_or_default();
        let old = version.starts_with("3.0") || version.is_empty();
        let (names, schemas) = (IndexMap::new(), IndexMap::new());
        let relative = OnceCell::new();
        Self { root, resources, old, relative, names, waiting: Vec::new(), schemas }
    }

    /// Returns the contract of an operation.
    pub(super) fn contract(
        &mut self,
        operation: &Operation,
        whole: Option<String>,
        inside: Vec<String>,
    ) -> ContractDoc {
        let take = |taker: &mut Self, schema: &Option<Json>| schema.as_ref().map(|schema| taker.take(schema));
        ContractDoc {
            request: take(self, &operation.request),
            whole,
            reply: take(self, &operation.promise),
            kinds: operation.kinds.clone(),
            headers: operation
                .headers
                .iter()
                .map(|(name, schema)| (name.clone(), self.take(schema)))
                .collect(),
            refusal: (operation.refusal != 400).then_some(operation.refusal),
            form: operation.form,
            merge: operation.merges,
            inside,
            needs_body: operation.needs_body && operation.method != "GET",
        }
    }

    /// Returns all schemas that the contracts refer to.
    pub(super) fn finish(self) -> IndexMap<String, Json> {
        self.schemas
    }

    fn take(&mut self, schema: &Json) -> Json {
        let taken = self.convert(schema, "", 0);
        while let Some(pointer) = self.waiting.pop() {
            // A reference that leads nowhere becomes a plain object.
            let target = lookup(self.root, &pointer).cloned().unwrap_or_else(|| json!({"type": "object"}));
            let called = pointer.rsplit('/').next().unwrap_or_default();
            let converted = self.convert(&target, &noun(called), 0);
            if let Some(name) = self.names.get(&pointer) {
                self.schemas.insert(name.clone(), converted);
            }
        }
        taken
    }

    /// Returns the name under which a referenced schema is collected.
    fn name(&mut self, pointer: &str) -> String {
        if let Some(name) = self.names.get(pointer) {
            return name.clone();
        }
        let last = pointer.rsplit('/').next().unwrap_or(pointer);
        let base: String =
            last.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
        let taken = |name: &String| self.names.values().any(|known| known == name);
        let mut name = base.clone();
        for number in 2.. {
            if !taken(&name) {
                break;
            }
            name = format!("{base}_{number}");
        }
        self.names.insert(pointer.to_owned(), name.clone());
        self.waiting.push(pointer.to_owned());
        name
    }

    /// Returns a schema with the keywords that count. `called` is the noun of the schema that holds it.
    fn convert(&mut self, schema: &Json, called: &str, depth: u32) -> Json {
        let Some(members) = schema.as_object().filter(|_| depth < 100) else {
            return schema.as_bool().map_or(Json::Bool(true), Json::Bool);
        };
        let mut out = Map::new();
        if let Some(pointer) = members.get("$ref").and_then(Json::as_str) {
            if pointer.starts_with('#') {
                out.insert("$ref".to_owned(), Json::from(format!("#/schemas/{}", self.name(pointer))));
            } else {
                out.insert("type".to_owned(), Json::from("object"));
            }
            if self.old {
                return Json::Object(out);
            }
        }
        for (word, value) in members.iter().filter(|(word, _)| WORDS.contains(&word.as_str())) {
            let value = match (word.as_str(), value) {
                ("properties" | "patternProperties" | "dependentSchemas", Json::Object(all)) => Json::Object(
                    all.iter()
                        .map(|(name, part)| (name.clone(), self.convert(part, &noun(name), depth + 1)))
                        .collect(),
                ),
                (
                    "items"
                    | "additionalProperties"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "propertyNames"
                    | "unevaluatedProperties"
                    | "contains",
                    Json::Object(_),
                ) => self.convert(value, called, depth + 1),
                ("allOf" | "anyOf" | "oneOf" | "prefixItems", Json::Array(parts)) => {
                    Json::Array(parts.iter().map(|part| self.convert(part, called, depth + 1)).collect())
                }
                // Malformed keywords constrain nothing.
                ("required" | "enum", other) if !other.is_array() => continue,
                ("minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems", other)
                    if !other.is_number() =>
                {
                    continue;
                }
                ("exclusiveMinimum" | "exclusiveMaximum", other) if !other.is_number() => continue,
                ("pattern", Json::String(pattern)) if pattern.starts_with("/^") => continue,
                ("format", Json::String(format))
                    if format == "uri"
                        && called.ends_with("uri")
                        && *self.relative.get_or_init(|| says_relative(self.root)) =>
                {
                    Json::from("uri-reference")
                }
                _ => value.clone(),
            };
            out.insert(word.clone(), value);
        }
        if let Some(Json::Object(properties)) = members.get("properties") {
            let names: BTreeSet<String> = properties.keys().map(|name| plain(name)).collect();
            if let Some(resource) = (self.resources)(&names, called) {
                out.insert(RESOURCE.to_owned(), Json::from(resource));
            }
        }
        for (flag, word) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            if members.get(flag) == Some(&Json::Bool(true))
                && let Some(limit) = out.remove(word)
            {
                out.insert(flag.to_owned(), limit);
            }
        }
        let first = members.get("examples").and_then(Json::as_array).and_then(|examples| examples.first());
        for (word, value) in
            [("default", members.get("default")), ("example", members.get("example").or(first))]
        {
            let is_told = |value: &&Json| !value.is_object() && !is_placeholder(value);
            if let Some(value) = value.filter(is_told).filter(|value| value.to_string().len() < LONGEST) {
                out.insert(word.to_owned(), value.clone());
            }
        }
        let nullable =
            ["nullable", "x-nullable"].iter().any(|word| members.get(*word) == Some(&Json::Bool(true)));
        if nullable { or_null(out) } else { Json::Object(out) }
    }
}

fn or_null(mut out: Map<String, Json>) -> Json {
    let plain = ["allOf", "anyOf", "oneOf", "$ref", "const"].iter().all(|word| !out.contains_key(*word));
    match out.get("type").and_then(Json::as_str).map(str::to_owned) {
        Some(kind) if plain => {
            out.insert("type".to_owned(), json!([kind, "null"]));
            if let Some(Json::Array(values)) = out.get_mut("enum")
                && !values.contains(&Json::Null)
            {
                values.push(Json::Null);
            }
            Json::Object(out)
        }
        _ => json!({"anyOf": [out, {"type": "null"}]}),
    }
}

/// Returns true if a description says that a URI is relative to a server: `The URI of the resource, relative to
/// https://api.example.com`.
fn says_relative(root: &Json) -> bool {
    let mut found = false;
    Walk::default().visit(root, &mut String::new(), &mut |members, _| {
        let said = members.get("description").and_then(Json::as_str).unwrap_or_default();
        let after = said.split_once("URI").and_then(|(_, rest)| rest.split_once("relative to"));
        found |= after.is_some_and(|(_, server)| server.contains("://"));
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_that_are_relative_to_a_server_are_references() {
        let format = |said: &str| {
            let text = json!({"type": "string", "format": "uri"});
            let note = json!({"type": "object", "properties": {
                "uri": {"type": "string", "format": "uri", "description": said}, "next_page_uri": text, "url": text}});
            let reply =
                json!({"200": {"description": "", "content": {"application/json": {"schema": note}}}});
            let root = json!({"openapi": "3.0.0", "info": {"title": "Notes", "version": "1"}, "paths": {
                "/note": {"get": {"responses": reply}}}});
            let found =
                crate::import("notes.json", root.to_string().as_bytes(), &Default::default()).unwrap();
            let shown =
                found.doc.apis[0].contract.as_ref().and_then(|contract| contract.reply.clone()).unwrap();
            ["next_page_uri", "url"].map(|name| shown["properties"][name]["format"].clone())
        };
        assert_eq!(format("The URI, relative to `https://api.example.com`."), ["uri-reference", "uri"]);
        assert_eq!(format("The URI of the note."), ["uri", "uri"]);
    }
}
