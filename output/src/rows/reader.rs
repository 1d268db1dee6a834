//! The Parquet reader. Files come from anywhere, so everything in them is checked before it is believed.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow_schema::Schema;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

use super::decode::{ColumnError, decode};
use super::writer::SCHEMA_KEY;
use crate::columns::{SCHEMA_VERSION, arrow_schema};
use crate::older::{self, OLDER_VERSION};
use crate::row::Dialogue;

/// Rows held in memory at once by one reader.
const BATCH_ROWS: usize = 64;
/// Bounds on what a file may claim of a row group before anything is allocated for it.
const MAX_GROUP_ROWS: i64 = 1 << 20;
const MAX_COLUMN_BYTES: i64 = 1 << 31;

/// A Parquet file of dialogues. Row groups can be read independently, each by its own thread.
#[derive(Clone, Debug)]
pub struct RowFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
}

/// The rows of a file or of one of its row groups, in order. After an error it ends.
pub struct Rows {
    path: PathBuf,
    reader: Option<ParquetRecordBatchReader>,
    /// The file is of [`OLDER_VERSION`].
    is_older: bool,
    batch: std::vec::IntoIter<Dialogue>,
    next_row: u64,
}

/// Why rows could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not a Parquet file, or a damaged one.
    #[error("{}: not a readable Parquet file: {what}; was it cut off or changed?", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the reader found.
        what: String,
    },
    /// It is a Parquet file of something else.
    #[error("{}: not a file of dialogues: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A row does not hold what a dialogue holds.
    #[error("{}: row {row}: {source}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The row, from 0, in what was read.
        row: u64,
        /// What is wrong.
        source: ColumnError,
    },
}

impl RowFile {
    /// Opens a file and checks that it holds dialogues of this version.
    ///
    /// # Errors
    /// When it cannot be opened, is damaged, or holds something else.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let file = open(path)?;
        let metadata = load(&file, path)?;
        Ok(Self { path: path.to_owned(), metadata })
    }

    /// The file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        let groups = self.metadata.metadata().row_groups();
        groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).sum()
    }

    /// The number of row groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// All rows.
    ///
    /// # Errors
    /// When the file cannot be opened or is damaged.
    pub fn read(&self) -> Result<Rows, ReadError> {
        // A handle of its own: handles made from one another share their position.
        rows_of(open(&self.path)?, self.metadata.clone(), &self.path, None)
    }

    /// The rows of one row group.
    ///
    /// # Errors
    /// When there is no such group, or the file cannot be opened or is damaged.
    pub fn read_group(&self, group: usize) -> Result<Rows, ReadError> {
        if group >= self.groups() {
            let what = format!("found {} row groups, expected more than {group}", self.groups());
            return Err(ReadError::Damaged { path: self.path.clone(), what });
        }
        rows_of(open(&self.path)?, self.metadata.clone(), &self.path, Some(group))
    }
}

impl Iterator for Rows {
    type Item = Result<Dialogue, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.batch.next() {
                self.next_row += 1;
                return Some(Ok(row));
            }
            let mut reader = self.reader.take()?;
            let translated = |batch| if self.is_older { older::batch(&batch) } else { Ok(batch) };
            let next = || reader.next().map(|batch| batch.and_then(translated)).transpose();
            let batch = match guard(&self.path, next) {
                Ok(Some(batch)) => batch,
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            };
            match decode(&batch) {
                Ok(rows) => {
                    self.batch = rows.into_iter();
                    self.reader = Some(reader);
                }
                Err((row, source)) => {
                    let row = self.next_row + row as u64;
                    return Some(Err(ReadError::Row { path: self.path.clone(), row, source }));
                }
            }
        }
    }
}

fn open(path: &Path) -> Result<File, ReadError> {
    File::open(path).map_err(|source| ReadError::Open { path: path.to_owned(), source })
}

/// Reads and checks a file's metadata.
pub(super) fn load<T: ChunkReader>(file: &T, path: &Path) -> Result<ArrowReaderMetadata, ReadError> {
    // The types follow from the Parquet schema, never from an embedded Arrow schema that could contradict it.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = guard(path, || ArrowReaderMetadata::load(file, options))?;
    // Columns of the older version are checked where they are translated.
    if version(metadata.metadata(), path)? == SCHEMA_VERSION {
        check_schema(metadata.schema(), path)?;
    }
    check_sizes(metadata.metadata(), file.len(), path)?;
    Ok(metadata)
}

