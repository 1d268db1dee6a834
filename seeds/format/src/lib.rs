//! The world format and the types of tasks, as files and rows hold them: structs, and the way from text to them and back.
//!
//! Owns everything that serde derives for them, so that no code that runs for each row waits for it to compile. It does not
//! check what a document means (`diorama-seeds` does).

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
