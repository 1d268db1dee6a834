//! World documents: reading them, and making the model that runs.
//!
//! Owns the way from a file's bytes to [`crate::model::World`] and back to one canonical spelling and its hash. It
//! makes no records up ([`crate::materialise`]) and runs no call.

#[macro_use]
pub(crate) mod findings;

mod beside;
pub(crate) mod canonical;
pub(crate) mod compile;
mod fidelity;
mod locate;
pub(crate) mod part;
pub(crate) mod path;
mod read;
pub(crate) mod report;
mod show;

pub use beside::{Files, add_scenarios, add_words};
pub use canonical::{canonical_json, hash};
pub use compile::compile;
pub use compile::path as api_path;
pub use compile::{is_member_name, is_path};
pub use fidelity::{fidelity, fidelity_counts};
pub use read::options as yaml_options;
pub use read::{read, read_words};
pub use report::{Finding, Report, Severity};
pub use show::show;

use crate::doc::WorldDoc;
use crate::model::World;
use serde::Serialize;

/// Reads and compiles a text, with lines in what it finds.
///
/// # Errors
/// Findings of [`read`] or [`compile`].
pub fn load(name: &str, text: &[u8]) -> Result<(WorldDoc, World), Report> {
    let doc = read(name, text)?;
    let world = compile(&doc).map_err(|report| report.located(name, text))?;
    Ok((doc, world))
}

/// A document as YAML, to be edited by people and read back by [`read`].
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

#[cfg(test)]
pub(crate) mod tests;
