//! Writers: documents as YAML and JSON, and the JSON Schema of the format.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::doc::{FakeDoc, WorldDoc};
use crate::report::{Finding, Report};

/// Writes a document as YAML, for people to edit and for [`read`](crate::read) to parse.
///
/// # Errors
/// Returns a report if a value has no YAML form.
pub fn to_yaml(doc: &WorldDoc) -> Result<String, Report> {
    beside_to_yaml(&doc.name, doc)
}

/// Writes scenarios or wordings as a file beside a world. `name` is for messages.
///
/// # Errors
/// See [`to_yaml`].
pub fn beside_to_yaml<T: Serialize>(name: &str, doc: &T) -> Result<String, Report> {
    serde_saphyr::to_string(doc).map_err(|error| {
        let finding = Finding::error("", format!("cannot be written as YAML: {error}"), "write it as JSON");
        Report::one(name, finding)
    })
}

impl WorldDoc {
    /// Returns the document as JSON.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Parses a document from JSON.
    ///
    /// # Errors
    /// Returns an error for a key or value that the world format lacks.
    pub fn from_json(json: &Json) -> Result<Self, serde_json::Error> {
        Self::deserialize(json)
    }

    /// Returns the JSON Schema of the world format.
    pub fn json_schema() -> Json {
        schemars::schema_for!(Self).to_value()
    }
}

impl FakeDoc {
    /// Parses a value provider from JSON.
    ///
    /// # Errors
    /// Returns an error for a provider or an option that does not exist.
    pub fn from_json(json: &Json) -> Result<Self, serde_json::Error> {
        Self::deserialize(json)
    }
}
