//! The synthesis pipeline: the five agents of API-Bank.
//!
//! Owns how dialogues are made. A domain agent chooses a world, an API agent writes its records and APIs, a query agent
//! asks, a caller agent solves with live calls, and a tester lets nothing pass without proof ([`diorama_proof`]). It must not read the
//! environment, the clock of the machine or the terminal.

pub mod api_variant;
pub mod authoring;
pub mod documents;
pub mod domain;
pub mod error;
pub mod fingerprint;
pub mod guide;
pub mod inspect;
pub mod locale;
pub mod make;
pub mod model;
pub mod pipeline;
pub mod query;
pub mod recipe;
pub mod render;
pub mod row;
pub mod scaffold;
pub mod scenario;
pub mod source;
pub mod speech;
pub mod split;
pub mod system;
pub mod tags;
pub mod template;
pub mod tester;
pub mod text;
mod tools;
pub mod turns;
pub mod uses;
mod weights;
pub mod world;
