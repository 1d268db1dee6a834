//! Benchmarks that others made, read from files at run time; nothing of them is part of this project.
//!
//! Owns their readers, their measures as the papers define them, and the [`environment`] in which any agent works on them.
//! A [`task::Benchmark`] opens a case and measures what an agent did in it, and a [`summary::Summary`] adds its cases up. This
//! package writes no file and runs no agents at a time: the command line does.

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
