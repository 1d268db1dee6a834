//! Readers for files of benchmark material.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// The reason for which material cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BenchmarkError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A file has another form than expected.
    #[error("{}: {what}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The found and the expected form.
        what: String,
    },
    /// The world made from the material has errors.
    #[error("the benchmark's world: {0}")]
    World(String),
}

impl BenchmarkError {
    /// Makes the error of a file with an unexpected form.
    pub fn form(path: &Path, what: impl Into<String>) -> Self {
        Self::Form { path: path.to_owned(), what: what.into() }
    }
}

/// Reads a text file.
///
/// # Errors
/// Returns an error if it cannot be read.
pub fn text_of(path: &Path) -> Result<String, BenchmarkError> {
    std::fs::read_to_string(path).map_err(|source| BenchmarkError::Read { path: path.to_owned(), source })
}

/// Parses a JSON file. `expected` describes its form.
///
/// # Errors
/// Returns an error if it cannot be read or has another form.
pub fn parse_json<T: DeserializeOwned>(path: &Path, expected: &str) -> Result<T, BenchmarkError> {
    parse_json_text(path, &text_of(path)?, expected)
}

fn parse_json_text<T: DeserializeOwned>(
    path: &Path,
    text: &str,
    expected: &str,
) -> Result<T, BenchmarkError> {
    let wrong = |error| BenchmarkError::form(path, format!("{error}; expected {expected}"));
    serde_json::from_str(text).map_err(wrong)
}

/// Parses a file of JSON lines. `expected` describes the form of a line.
///
/// # Errors
/// Returns an error if it cannot be read or a line has another form.
pub fn parse_lines<T: DeserializeOwned>(path: &Path, expected: &str) -> Result<Vec<T>, BenchmarkError> {
    parse_lines_text(path, &text_of(path)?, expected)
}

fn parse_lines_text<T: DeserializeOwned>(
    path: &Path,
    text: &str,
    expected: &str,
) -> Result<Vec<T>, BenchmarkError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(number, line)| {
        serde_json::from_str(line).map_err(|error| {
            BenchmarkError::form(path, format!("line {}: {error}; expected {expected}", number + 1))
        })
    };
    lines.map(read).collect()
}

/// Parses a JSON list, or JSON lines. `expected` describes the form.
///
/// # Errors
/// Returns an error if it cannot be read or has another form.
pub fn parse_list<T: DeserializeOwned>(path: &Path, expected: &str) -> Result<Vec<T>, BenchmarkError> {
    let text = text_of(path)?;
    match text.trim_start().starts_with('[') {
        true => parse_json_text(path, &text, expected),
        false => parse_lines_text(path, &text, expected),
    }
}

/// Returns the files of a folder with one of the name endings, sorted. If the path is a file, returns that
/// file.
///
/// # Errors
/// Returns an error if the folder cannot be read.
pub fn files_of(path: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, BenchmarkError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |source| BenchmarkError::Read { path: path.to_owned(), source };
    let entries = std::fs::read_dir(path).map_err(failed)?;
    let files: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect();
    let mut files = files?;
    files.retain(|file| endings.iter().any(|ending| file.to_string_lossy().ends_with(ending)));
    files.sort();
    Ok(files)
}

/// Returns the name of a file without its ending.
#[must_use]
pub fn stem_of(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
