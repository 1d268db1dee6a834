//! Owns the Parquet writer, with fixed settings and bounded memory.

use std::io::Write;

use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::schema::types::ColumnPath;

use super::encode::encode;
use crate::columns::{SCHEMA_VERSION, Table};
use crate::row::{Dialogue, RowFault};

/// The writer's name in the file metadata. It names the schema and not the build, so patch releases write the
/// same bytes.
pub const CREATED_BY: &str = "diorama dialogue/3";

/// The metadata key of [`SCHEMA_VERSION`].
pub(crate) const SCHEMA_KEY: &str = "diorama.schema_version";

/// A row group ends after the row that reaches one of these limits.
const GROUP_ROWS: usize = 512;
const GROUP_BYTES: usize = 32 << 20;
/// A batch is encoded when it reaches one of these limits.
const BATCH_ROWS: usize = 64;
const BATCH_BYTES: usize = 4 << 20;
/// Maximum bytes of a row's text, since every reader has to hold a row in memory.
const ROW_BYTES: usize = 64 << 20;

/// Writes rows, in the order given, to one Parquet file.
pub struct RowWriter<W: Write + Send> {
    table: Table,
    writer: ArrowWriter<W>,
    batch: Vec<Dialogue>,
    batch_bytes: usize,
    group_rows: usize,
    group_bytes: usize,
}

/// The reason for which rows could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The row is invalid.
    #[error(transparent)]
    Row(#[from] RowFault),
    /// The row is too large.
    #[error("row `{row}` holds {bytes} bytes of text, expected at most {ROW_BYTES}")]
    RowTooLarge {
        /// The row's id.
        row: String,
        /// Its size.
        bytes: usize,
    },
    /// Rows do not fit the columns.
    #[error("rows do not fit the columns: {0}")]
    Arrow(#[from] ArrowError),
    /// The file could not be written.
    #[error("cannot write Parquet: {0}")]
    Parquet(#[from] ParquetError),
}

impl<W: Write + Send> RowWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// Returns an error if the first bytes cannot be written.
    pub fn new(sink: W, table: Table) -> Result<Self, WriteError> {
        let mut properties = properties(CREATED_BY)?.set_statistics_enabled(EnabledStatistics::Chunk);
        for column in table.columns().iter().filter(|column| column.is_repetitive) {
            let path = ColumnPath::from(column.field.name);
            properties = properties.set_column_dictionary_page_size_limit(path, 8 << 20);
        }
        Ok(Self {
            table,
            writer: start(sink, table.schema(), properties)?,
            batch: Vec::with_capacity(BATCH_ROWS),
            batch_bytes: 0,
            group_rows: 0,
            group_bytes: 0,
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Returns an error if the row is not one that may be written, or the file cannot be written.
    pub fn write(&mut self, row: Dialogue) -> Result<(), WriteError> {
        row.check_columns(self.table)?;
        let bytes = row.text_bytes();
        if bytes > ROW_BYTES {
            return Err(WriteError::RowTooLarge { row: row.id, bytes });
        }
        self.batch.push(row);
        self.batch_bytes += bytes;
        self.group_rows += 1;
        self.group_bytes += bytes;
        let group_is_full = self.group_rows >= GROUP_ROWS || self.group_bytes >= GROUP_BYTES;
        if group_is_full || self.batch.len() >= BATCH_ROWS || self.batch_bytes >= BATCH_BYTES {
            self.encode()?;
        }
        if group_is_full {
            self.writer.flush()?;
            self.group_rows = 0;
            self.group_bytes = 0;
        }
        Ok(())
    }

    /// Writes the remaining rows and the footer, and returns the sink.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.encode()?;
        Ok(self.writer.into_inner()?)
    }

    fn encode(&mut self) -> Result<(), WriteError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.writer.write(&encode(&self.batch, self.table)?)?;
        self.batch.clear();
        self.batch_bytes = 0;
        Ok(())
    }
}

/// Returns the properties of all files.
pub(super) fn properties(created_by: &str) -> Result<WriterPropertiesBuilder, ParquetError> {
    let version = KeyValue::new(SCHEMA_KEY.to_owned(), SCHEMA_VERSION.to_string());
    Ok(WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by(created_by.to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        // The writers limit row groups themselves, by counts that depend only on the rows.
        .set_max_row_group_row_count(None)
        .set_max_row_group_bytes(None)
        .set_key_value_metadata(Some(vec![version])))
}

/// Starts a file. Omits the encoded Arrow schema, which would tie files to a version of Arrow.
pub(super) fn start<W: Write + Send>(
    sink: W,
    schema: SchemaRef,
    properties: WriterPropertiesBuilder,
) -> Result<ArrowWriter<W>, ParquetError> {
    let options =
        ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
    ArrowWriter::try_new_with_options(sink, schema, options)
}
