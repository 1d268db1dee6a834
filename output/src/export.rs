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
#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::path::Path;

pub use error::ExportError;
pub use options::{Answers, Arguments, Content, Format, Options, Parallel, RowId, Searched};

use crate::folder::Folder;
use crate::row::{Dialogue, RowFault};
use crate::storage::local::{self, PartFile};

/// A row with structured endings, as the dataset's second configuration has it: each goal ends with a call of `finish`, and
/// found APIs are called through `call_api`. Columns that it does not have are empty.
///
/// # Errors
/// When the row has no structured form.
pub fn structured(row: &Dialogue) -> Result<Dialogue, RowFault> {
    let mut conversation = conversation::Conversation::of(row)?;
    endings::apply(row, &mut conversation)?;
    conversation.number_calls(&row.id);
    searched::render(&mut conversation, Searched::Dispatch);
    let (tools, messages) = conversation.into_columns();
    Ok(Dialogue {
        id: row.id.clone(),
        split: row.split,
        ability: row.ability,
        tags: row.tags.clone(),
        domains: row.domains.clone(),
        tools,
        messages,
        license: row.license.clone(),
        source: row.source.clone(),
        ..Dialogue::blank()
    })
}

/// The counts of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Rows read.
    pub rows: u64,
    /// Lines written; some formats have several for a row.
    pub lines: u64,
    /// Rows that the format has no line for, such as pairs of a row that calls nothing, and rows with a fault.
    pub left_out: u64,
    /// The fault of the first row that has one.
    pub fault: Option<RowFault>,
}

/// Writes all rows, or those of one split, to a file. The file is there in full or not at all; one that is there already is
/// replaced.
///
/// # Errors
/// When the format has no place for an option, when rows cannot be read or when the file cannot be written.
pub fn export(folder: &Folder, options: Options, out: &Path) -> Result<Exported, ExportError> {
    let shape = options.shape()?;
    if out.is_dir() {
        return Err(ExportError::IsFolder(out.display().to_string()));
    }
    let splits = &folder.manifest().counts.splits;
    if let Some(split) = options.split
        && splits.get(split.as_str()).is_none_or(|rows| *rows == 0)
    {
        let found: Vec<String> = splits.iter().map(|(split, rows)| format!("{split} ({rows})")).collect();
        return Err(ExportError::NoRows { split, found: found.join(", ") });
    }
    let mut file = PartFile::create(out)?;
    let mut done = Exported::default();
    for row in folder.rows() {
        let row = row?;
        if options.split.is_some_and(|split| split != row.split) {
            continue;
        }
        let lines = formats::lines(&shape, done.rows, &row).unwrap_or_else(|fault| {
            done.fault.get_or_insert(fault);
            Vec::new()
        });
        done.rows += 1;
        done.lines += lines.len() as u64;
        done.left_out += u64::from(lines.is_empty());
        for line in lines {
            file.write_all(line.as_bytes()).map_err(local::at("write", out))?;
            file.write_all(b"\n").map_err(local::at("write", out))?;
        }
    }
    file.commit()?;
    Ok(done)
}
