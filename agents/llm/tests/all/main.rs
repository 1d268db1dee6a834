//! Owns the tests of chat models: budgets, faults of servers, recordings and retries.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a test may end this way")]

mod budget;
mod faults;
mod recording;
mod retries;
