//! Owns the interface between searches and models, and vector arithmetic.

use std::sync::Arc;

/// The reason for which texts cannot be embedded.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EmbedError {
    /// The model cannot be loaded.
    #[error("the embedding model {model} cannot be loaded: {why}")]
    Model {
        /// Its name or folder.
        model: String,
        /// The reason, and what to do.
        why: String,
    },
    /// The model failed on texts.
    #[error("the embedding model {model} failed: {why}")]
    Run {
        /// Its name.
        model: String,
        /// The reason.
        why: String,
    },
    /// The runtime of full-size models is missing.
    #[error(
        "ONNX Runtime is not found ({looked}): install it (`pip install onnxruntime` brings \
         onnxruntime/capi/libonnxruntime.so.*) and set ORT_DYLIB_PATH to the library's file"
    )]
    NoRuntime {
        /// The places that were searched.
        looked: String,
    },
    /// The cache file cannot be written.
    #[error("vectors cannot be kept in {file}: {source}; give a folder that can be written")]
    Cache {
        /// The file.
        file: String,
        /// The reason.
        source: Arc<std::io::Error>,
    },
}

/// Turns texts into vectors of equal length.
pub trait Embedder: Send + Sync {
    /// Returns the name of the model, with its version. Vectors of different names are not comparable.
    fn name(&self) -> &str;

    /// Returns the number of components of a vector.
    fn dimensions(&self) -> usize;

    /// Returns one unit vector per text, concatenated. A text without a known word becomes zeros.
    ///
    /// # Errors
    /// Returns an error if the model fails.
    fn embed(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError>;
}

/// Returns the dot product of two vectors. For unit vectors it is the cosine.
#[must_use]
pub fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Scales a vector to length one; zeros stay. Sums in order and in 64 bits, so that every machine gets the
/// same result.
pub fn normalise(vector: &mut [f32]) {
    let square: f64 = vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum();
    if square > 0.0 {
        let length = square.sqrt();
        vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    }
}
