//! Owns an API as its tool describes it.

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
    /// Returns the parameters: name, schema, and true if the parameter is required.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Json, bool)> {
        let required = self.parameters.get("required").and_then(Json::as_array);
        let must = move |name: &str| {
            required.is_some_and(|names| names.iter().any(|own| own.as_str() == Some(name)))
        };
        let properties = self.parameters.get("properties").and_then(Json::as_object);
        properties.into_iter().flatten().map(move |(name, schema)| (&**name, schema, must(name)))
    }

    /// Returns the same API with only the parameters that `is_kept` accepts, all required. Its arguments are
    /// a name, and true if the parameter is required.
    pub(crate) fn keep_parameters(&self, is_kept: impl Fn(&str, bool) -> bool) -> Self {
        let kept = self.parameters().filter(|(name, _, is_required)| is_kept(name, *is_required));
        let kept: Map<String, Json> =
            kept.map(|(name, schema, _)| (name.to_owned(), schema.clone())).collect();
        let names: Vec<&String> = kept.keys().collect();
        let parameters = json!({"type": "object", "properties": kept, "required": names});
        Self { parameters, ..self.clone() }
    }

    /// Returns the parameter names in the order of positional arguments: required ones in the document's
    /// order, then the others.
    pub(crate) fn positions(&self) -> Vec<&str> {
        let required = self.parameters.get("required").and_then(Json::as_array).into_iter().flatten();
        let mut names: Vec<&str> = required.filter_map(Json::as_str).collect();
        let others: Vec<&str> =
            self.parameters().map(|(name, ..)| name).filter(|name| !names.contains(name)).collect();
        names.extend(others);
        names
    }
}
