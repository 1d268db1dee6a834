//! Everything that thinks, and the command line.
//!
//! Owns the making of rows ([`worlds`], [`scenarios`], [`rows`], [`models`], [`authoring`]), evaluation and `diorama`'s commands. Worlds come from
//! `diorama-seeds`, calls run in `diorama-simulator`, rows reach disk through `diorama-output`.

pub mod authoring;
pub mod catalog;
pub mod cli;
mod console;
pub mod draws;
pub mod episode;
pub mod evaluation;
pub mod isolation;
mod load_once;
pub mod models;
pub mod mutants;
pub mod rows;
pub mod scenarios;
pub mod tasks;
pub mod traces;
pub mod verify;
pub mod worlds;

/// Version of the pipeline: the same seed and version give the same rows.
pub const GENERATOR_VERSION: &str = "generate/5";
