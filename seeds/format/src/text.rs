//! Documents as YAML and JSON, and their schema.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::doc::{FakeDoc, WorldDoc};
use crate::report::{Finding, Report};

/// A document as YAML, to be edited by people and read back by [`read`](crate::read).
///
/// # Errors
/// When a value has no YAML form.
pub fn to_yaml(doc: &WorldDoc) -> Result<String, Report> {
    beside_to_yaml(&doc.name, doc)
}

/// Scenarios or wordings as the text of a file that stands beside a world. `name` is for messages.
///
/// # Errors
/// As [`to_yaml`].
pub fn beside_to_yaml<T: Serialize>(name: &str, doc: &T) -> Result<String, Report> {
    serde_saphyr::to_string(doc).map_err(|error| {
        let finding = Finding::error("", format!("cannot be written as YAML: {error}"), "write it as JSON");
        Report::one(name, finding)
    })
}

impl WorldDoc {
    /// The document as JSON.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Reads a document from JSON.
    ///
    /// # Errors
    /// What the world format does not have.
    pub fn from_json(json: &Json) -> Result<Self, serde_json::Error> {
        Self::deserialize(json)
    }

    /// The JSON Schema of the world format.
    pub fn json_schema() -> Json {
        schemars::schema_for!(Self).to_value()
    }
}

impl FakeDoc {
    /// Reads a provider of made-up values from JSON.
    ///
    /// # Errors
    /// What no provider has.
    pub fn from_json(json: &Json) -> Result<Self, serde_json::Error> {
        Self::deserialize(json)
    }
}
