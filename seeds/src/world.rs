//! Owns the parsing of world documents, and their compilation into the model that runs.
//!
//! It turns the bytes of a file into a [`crate::model::World`], and a world into its canonical form and hash.
//! It generates no records ([`crate::materialise`]) and executes no call.

#[macro_use]
pub(crate) mod findings;

pub(crate) mod canonical;
pub(crate) mod compile;
mod fidelity;
pub(crate) mod part;
mod show;

pub use canonical::{canonical_json, hash};
pub use compile::compile;
pub use compile::path as api_path;
pub use compile::{is_member_name, is_path};
pub use fidelity::{fidelity, fidelity_counts};
pub use show::show;

pub use diorama_format::{
    Files, Finding, Report, Severity, add_scenarios, add_words, beside_to_yaml, read, read_words, to_yaml,
    yaml_options,
};

use crate::doc::WorldDoc;
use crate::model::World;

/// Parses and compiles a text. Its findings have line numbers.
///
/// # Errors
/// Returns the findings of [`read`] or [`compile`].
pub fn load(name: &str, text: &[u8]) -> Result<(WorldDoc, World), Report> {
    let doc = read(name, text)?;
    let world = compile(&doc).map_err(|report| report.located(name, text))?;
    Ok((doc, world))
}

#[cfg(test)]
pub(crate) mod tests;
