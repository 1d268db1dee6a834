//! Owns the origin of worlds, and the vocabulary in which they are written.
//!
//! It has values, types, checked worlds, expressions (parsing and type-checking), and the rules of English.
//! `diorama-format` owns the documents. It must not execute a call, open a socket, read the machine's clock
//! or draw an unseeded random number.

pub mod agent_tools;
pub mod agreement;
pub mod check;
pub mod compose;
pub mod contract;
mod draw;
pub mod ending;
pub mod english;
pub mod expr;
pub mod finish;
pub mod keys;
pub mod materialise;
pub mod model;
pub mod naming;
pub mod pattern;
pub mod pointer;
pub mod scenario;
pub mod schema;
pub mod script;
pub mod table;
pub mod value;
pub mod world;

pub use diorama_format::{answer, ask, casing, doc, task};
