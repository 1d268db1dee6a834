//! Owns the choice of the embedder on the command line.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use diorama_engine::embed::{EmbedError, Embedder, embedded};
use diorama_simulator::search::SearchError;

use super::error::CliError;

/// Which embedding model a search uses.
#[derive(Clone, Debug, Default, Args)]
pub struct EmbedderArguments {
    /// Full-size embedding model instead of the one in the program: a folder with model.onnx and its tokenizer files,
    /// or the name of a model that fastembed knows (AllMiniLML6V2). Needs ONNX Runtime 1.24 or later, found through
    /// ORT_DYLIB_PATH or in the usual places, and a build with `--features fastembed` (folders) or
    /// `fastembed-download` (names).
    #[arg(long, value_name = "DIR|NAME")]
    pub model: Option<String>,
    /// Folder that caches the vectors of the full-size model.
    #[arg(long, value_name = "DIR", requires = "model")]
    pub vectors: Option<PathBuf>,
}

impl EmbedderArguments {
    /// Returns the named embedder, or the one in the program.
    ///
    /// # Errors
    /// Returns an error if the model or its runtime cannot be loaded.
    pub fn embedder(&self) -> Result<Arc<dyn Embedder>, CliError> {
        match self.full()? {
            Some(full) => Ok(full),
            None => Ok(embedded().map_err(SearchError::from)?),
        }
    }

    /// Returns the full-size embedder, if one is named.
    ///
    /// # Errors
    /// Returns the errors of [`EmbedderArguments::embedder`].
    pub fn full(&self) -> Result<Option<Arc<dyn Embedder>>, CliError> {
        self.model.as_deref().map(|model| self.load(model)).transpose()
    }

    #[cfg(feature = "fastembed")]
    fn load(&self, model: &str) -> Result<Arc<dyn Embedder>, CliError> {
        use std::path::Path;

        use diorama_engine::embed::cache::CachedEmbedder;
        use diorama_engine::embed::full::{FullEmbedder, find_runtime};

        let failed = |error: EmbedError| CliError::from(SearchError::from(error));
        let runtime = find_runtime(runtime_of_environment().as_deref()).map_err(failed)?;
        let folder = Path::new(model);
        let loaded = if folder.is_dir() {
            FullEmbedder::from_folder(folder, &runtime).map_err(failed)?
        } else {
            Self::named(model, &runtime)?
        };
        Ok(match &self.vectors {
            Some(folder) => Arc::new(CachedEmbedder::new(loaded, folder)),
            None => Arc::new(loaded),
        })
    }

    #[cfg(not(feature = "fastembed"))]
    fn load(&self, model: &str) -> Result<Arc<dyn Embedder>, CliError> {
        Err(unsupported(
            model,
            "this build has only the model in the program; build with `--features fastembed`",
        ))
    }

    #[cfg(feature = "fastembed-download")]
    fn named(
        model: &str,
        runtime: &std::path::Path,
    ) -> Result<diorama_engine::embed::full::FullEmbedder, CliError> {
        let folder = std::env::temp_dir().join("diorama-models");
        diorama_engine::embed::full::FullEmbedder::named(model, &folder, runtime)
            .map_err(|error| CliError::from(SearchError::from(error)))
    }

    #[cfg(all(feature = "fastembed", not(feature = "fastembed-download")))]
    fn named(
        model: &str,
        _runtime: &std::path::Path,
    ) -> Result<diorama_engine::embed::full::FullEmbedder, CliError> {
        let why = "expected a folder; models by name need a build with `--features fastembed-download`";
        Err(unsupported(model, why))
    }
}

#[cfg(not(feature = "fastembed-download"))]
fn unsupported(model: &str, why: &str) -> CliError {
    SearchError::from(EmbedError::Model { model: model.to_owned(), why: why.to_owned() }).into()
}

#[cfg(feature = "fastembed")]
#[expect(clippy::disallowed_methods, reason = "ONNX Runtime's own variable names its library")]
fn runtime_of_environment() -> Option<PathBuf> {
    std::env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty()).map(PathBuf::from)
}
