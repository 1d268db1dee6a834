//! A world you can call.
//!
//! Owns the HTTP server over sessions, and the search for APIs among many worlds. It knows nothing of chat models, datasets or
//! files.

pub mod http;
pub mod search;

#[cfg(test)]
#[path = "../engine/src/tests/shared.rs"]
mod shared;
