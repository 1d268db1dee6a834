//! Owns the serialised types: the world format and tasks, with their parsers and writers.
//!
//! Owns the serde derives, so that crates that run for each row compile without them. It does not check the
//! meaning of a document; `diorama-seeds` does.

pub mod answer;
pub mod ask;
mod beside;
pub mod casing;
pub mod doc;
mod locate;
mod normal_form;
pub mod path;
mod read;
mod report;
pub mod task;
mod text;

pub use beside::{Files, add_scenarios, add_words};
pub use normal_form::nfc;
pub use read::{options as yaml_options, read, read_words};
pub use report::{Finding, Report, Severity};
pub use text::{beside_to_yaml, to_yaml};
