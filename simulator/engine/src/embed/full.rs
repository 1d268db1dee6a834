//! Full-size models, run by ONNX Runtime through fastembed.
//!
//! The runtime is a system library that is loaded with a model. This module checks that it exists, because
//! the crate `ort` ends the thread if it is missing.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fastembed::{InitOptionsUserDefined, Pooling, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel};

use super::embedder::{EmbedError, Embedder, normalise};

/// The usual folders of the library.
const USUAL_PLACES: [&str; 7] = [
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/opt/onnxruntime/lib",
    "/opt/homebrew/lib",
];
/// Maximum number of tokens of a text that are embedded.
const MAX_TOKENS: usize = 128;

/// Returns the library of ONNX Runtime: the named one, or the newest in the usual folders.
///
/// # Errors
/// [`EmbedError::NoRuntime`], whose message says how to install it.
pub fn find_runtime(named: Option<&Path>) -> Result<PathBuf, EmbedError> {
    if let Some(path) = named {
        let missing = || EmbedError::NoRuntime { looked: format!("{} is no file", path.display()) };
        return path.is_file().then(|| path.to_owned()).ok_or_else(missing);
    }
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let known = ["libonnxruntime.so", "libonnxruntime.dylib", "libonnxruntime.1"];
        name == "onnxruntime.dll" || known.iter().any(|known| name.starts_with(known))
    };
    let folders = USUAL_PLACES.iter().filter_map(|folder| fs::read_dir(folder).ok());
    let files = folders.flatten().filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(is_library).max().ok_or_else(|| EmbedError::NoRuntime {
        looked: format!("ORT_DYLIB_PATH is not set, and none is in {}", USUAL_PLACES.join(", ")),
    })
}

/// A sentence transformer with mean pooling. Embeds one text at a time, since quantised models round by the
/// content of a batch.
pub struct FullEmbedder {
    name: String,
    dimensions: usize,
    model: Mutex<TextEmbedding>,
}

impl FullEmbedder {
    /// Loads a model from a local folder: an `.onnx` file (`model.onnx`, also under `onnx/`) and the
    /// tokenizer's four files.
    ///
    /// # Errors
    /// Returns an error if a file is missing or damaged, or if the runtime refuses the model.
    pub fn from_folder(folder: &Path, runtime: &Path) -> Result<Self, EmbedError> {
        let wrong = |why: String| EmbedError::Model { model: folder.display().to_string(), why };
        let read = |names: &[&str]| {
            let file = names.iter().map(|name| folder.join(name)).find(|path| path.is_file());
            let file = file.ok_or_else(|| wrong(format!("found no {}, put it there", names.join(" or "))))?;
            fs::read(&file).map_err(|error| wrong(format!("{}: {error}", file.display())))
        };
        let onnx =
            read(&["model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"])?;
        let name = format!("onnx:{}", blake3::hash(&onnx).to_hex());
        let files = TokenizerFiles {
            tokenizer_file: read(&["tokenizer.json"])?,
            config_file: read(&["config.json"])?,
            special_tokens_map_file: read(&["special_tokens_map.json"])?,
            tokenizer_config_file: read(&["tokenizer_config.json"])?,
        };
        let model = UserDefinedEmbeddingModel::new(onnx, files).with_pooling(Pooling::Mean);
        let options = InitOptionsUserDefined::new().with_max_length(MAX_TOKENS).with_intra_threads(1);
        Self::start(name, folder.display().to_string(), runtime, || {
            TextEmbedding::try_new_from_user_defined(model, options).map_err(|error| error.to_string())
        })
    }

    /// Loads a model of fastembed's list by name (`AllMiniLML6V2`). Downloads it into a folder on first use.
    ///
    /// # Errors
    /// Returns an error if the name is unknown, or if the model cannot be downloaded or run.
    #[cfg(feature = "fastembed-download")]
    pub fn named(name: &str, folder: &Path, runtime: &Path) -> Result<Self, EmbedError> {
        let model: fastembed::EmbeddingModel =
            name.parse().map_err(|why| EmbedError::Model { model: name.to_owned(), why })?;
        let options = fastembed::TextInitOptions::new(model)
            .with_cache_dir(folder.to_owned())
            .with_show_download_progress(false)
            .with_intra_threads(1);
        Self::start(format!("fastembed:{name}"), name.to_owned(), runtime, || {
            TextEmbedding::try_new(options).map_err(|error| error.to_string())
        })
    }

    fn start(
        name: String,
        shown: String,
        runtime: &Path,
        make: impl FnOnce() -> Result<TextEmbedding, String>,
    ) -> Result<Self, EmbedError> {
        let wrong = |why: String| EmbedError::Model { model: shown.clone(), why };
        ort::init_from(runtime).map(drop).map_err(|error| EmbedError::NoRuntime {
            looked: format!("{} cannot be loaded: {error}", runtime.display()),
        })?;
        let made = catch_unwind(AssertUnwindSafe(make));
        let model = made
            .map_err(|_| wrong(format!("{} is not ONNX Runtime 1.24 or later", runtime.display())))?
            .map_err(wrong)?;
        let mut embedder = Self { name, dimensions: 0, model: Mutex::new(model) };
        embedder.dimensions = embedder.embed(&["probe"])?.len();
        if embedder.dimensions == 0 {
            return Err(wrong("its vectors are empty".to_owned()));
        }
        Ok(embedder)
    }
}

impl Embedder for FullEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = Vec::with_capacity(texts.len() * self.dimensions);
        for text in texts {
            let failed = |why: String| EmbedError::Run { model: self.name.clone(), why };
            let vectors = model.embed([text], None).map_err(|error| failed(error.to_string()))?;
            let mut vector = vectors.into_iter().next().ok_or_else(|| failed("no vector".to_owned()))?;
            normalise(&mut vector);
            out.extend(vector);
        }
        Ok(out)
    }
}
