//! Owns the Parquet reader. Files are untrusted, so everything in them is checked before use.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;

use super::decode::{ColumnError, HEAD_COLUMNS, RowHead, decode, decode_heads};
use super::writer::SCHEMA_KEY;
use crate::columns::{SAME_COLUMNS, SCHEMA_VERSION, Table};
use crate::older::{self, OLDER_VERSION};
use crate::row::Dialogue;
use crate::storage::{Chunks, Storage, StorageError, StoredFile};

/// Maximum number of rows that a reader holds in memory.
const BATCH_ROWS: usize = 64;
/// Limits on the sizes that a file may claim for a row group, checked before memory is allocated.
const MAX_GROUP_ROWS: i64 = 1 << 20;
const MAX_COLUMN_BYTES: i64 = 1 << 31;
/// Bytes fetched first from the end of a file. Metadata of our own files takes a tenth of it.
const FOOTER_BYTES: u64 = 256 << 10;

/// A Parquet file of dialogues. Row groups can be read independently, each by its own thread.
#[derive(Clone, Debug)]
pub struct RowFile {
    table: Table,
    file: ParquetFile,
}

/// A Parquet file with checked metadata.
#[derive(Clone, Debug)]
pub(super) struct ParquetFile {
    file: StoredFile,
    pub(super) metadata: ArrowReaderMetadata,
}

/// The rows of a file or of one of its row groups, in order. It ends after an error.
pub struct Rows {
    file: String,
    table: Table,
    reader: Option<ParquetRecordBatchReader>,
    /// The file, and the row groups that follow.
    rest: Option<(RowFile, Range<usize>)>,
    /// True if the file has [`OLDER_VERSION`].
    is_older: bool,
    batch: std::vec::IntoIter<Dialogue>,
    next_row: u64,
}

/// The reason for which rows could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The file does not exist.
    #[error("{file} is missing")]
    Missing {
        /// The file.
        file: String,
    },
    /// The file is no Parquet file, or is damaged.
    #[error("{file}: not a readable Parquet file: {what}; was it cut off or changed?")]
    Damaged {
        /// The file.
        file: String,
        /// The reader's message.
        what: String,
    },
    /// The Parquet file has another schema.
    #[error("{file}: not a file of dialogues: {what}")]
    Foreign {
        /// The file.
        file: String,
        /// A description of the difference.
        what: String,
    },
    /// A row is no valid dialogue.
    #[error("{file}: row {row}: {source}")]
    Row {
        /// The file.
        file: String,
        /// The row, from 0, in what was read.
        row: u64,
        /// The error in the row.
        source: ColumnError,
    },
}

impl RowFile {
    /// Opens a file and checks that it has dialogues of this version.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened, is damaged, or holds something else.
    pub fn open(storage: &Storage, name: &str) -> Result<Self, ReadError> {
        let table = Table::of_file(name);
        Ok(Self {
            table,
            file: ParquetFile::open(storage, name, &|version| table.schema_of_version(version))?,
        })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        let groups = self.file.metadata.metadata().row_groups();
        groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).sum()
    }

    /// Returns the number of row groups.
    pub fn groups(&self) -> usize {
        self.file.metadata.metadata().num_row_groups()
    }

    /// Returns all rows, one row group after the other.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or is damaged.
    pub fn read(&self) -> Result<Rows, ReadError> {
        let rows = if self.groups() == 0 {
            self.read_rows(self.file.file.chunks(0..0)?, None)?
        } else {
            self.read_group(0)?
        };
        Ok(Rows { rest: Some((self.clone(), 1..self.groups())), ..rows })
    }

    /// Returns the rows of one row group.
    ///
    /// # Errors
    /// Returns an error if there is no such group, or the file cannot be opened or is damaged.
    pub fn read_group(&self, group: usize) -> Result<Rows, ReadError> {
        self.read_rows(self.file.read_group(group)?, Some(group))
    }

    fn read_rows(&self, chunks: Chunks, group: Option<usize>) -> Result<Rows, ReadError> {
        read_rows(chunks, self.file.metadata.clone(), &self.file.full_name(), self.table, group)
    }

    /// Returns the heads of one row group's rows. Decodes only their columns.
    ///
    /// # Errors
    /// As [`RowFile::read_group`].
    pub fn read_heads(&self, group: usize) -> Result<Vec<RowHead>, ReadError> {
        let (file, metadata) = (self.file.full_name(), &self.file.metadata);
        if read_version(metadata.metadata(), &file)? == OLDER_VERSION {
            return self.read_group(group)?.map(|row| row.map(RowHead::from)).collect();
        }
        let chunks = self.file.read_group(group)?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, metadata.clone())
            .with_row_groups(vec![group]);
        let columns = ProjectionMask::columns(builder.parquet_schema(), HEAD_COLUMNS);
        let mut reader = guard(&file, || builder.with_projection(columns).build())?;
        let mut heads = Vec::new();
        while let Some(batch) = guard(&file, || reader.next().transpose())? {
            let wrong = |(row, source)| ReadError::Row {
                file: file.clone(),
                row: (heads.len() + row) as u64,
                source,
            };
            let decoded = decode_heads(&batch).map_err(wrong)?;
            heads.extend(decoded);
        }
        Ok(heads)
    }
}

impl ParquetFile {
    /// Opens a file and checks its metadata.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened, is damaged, or has other columns.
    pub(super) fn open(
        storage: &Storage,
        name: &str,
        expected: &dyn Fn(u32) -> SchemaRef,
    ) -> Result<Self, ReadError> {
        let missing = || ReadError::Missing { file: storage.full_name(name) };
        let file = storage.open_file(name)?.ok_or_else(missing)?;
        let size = file.size();
        let end = file.chunks(size.saturating_sub(FOOTER_BYTES)..size)?;
        Ok(Self { metadata: load(&end, &file.full_name(), expected)?, file })
    }

