//! Owns schemas by name, and the references between them.

use std::borrow::Cow;

use super::names::RESOURCE;
use serde_json::{Map, Value as Json};

/// Schemas by name. Others refer to them as `#/schemas/Name`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schemas(Map<String, Json>);

impl Schemas {
    /// Makes the collection from schemas by name.
    pub const fn new(schemas: Map<String, Json>) -> Self {
        Self(schemas)
    }

    /// Returns all schemas with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Json)> {
        self.0.iter()
    }

    /// Returns the schema with this name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// Returns the schema behind references. It follows at most 32 in a row.
    pub fn resolve<'s>(&'s self, mut schema: &'s Json) -> &'s Json {
        for _ in 0..32 {
            let Some(target) = self.target(schema) else { return schema };
            schema = target;
        }
        &Json::Bool(true)
    }

    /// Returns the keywords of a schema, with references followed and parts of `allOf` merged.
    pub fn words_of<'s>(&'s self, schema: &'s Json) -> Cow<'s, Map<String, Json>> {
        self.flat(schema).members
    }

    /// Returns the alternatives of a schema.
    pub fn ways_of<'s>(&'s self, schema: &'s Json) -> &'s [Json] {
        self.flat(schema).ways
    }

    /// Returns the XML name of a schema, otherwise the name of the schema to which it refers.
    pub fn name_of<'s>(&'s self, schema: &'s Json) -> Option<&'s str> {
        let own = self.resolve(schema).get("xml").and_then(|xml| xml.get("name")?.as_str());
        own.or_else(|| reference(schema))
    }

    /// Returns the resource whose records a schema describes.
    pub fn resource_said<'s>(&'s self, schema: &'s Json) -> Option<&'s str> {
        let named = |schema: &'s Json| schema.get(RESOURCE).and_then(Json::as_str);
        named(schema).or_else(|| named(self.target(schema)?))
    }

    /// Returns the target of a schema's reference.
    pub(crate) fn target<'s>(&'s self, schema: &Json) -> Option<&'s Json> {
        self.target_of(schema.as_object()?)
    }

    /// Returns the target of the reference among the keywords of a schema.
    pub(super) fn target_of<'s>(&'s self, words: &Map<String, Json>) -> Option<&'s Json> {
        const ANYTHING: &Json = &Json::Bool(true);
        Some(self.0.get(name_in(words)?).unwrap_or(ANYTHING))
    }
}

/// Returns the name to which a schema refers.
pub(crate) fn reference(schema: &Json) -> Option<&str> {
    name_in(schema.as_object()?)
}

fn name_in(words: &Map<String, Json>) -> Option<&str> {
    words.get("$ref")?.as_str()?.strip_prefix("#/schemas/")
}
