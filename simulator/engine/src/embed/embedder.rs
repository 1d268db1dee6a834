//! The seam between searches and models, and the arithmetic of vectors.

use std::sync::Arc;

/// Why texts cannot be embedded.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EmbedError {
    /// The model cannot be loaded.
    #[error("the embedding model {model} cannot be loaded: {why}")]
    Model {
        /// Its name or folder.
        model: String,
        /// Why, and what to do.
        why: String,
    },
    /// The model failed on texts.
    #[error("the embedding model {model} failed: {why}")]
    Run {
        /// Its name.
        model: String,
        /// Why.
        why: String,
    },
    /// The runtime that a full-size model needs is missing.
    #[error(
        "ONNX Runtime is not found ({looked}): install it (`pip install onnxruntime` brings \
         onnxruntime/capi/libonnxruntime.so.*) and set ORT_DYLIB_PATH to the library's file"
    )]
    NoRuntime {
        /// Where it was looked for.
        looked: String,
    },
    /// The file of kept vectors cannot be written.
    #[error("vectors cannot be kept in {file}: {source}; give a folder that can be written")]
    Cache {
        /// The file.
        file: String,
        /// Why.
        source: Arc<std::io::Error>,
    },
}

/// Turns texts into vectors of one length.
pub trait Embedder: Send + Sync {
    /// Names the model and its version: vectors of different names are not compared.
    fn name(&self) -> &str;

    /// The numbers of a vector.
    fn dimensions(&self) -> usize;

    /// One vector a text, one after the other, each of length one; zeros for a text without a known word.
    ///
    /// # Errors
    /// When the model fails.
    fn embed(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError>;
}

/// The cosine of two vectors of length one.
#[must_use]
pub fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Scales a vector to length one; zeros stay. In 64 bits and in order, so that it is the same on every machine.
pub fn normalise(vector: &mut [f32]) {
    let square: f64 = vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum();
    if square > 0.0 {
        let length = square.sqrt();
        vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    }
}
