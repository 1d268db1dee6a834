//! Embeddings: texts as vectors whose directions represent their meaning.
//!
//! [`Embedder`] is the interface between searches and models. [`StaticEmbedder`] is compiled in and always
//! available. Module `full` runs full-size models if the feature `fastembed` is on. Module [`cache`] stores
//! vectors of slow models in a file. Callers pass all paths.

pub mod cache;
mod embedder;
mod fixed;
#[cfg(feature = "fastembed")]
pub mod full;

pub use self::embedder::{EmbedError, Embedder, dot, normalise};
pub use self::fixed::{StaticEmbedder, embedded};

#[cfg(test)]
mod tests;
