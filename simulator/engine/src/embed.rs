//! Texts as vectors: what a text is about, as a direction.
//!
//! [`Embedder`] is the seam between searches and models. [`StaticEmbedder`] is in the program and always works;
//! full-size models are run by `full` where the feature `fastembed` is on. Vectors of a slow model are kept in a
//! file by [`cache`]. Nothing here looks for files by itself: paths are arguments.

pub mod cache;
mod embedder;
mod fixed;
#[cfg(feature = "fastembed")]
pub mod full;

pub use self::embedder::{EmbedError, Embedder, dot, normalise};
pub use self::fixed::{StaticEmbedder, embedded};

#[cfg(test)]
mod tests;
