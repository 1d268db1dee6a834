//! Benchmarks that others made, read from a folder at run time; nothing of them is part of this project.
//!
//! Owns the readers, the measures as the papers define them, and the [`environment`] in which any agent under test works on them.
//! RestBench has a module of its own, [`crate::restbench`], because its gold paths are also run by themselves.

pub mod api_bank;
pub mod environment;
pub mod label;
pub mod reverse_chain;

use std::path::{Path, PathBuf};

use diorama_baselines::environment::Answer;

/// Material that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BenchmarkError {
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is not of the form expected.
    #[error("{}: {what}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The form found, and the one expected.
        what: String,
    },
    /// The world that is made of it is wrong.
    #[error("the benchmark's world: {0}")]
    World(String),
}

impl BenchmarkError {
    /// A file that is not of the form expected.
    pub fn form(path: &Path, what: impl Into<String>) -> Self {
        Self::Form { path: path.to_owned(), what: what.into() }
    }
}

/// An agent, and the model that it asks.
pub(crate) fn who(agent: &str, model: Option<&str>) -> String {
    format!("{agent} ({})", model.unwrap_or("no model: a scripted agent"))
}

/// The line of a table on tasks that came to no end; nothing where there are none.
pub(crate) fn without_end(tasks: usize) -> String {
    if tasks == 0 { String::new() } else { format!("  without an end for want of a model: {tasks}\n") }
}

/// The answer of a user who has said all they know: a question is answered with that, and anything else ends the task.
pub(crate) fn told_all(words: &str) -> Answer {
    let asks = words.trim_end().ends_with('?');
    Answer { words: asks.then(|| "I have told you all I know.".to_owned()), over: !asks }
}

/// The text of a file.
///
/// # Errors
/// When it cannot be read.
pub fn text_of(path: &Path) -> Result<String, BenchmarkError> {
    std::fs::read_to_string(path).map_err(|source| BenchmarkError::Read { path: path.to_owned(), source })
}

/// The files of a folder whose names end in something, in order; a file stands for itself.
///
/// # Errors
/// When the folder cannot be read.
pub fn files_of(path: &Path, ending: &str) -> Result<Vec<PathBuf>, BenchmarkError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |source| BenchmarkError::Read { path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.to_string_lossy().ends_with(ending) {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}
