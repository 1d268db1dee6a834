//! A world you can call.
//!
//! Owns the engine (a pure function from a state and a call to a reply and the next state), sessions, the
//! only grader, texts as vectors, the search for APIs, and the HTTP surfaces. It knows nothing of chat models, datasets or files.

pub mod conversation;
pub mod embed;
pub mod engine;
pub mod fault;
pub mod grade;
pub mod http;
pub mod search;
pub mod session;
pub mod user;
