//! Owns the end-to-end tests as modules of one executable, because each further executable would link the
//! whole project again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may end this way"
)]

mod architecture;
mod benchmark;
mod circles;
mod eval;
mod examples;
mod fuzz;
mod generate;
mod grading;
mod gym;
mod language;
mod loading;
mod mcp;
mod object_store;
mod openapi;
mod restbench;
mod rows;
mod schemathesis;
mod search;
mod serve;
mod serve_contract;
mod serve_state;
