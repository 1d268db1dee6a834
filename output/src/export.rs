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

use std::io::Write as _;
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

/// Writes the selected rows to a file. The file is there in full or not at all. It replaces an earlier file, unless no row
/// is selected: then nothing is written.
///
/// # Errors
/// When the format has no place for an option, when rows cannot be read or when the file cannot be written.
pub fn export(source: &Source<'_>, options: Options, out: &Path) -> Result<Exported, ExportError> {
    let Source { folder, selection, list_mutants } = source;
    let shape = options.shape()?;
    if out.is_dir() {
        return Err(ExportError::IsFolder(out.display().to_string()));
    }
    selection.check(folder.manifest())?;
    let mut file = PartFile::create(out)?;
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
            file.write_all(line.as_bytes()).map_err(local::at("write", out))?;
            file.write_all(b"\n").map_err(local::at("write", out))?;
        }
    }
    if done.rows > 0 {
        file.commit()?;
    }
    Ok(done)
}
