//! Owns the agents of the pipeline, evaluation, and the command line.
//!
//! It makes rows ([`worlds`], [`scenarios`], [`rows`], [`models`], [`authoring`]), and has the commands of
//! `diorama`. Worlds come from `diorama-seeds`, calls run in `diorama-simulator`, and `diorama-output` writes
//! rows.

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

/// Version of the pipeline. The same seed and version give the same rows.
pub const GENERATOR_VERSION: &str = "generate/5";
