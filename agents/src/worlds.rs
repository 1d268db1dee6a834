//! The worlds of a run: templates composed of domains, in variants and locales, and the world that a batch plays in.
//!
//! Owns everything that is fixed before the first row. Its analysis is static: what is tried in a world before it is kept, such as scenarios
//! written by rule, is tried elsewhere.

pub mod domain;
pub mod error;
pub mod fingerprint;
pub mod guide;
pub mod inspect;
pub mod locale;
pub mod make;
pub mod recipe;
pub mod split;
pub mod template;
pub mod text;
pub mod variant;
pub mod world;
