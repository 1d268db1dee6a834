//! Errors of exports.

use crate::folder::select::NoSuchRows;
use crate::rows::ReadError;
use crate::storage::StorageError;

/// Why a dataset cannot be exported.
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
    /// Rows that the dataset does not have were asked for.
    #[error(transparent)]
    NoRows(#[from] NoSuchRows),
    /// A choice was made that a format has no place for.
    #[error("found --{option}, for which {format} has no place; leave it out")]
    NoPlace {
        /// The format.
        format: &'static str,
        /// The choice.
        option: &'static str,
    },
}
