//! Owns the HTTP server over sessions, and the search for APIs among many worlds.
//!
//! It depends on no chat models, datasets or files.

pub mod http;
pub mod search;

#[cfg(test)]
#[path = "../engine/src/tests/shared.rs"]
mod shared;
