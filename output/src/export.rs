//! A dataset as JSON lines, in the shapes that trainers read.

mod formats;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::Write as _;
use std::path::Path;
use std::str::FromStr;

use crate::disk::{self, DiskError, PartFile};
use crate::folder::Folder;
use crate::row::{RowFault, Split, UnknownName};
use crate::rows::ReadError;

/// The shapes a dataset can be exported in. Each is one JSON object per line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The rows as they are, all columns; columns that hold JSON stay text.
    Jsonl,
    /// Conversational messages and tools for TRL: `{messages, tools}`, arguments as mappings. Assistant messages keep
    /// their `train`, members that are null are left out.
    Trl,
    /// OpenAI's format for fine-tuning: `{messages, tools}`, arguments as text. An assistant message that is not to be
    /// learnt from has `weight: 0`; reasoning is left out.
    Openai,
    /// ShareGPT's turns with tools, as LLaMA-Factory reads them: `{conversations, system, tools}` with the speakers
    /// `human`, `gpt`, `function_call` and `observation`. Replies to calls made together are one observation. It has no
    /// place for `train`, for reasoning, or for text beside a call; they are left out.
    Sharegpt,
}

/// Why a dataset cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Rows cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A row holds text that is not the JSON it should be.
    #[error(transparent)]
    Row(#[from] RowFault),
    /// The file cannot be written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The output path is a folder.
    #[error("{0} is a folder, expected the name of a file")]
    IsFolder(String),
}

/// Writes all rows, or those of one split, to a file, and gives their number. The file is there in full or not at all;
/// one that is there already is replaced.
///
/// # Errors
/// When rows cannot be read or the file cannot be written.
pub fn export(folder: &Folder, format: Format, split: Option<Split>, out: &Path) -> Result<u64, ExportError> {
    if out.is_dir() {
        return Err(ExportError::IsFolder(out.display().to_string()));
    }
    let mut file = PartFile::create(out)?;
    let mut rows = 0;
    for row in folder.rows() {
        let row = row?;
        if split.is_some_and(|split| split != row.split) {
            continue;
        }
        let mut line = formats::line(format, &row)?;
        line.push('\n');
        file.write_all(line.as_bytes()).map_err(disk::at("write", out))?;
        rows += 1;
    }
    file.commit()?;
    Ok(rows)
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Jsonl, Self::Trl, Self::Openai, Self::Sharegpt];

    /// The name on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Trl => "trl",
            Self::Openai => "openai",
            Self::Sharegpt => "sharegpt",
        }
    }
}

impl FromStr for Format {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|format| format.as_str() == text).ok_or_else(|| UnknownName {
            what: "format",
            found: text.to_owned(),
            expected: "jsonl, trl, openai, sharegpt",
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
