//! A dataset as JSON lines, in the formats that trainers and benchmarks read.
//!
//! A row is read once (`conversation`), its endings and its searches are rendered as was asked for, and a format writes
//! it. `docs/exports.md` lists what each format holds, where its definition stands, and what it has no place for.

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

pub use damage::{ListMutants, Rejected};
pub use error::ExportError;
pub use options::{Answers, Arguments, Content, Format, Options, Parallel, RowId, Searched};

use self::formats::Written;
use crate::folder::{Folder, Selection};
use crate::row::RowFault;
use crate::storage::local::{self, PartFile};

/// The counts of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Rows read.
    pub rows: u64,
    /// Lines written; some formats have several for a row.
    pub lines: u64,
    /// Rows that the format has no line for, such as pairs of a row that calls nothing, and rows with a fault.
    pub left_out: u64,
    /// Goals without a line, of rows that have one; only [`Format::ReverseChain`] has a line for each goal.
    pub goals_left_out: u64,
    /// The fault of the first row that has one.
    pub fault: Option<RowFault>,
}

/// What is exported.
pub struct Source<'a> {
    /// The dataset.
    pub folder: &'a Folder,
    /// Its rows that are taken.
    pub selection: &'a Selection,
    /// Lists their mutants, for pairs.
    pub list_mutants: ListMutants<'a>,
}

/// Writes the selected rows to a file, whose folder is made where it is missing. The file is there in full or not at all. It replaces an earlier file, unless no row
/// is selected: then nothing is written.
///
/// # Errors
/// When the format has no place for an option, when rows cannot be read or when the file cannot be written.
pub fn export(source: &Source<'_>, options: Options, out: &Path) -> Result<Exported, ExportError> {
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
) -> Result<Exported, ExportError> {
    let Source { folder, selection, list_mutants } = source;
    let shape = options.shape()?;
    selection.check(folder.manifest())?;
    let mut done = Exported::default();
    for row in folder.select(selection) {
        let row = row?;
        let written = formats::write(&shape, done.rows, &row, *list_mutants);
        let Written { lines, goals_left_out } = written.unwrap_or_else(|fault| {
            done.fault.get_or_insert(fault);
            Written::default()
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
