//! Third-party benchmarks, read from files at run time. The project contains no part of them.
//!
//! Owns their readers, their measures as defined in the papers, and the [`environment`] of agents. A
//! [`task::Benchmark`] opens a case and measures an agent's work on it. A [`summary::Summary`] aggregates
//! cases. This package writes no files and runs no agents concurrently; the command line does.

pub mod api_bank;
pub mod entities;
pub mod environment;
pub mod label;
pub mod material;
pub mod restbench;
pub mod retrieval;
pub mod reverse_chain;
pub mod summary;
pub mod task;
