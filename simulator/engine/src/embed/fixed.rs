//! Owns the compiled-in model: one vector per token; a text gets the mean of its tokens.

use std::sync::{Arc, LazyLock};

use model2vec_rs::model::StaticModel;

use super::embedder::{EmbedError, Embedder, normalise};

const TOKENIZER: &[u8] = include_bytes!("../../models/minilm-static-1/tokenizer.json");
const MODEL: &[u8] = include_bytes!("../../models/minilm-static-1/model.safetensors");
const CONFIG: &[u8] = include_bytes!("../../models/minilm-static-1/config.json");

/// The name of the model. `toolsearch/3` depends on it, so another model must get another name.
const NAME: &str = "minilm-static-1";
const DIMENSIONS: usize = 256;
/// Maximum number of characters of a text that are embedded.
const MAX_CHARACTERS: usize = 2_000;

static EMBEDDED: LazyLock<Result<Arc<StaticEmbedder>, EmbedError>> =
    LazyLock::new(|| StaticEmbedder::load().map(Arc::new));

/// Returns the compiled-in model, which is loaded once.
///
/// # Errors
/// Returns an error if the program was built with damaged model files.
pub fn embedded() -> Result<Arc<StaticEmbedder>, EmbedError> {
    EMBEDDED.clone()
}

/// Token vectors fitted to the sentence vectors of all-MiniLM-L6-v2 (`recipes/embedder`). A text takes
/// microseconds. Sums of 8-bit rows with integer weights are exact, so every machine gets the same vectors.
///
/// ```
/// use diorama_engine::embed::{Embedder, embedded};
///
/// let model = embedded()?;
/// let vectors = model.embed(&["book a table", "reserve a seat in a restaurant", "convert kelvin to celsius"])?;
/// let rows: Vec<&[f32]> = vectors.chunks(model.dimensions()).collect();
/// let alike = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
/// assert!(alike(rows[0], rows[1]) > 2.0 * alike(rows[0], rows[2]));
/// # Ok::<(), diorama_engine::embed::EmbedError>(())
/// ```
#[derive(Debug)]
pub struct StaticEmbedder {
    model: StaticModel,
}

impl StaticEmbedder {
    fn load() -> Result<Self, EmbedError> {
        let wrong = |why: String| EmbedError::Model { model: NAME.to_owned(), why };
        let model = StaticModel::from_bytes(TOKENIZER, MODEL, CONFIG, Some(false))
            .map_err(|error| wrong(error.to_string()))?;
        if model.dim() != DIMENSIONS {
            return Err(wrong(format!("found {} dimensions, expected {DIMENSIONS}", model.dim())));
        }
        Ok(Self { model })
    }

    /// Returns the vector of one text.
    #[must_use]
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(at, _)| at);
        let mut vector = self.model.encode_single(text.get(..end).unwrap_or_default());
        normalise(&mut vector);
        vector
    }
}

impl Embedder for StaticEmbedder {
    fn name(&self) -> &str {
        NAME
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        Ok(texts.iter().flat_map(|text| self.vector(text)).collect())
    }
}
