//! An API as its tool describes it.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

/// An API as its tool describes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    /// Name of the tool.
    pub name: String,
    /// The tool's description.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Json,
}

impl Document {
    /// The parameters: name, schema, and true where it is required.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Json, bool)> {
        let required = self.parameters.get("required").and_then(Json::as_array);
        let must = move |name: &str| {
            required.is_some_and(|names| names.iter().any(|own| own.as_str() == Some(name)))
        };
        let properties = self.parameters.get("properties").and_then(Json::as_object);
        properties.into_iter().flatten().map(move |(name, schema)| (&**name, schema, must(name)))
    }

    /// The same API with its required parameters alone.
    pub(crate) fn required_only(&self) -> Self {
        let required: Map<String, Json> = self
            .parameters()
            .filter(|(.., must)| *must)
            .map(|(name, schema, _)| (name.to_owned(), schema.clone()))
            .collect();
        let names: Vec<&String> = required.keys().collect();
        let parameters = json!({"type": "object", "properties": required, "required": names});
        Self { parameters, ..self.clone() }
    }

    /// The same API with one of its required parameters alone.
    pub(crate) fn with_only(&self, name: &str, schema: &Json) -> Self {
        let properties = Map::from_iter([(name.to_owned(), schema.clone())]);
        let parameters = json!({"type": "object", "properties": properties, "required": [name]});
        Self { parameters, ..self.clone() }
    }

    /// The parameters' names in the order of positional arguments: the required ones as the document lists them, then the
    /// others.
    pub(crate) fn positions(&self) -> Vec<&str> {
        let required = self.parameters.get("required").and_then(Json::as_array).into_iter().flatten();
        let mut names: Vec<&str> = required.filter_map(Json::as_str).collect();
        let others: Vec<&str> =
            self.parameters().map(|(name, ..)| name).filter(|name| !names.contains(name)).collect();
        names.extend(others);
        names
    }
}
