//! Documents as worlds whose guesses were tried.

#![allow(clippy::expect_used, reason = "a test may end this way")]

mod addresses;
mod envelopes;
mod first_steps;
mod guesses;
mod services;
mod session;