    pub(super) fn full_name(&self) -> String {
        self.file.full_name()
    }

    /// Returns the bytes of a row group.
    ///
    /// # Errors
    /// Returns an error if there is no such group, or the file cannot be read.
    pub(super) fn read_group(&self, group: usize) -> Result<Chunks, ReadError> {
        let groups = self.metadata.metadata().row_groups();
        let range = groups.get(group).map(byte_range).ok_or_else(|| ReadError::Damaged {
            file: self.full_name(),
            what: format!("found {} row groups, expected more than {group}", groups.len()),
        })?;
        Ok(self.file.chunks(range)?)
    }
}

/// Returns the byte range of a row group's columns. A damaged file may claim any range; only bytes inside of
/// the file are fetched.
fn byte_range(group: &RowGroupMetaData) -> Range<u64> {
    let (mut start, mut end) = (u64::MAX, 0);
    for column in group.columns() {
        let first = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let first = u64::try_from(first).unwrap_or(0);
        let length = u64::try_from(column.compressed_size()).unwrap_or(0);
        start = start.min(first);
        end = end.max(first.saturating_add(length));
    }
    start.min(end)..end
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
            let batch = match guard(&self.file, next) {
                Ok(Some(batch)) => batch,
                Ok(None) => {
                    if let Err(error) = self.next_group()? {
                        return Some(Err(error));
                    }
                    continue;
                }
                Err(error) => return Some(Err(error)),
            };
            match decode(&batch, self.table) {
                Ok(rows) => {
                    self.batch = rows.into_iter();
                    self.reader = Some(reader);
                }
                Err((row, source)) => {
                    let row = self.next_row + row as u64;
                    return Some(Err(ReadError::Row { file: self.file.clone(), row, source }));
                }
            }
        }
    }
}

impl Rows {
    /// Continues with the next row group, if there is one.
    fn next_group(&mut self) -> Option<Result<(), ReadError>> {
        let (file, groups) = self.rest.as_mut()?;
        let group = groups.next()?;
        Some(file.read_group(group).map(|rows| self.reader = rows.reader))
    }
}

/// Reads and checks a file's metadata. `expected` gives the columns of a schema version.
pub(super) fn load<T: ChunkReader>(
    file: &T,
    name: &str,
    expected: &dyn Fn(u32) -> SchemaRef,
) -> Result<ArrowReaderMetadata, ReadError> {
    // The types come from the Parquet schema. An embedded Arrow schema could contradict it, so it is ignored.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = guard(name, || ArrowReaderMetadata::load(file, options))?;
    // The translation checks the columns of the older version.
    let version = read_version(metadata.metadata(), name)?;
    if version != OLDER_VERSION {
        check_schema(metadata.schema(), name, &expected(version))?;
    }
    check_sizes(metadata.metadata(), file.len(), name)?;
    Ok(metadata)
}

pub(super) fn read_rows<T: ChunkReader + 'static>(
    file: T,
    metadata: ArrowReaderMetadata,
    name: &str,
    table: Table,
    group: Option<usize>,
) -> Result<Rows, ReadError> {
    let is_older = read_version(metadata.metadata(), name)? == OLDER_VERSION;
    let mut builder =
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata).with_batch_size(BATCH_ROWS);
    if let Some(group) = group {
        builder = builder.with_row_groups(vec![group]);
    }
    let reader = guard(name, || builder.build())?;
    Ok(Rows {
        file: name.to_owned(),
        table,
        reader: Some(reader),
        rest: None,
        is_older,
        batch: Vec::new().into_iter(),
        next_row: 0,
    })
}

/// Runs a step of the Parquet reader. Damaged bytes can make it panic instead of returning an error, and a
/// check of foreign files must not end by a panic.
pub(super) fn guard<T, E: std::fmt::Display>(
    file: &str,
    step: impl FnOnce() -> Result<T, E>,
) -> Result<T, ReadError> {
    let damaged = |what: String| ReadError::Damaged { file: file.to_owned(), what };
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| damaged(error.to_string())),
        Err(_) => Err(damaged("its pages contradict its metadata".to_owned())),
    }
}

/// Returns the schema version of a file. Refuses unknown versions.
fn read_version(metadata: &ParquetMetaData, file: &str) -> Result<u32, ReadError> {
    let pairs = metadata.file_metadata().key_value_metadata();
    let found = pairs
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == SCHEMA_KEY))
        .and_then(|pair| pair.value.as_deref());
    let known = SAME_COLUMNS.into_iter().chain([OLDER_VERSION]);
    if let Some(version) = known.into_iter().find(|version| found == Some(&version.to_string())) {
        return Ok(version);
    }
    let what = match found {
        Some(version) => format!("found schema version {version}, expected {SCHEMA_VERSION}"),
        None => format!("found no `{SCHEMA_KEY}` in its metadata, expected {SCHEMA_VERSION}"),
    };
    Err(ReadError::Foreign { file: file.to_owned(), what })
}

fn check_schema(found: &Schema, file: &str, expected: &Schema) -> Result<(), ReadError> {
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
    Err(ReadError::Foreign { file: file.to_owned(), what })
}

fn check_sizes(metadata: &ParquetMetaData, file_bytes: u64, file: &str) -> Result<(), ReadError> {
    let damaged = |what: String| Err(ReadError::Damaged { file: file.to_owned(), what });
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
