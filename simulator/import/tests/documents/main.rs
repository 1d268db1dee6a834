//! Imports documents, with guesses that are tested in a play.

#![allow(clippy::expect_used, reason = "a test may end this way")]

mod addresses;
mod envelopes;
mod first_steps;
mod guesses;
mod parts;
mod services;
mod session;
