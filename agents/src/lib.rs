//! Everything that thinks, and the command line.
//!
//! Owns the synthesis pipeline, the agents under test, evaluation and `diorama`'s commands. Worlds come from
//! `diorama-seeds`, calls run in `diorama-simulator`, rows reach disk through `diorama-output`.

pub mod catalog;
pub mod cli;
pub mod episode;
pub mod evaluation;
pub mod mutants;
pub mod synthesis;
pub mod tasks;
pub mod traces;
pub mod verify;

/// Version of the pipeline: the same seed and version give the same rows.
pub const GENERATOR_VERSION: &str = "generate/3";
