//! Exports a dataset as JSON lines, in the formats of trainers and benchmarks.
//!
//! Module `conversation` parses a row once. Then its endings and searches are rendered as requested, and a
//! format writes it. `docs/exports.md` lists the content, the definition and the limits of each format.

mod conversation;
mod damage;
mod endings;
mod error;
mod formats;
mod options;
mod searched;
pub(crate) mod structured;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::Path;

pub use damage::{ListMutants, RejectedMutant};
pub use error::ExportError;
pub use options::{Answers, Arguments, Content, Format, Options, Parallel, RowId, SearchForm};

use self::formats::ExportLines;
use crate::folder::{Folder, Selection};
use crate::row::RowFault;
use crate::storage::local::{self, PartFile};

/// The counts of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportCounts {
    /// Number of rows read.
    pub rows: u64,
    /// Number of lines written. Some formats have several per row.
    pub lines: u64,
    /// Number of rows without a line, such as preference pairs of a row without calls, and rows with a fault.
    pub left_out: u64,
    /// Number of goals without a line in rows with lines. Only [`Format::ReverseChain`] has one line per
    /// goal.
    pub goals_left_out: u64,
    /// The fault of the first row that has one.
    pub fault: Option<RowFault>,
}

/// The source of an export.
pub struct Source<'a> {
    /// The dataset.
    pub folder: &'a Folder,
    /// The selected rows.
    pub selection: &'a Selection,
    /// Lists the mutants of a row, for preference pairs.
    pub list_mutants: ListMutants<'a>,
}

/// Writes the selected rows to a file, as a whole or not at all. Makes its folder where it is missing. Replaces an
/// earlier file, unless no row is selected: then writes nothing.
///
/// # Errors
/// Returns an error if the format does not support an option, if rows cannot be read, or if the file cannot
/// be written.
pub fn export(source: &Source<'_>, options: Options, out: &Path) -> Result<ExportCounts, ExportError> {
    if out.is_dir() {
        return Err(ExportError::IsFolder(out.display().to_string()));
    }
    if let Some(parent) = out.parent() {
        std::fs::create_dir_all(parent).map_err(local::at("create", parent))?;
    }
    let mut file = PartFile::create(out)?;
    let done = write_lines(source, options, &mut file).map_err(|error| match error {
        ExportError::Line(error) => local::at("write", out)(error).into(),
        other => other,
    })?;
    if done.rows > 0 {
        file.commit()?;
    }
    Ok(done)
}

/// Writes the selected rows to an open file or pipe, row by row.
///
/// # Errors
/// As [`export`], and [`ExportError::Line`] where `out` takes no more.
pub fn write_lines(
    source: &Source<'_>,
    options: Options,
    out: &mut dyn Write,
) -> Result<ExportCounts, ExportError> {
    let Source { folder, selection, list_mutants } = source;
    let shape = options.shape()?;
    selection.check(folder.manifest())?;
    let mut done = ExportCounts::default();
    for row in folder.select(selection) {
        let row = row?;
        let written = formats::write(&shape, done.rows, &row, *list_mutants);
        let ExportLines { lines, goals_left_out } = written.unwrap_or_else(|fault| {
            done.fault.get_or_insert(fault);
            ExportLines::default()
        });
        done.rows += 1;
        done.goals_left_out += goals_left_out;
        done.lines += lines.len() as u64;
        done.left_out += u64::from(lines.is_empty());
        for line in lines {
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")?;
        }
    }
    Ok(done)
}
