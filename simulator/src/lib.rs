//! A world you can call.
//!
//! Owns the user simulator, the search for APIs among many worlds, and the HTTP server over the engine, sessions and the
//! grader. It knows nothing of chat models, datasets or files.

pub mod conversation;
pub mod http;
pub mod search;
pub mod user;

#[cfg(test)]
#[path = "../engine/src/tests/shared.rs"]
mod shared;
