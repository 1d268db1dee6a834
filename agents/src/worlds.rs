//! Owns the worlds of a run: templates of domains in variants and locales, and the world of each batch.
//!
//! It has everything that is fixed before the first row. Its analysis is static: other modules try the
//! contents of a world, such as generated scenarios.

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
