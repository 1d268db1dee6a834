//! Errors of exports.

use crate::folder::select::NoSuchRows;
use crate::rows::ReadError;
use crate::storage::StorageError;

/// The reason for which a dataset cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Rows cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file cannot be written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A pipe takes no more lines.
    #[error("cannot write a line: {0}")]
    Line(#[from] std::io::Error),
    /// The output path is a folder.
    #[error("{0} is a folder, expected the name of a file")]
    IsFolder(String),
    /// The selection asks for rows that the dataset does not have.
    #[error(transparent)]
    NoRows(#[from] NoSuchRows),
    /// The format does not support an option.
    #[error("found --{option}, for which {format} has no place; leave it out")]
    NoPlace {
        /// The format.
        format: &'static str,
        /// The option.
        option: &'static str,
    },
}
