//! World files as Parquet: two columns, and one row group per world, so that each can be read separately.

use std::io::Write;
use std::sync::{Arc, LazyLock};

use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use parquet::file::properties::EnabledStatistics;

use super::reader::{ParquetFile, ReadError, guard};
use super::writer::{WriteError, properties, start};
use crate::storage::Storage;

/// The writer's name in the file metadata.
const CREATED_BY: &str = "diorama worlds/1";

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    Arc::new(Schema::new(vec![text("world_id"), text("world")]))
});

/// Writes worlds, in the order given, to one Parquet file.
pub struct WorldWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    ids: Vec<String>,
}

impl<W: Write + Send> WorldWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// Returns an error if the first bytes cannot be written.
    pub fn new(sink: W) -> Result<Self, WriteError> {
        let properties = properties(CREATED_BY)?
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None);
        Ok(Self { writer: start(sink, Arc::clone(&SCHEMA), properties)?, ids: Vec::new() })
    }

    /// Adds a world: its id and its canonical JSON.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&mut self, id: &str, canonical: &str) -> Result<(), WriteError> {
        let column = |text: &str| Arc::new(StringArray::from(vec![text])) as ArrayRef;
        let columns = vec![column(id), column(canonical)];
        self.writer.write(&RecordBatch::try_new(Arc::clone(&SCHEMA), columns)?)?;
        self.writer.flush()?;
        self.ids.push(id.to_owned());
        Ok(())
    }

    /// Writes the footer. Returns the sink, and the ids in the order of the row groups.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(self) -> Result<(W, Vec<String>), WriteError> {
        Ok((self.writer.into_inner()?, self.ids))
    }
}

/// A Parquet file of worlds.
pub(crate) struct WorldFile(ParquetFile);

impl WorldFile {
    /// Opens a file and checks that it has worlds.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened, is damaged, or holds something else.
    pub(crate) fn open(storage: &Storage, name: &str) -> Result<Self, ReadError> {
        ParquetFile::open(storage, name, &|_| Arc::clone(&SCHEMA)).map(Self)
    }

    /// Returns the id and the JSON of the world in a row group.
    ///
    /// # Errors
    /// Returns an error if there is no such group, or the file cannot be read or is damaged.
    pub(crate) fn read(&self, group: usize) -> Result<(String, String), ReadError> {
        let (file, metadata) = (self.0.full_name(), self.0.metadata.clone());
        let bytes = self.0.read_group(group)?;
        let batch = guard(&file, || {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata);
            let mut reader = reader.with_row_groups(vec![group]).build()?;
            reader.next().transpose().map_err(ParquetError::from)
        })?;
        let text = |name: &str| {
            let column = batch.as_ref()?.column_by_name(name)?;
            let column = column.as_any().downcast_ref::<StringArray>()?;
            (column.len() == 1 && column.is_valid(0)).then(|| column.value(0).to_owned())
        };
        let world = text("world_id").zip(text("world"));
        let what = format!("row group {group} does not hold one world");
        world.ok_or(ReadError::Damaged { file, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worlds_are_read_one_by_one_and_damage_is_an_error() {
        let folder = tempfile::TempDir::new().unwrap();
        let storage = Storage::local(folder.path());
        let write = || {
            let mut writer = WorldWriter::new(Vec::new()).unwrap();
            for id in ["a", "b", "c"] {
                writer.write(id, &format!("{{\"name\":\"{id}\"}}")).unwrap();
            }
            writer.finish().unwrap()
        };
        let (bytes, ids) = write();
        assert_eq!((&bytes, &ids), (&write().0, &vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]));
        storage.write("w", &bytes).unwrap();
        let file = WorldFile::open(&storage, "w").unwrap();
        assert_eq!(file.read(1).unwrap(), ("b".to_owned(), r#"{"name":"b"}"#.to_owned()));
        assert!(file.read(3).unwrap_err().to_string().contains("found 3 row groups"));
        for at in (0..bytes.len()).step_by(3) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x80;
            storage.write("w", &damaged).unwrap();
            // The result is an error or a world, but never a panic.
            let _ = WorldFile::open(&storage, "w").and_then(|file| file.read(2));
        }
        storage.write("w", b"PAR1").unwrap();
        assert!(matches!(WorldFile::open(&storage, "w"), Err(ReadError::Damaged { .. })));
    }
}