pub(super) fn rows_of<T: ChunkReader + 'static>(
    file: T,
    metadata: ArrowReaderMetadata,
    path: &Path,
    group: Option<usize>,
) -> Result<Rows, ReadError> {
    let is_older = version(metadata.metadata(), path)? == OLDER_VERSION;
    let mut builder =
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata).with_batch_size(BATCH_ROWS);
    if let Some(group) = group {
        builder = builder.with_row_groups(vec![group]);
    }
    let reader = guard(path, || builder.build())?;
    Ok(Rows {
        path: path.to_owned(),
        reader: Some(reader),
        is_older,
        batch: Vec::new().into_iter(),
        next_row: 0,
    })
}

/// Runs a step of the Parquet reader. Damaged bytes have made it panic where it should have returned an error, and
/// a command that checks foreign files must not end by that.
fn guard<T, E: std::fmt::Display>(path: &Path, step: impl FnOnce() -> Result<T, E>) -> Result<T, ReadError> {
    let damaged = |what: String| ReadError::Damaged { path: path.to_owned(), what };
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| damaged(error.to_string())),
        Err(_) => Err(damaged("its pages contradict its metadata".to_owned())),
    }
}

/// The schema version of a file, one of those that are read.
fn version(metadata: &ParquetMetaData, path: &Path) -> Result<u32, ReadError> {
    let pairs = metadata.file_metadata().key_value_metadata();
    let found = pairs
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == SCHEMA_KEY))
        .and_then(|pair| pair.value.as_deref());
    let what = match found {
        Some(version) if version == SCHEMA_VERSION.to_string() => return Ok(SCHEMA_VERSION),
        Some(version) if version == OLDER_VERSION.to_string() => return Ok(OLDER_VERSION),
        Some(version) => format!("found schema version {version}, expected {SCHEMA_VERSION}"),
        None => format!("found no `{SCHEMA_KEY}` in its metadata, expected {SCHEMA_VERSION}"),
    };
    Err(ReadError::Foreign { path: path.to_owned(), what })
}

fn check_schema(found: &Schema, path: &Path) -> Result<(), ReadError> {
    let expected = arrow_schema();
    let expected = || expected.fields().iter();
    if found.fields().iter().eq(expected()) {
        return Ok(());
    }
    let missing = expected().find(|field| found.field_with_name(field.name()).is_err());
    let extra = found.fields().iter().find(|field| expected().all(|other| other.name() != field.name()));
    let differing = expected()
        .find(|field| found.field_with_name(field.name()).is_ok_and(|other| other != field.as_ref()));
    let what = match (missing, extra, differing) {
        (Some(field), _, _) => format!("column `{}` is missing", field.name()),
        (_, Some(field), _) => format!("found an unknown column `{}`", field.name()),
        (_, _, Some(field)) => {
            format!("column `{}` has another type than {}", field.name(), field.data_type())
        }
        _ => "its columns stand in another order".to_owned(),
    };
    Err(ReadError::Foreign { path: path.to_owned(), what })
}

fn check_sizes(metadata: &ParquetMetaData, file_bytes: u64, path: &Path) -> Result<(), ReadError> {
    let damaged = |what: String| Err(ReadError::Damaged { path: path.to_owned(), what });
    for (index, group) in metadata.row_groups().iter().enumerate() {
        let rows = group.num_rows();
        if !(0..=MAX_GROUP_ROWS).contains(&rows) {
            return damaged(format!("row group {index} claims {rows} rows"));
        }
        for column in group.columns() {
            let stored = column.compressed_size();
            if stored < 0 || u64::try_from(stored).is_ok_and(|stored| stored > file_bytes) {
                return damaged(format!(
                    "row group {index} claims {stored} bytes for `{}`",
                    column.column_path()
                ));
            }
            let unpacked = column.uncompressed_size();
            if !(0..=MAX_COLUMN_BYTES).contains(&unpacked) {
                return damaged(format!(
                    "row group {index} claims {unpacked} bytes for `{}`",
                    column.column_path()
                ));
            }
        }
    }
    Ok(())
}
