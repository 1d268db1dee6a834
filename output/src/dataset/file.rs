//! Writes one file of rows, batch by batch, in row order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parquet::errors::ParquetError;

use super::error::DatasetError;
use super::progress::Sidecar;
use super::writer::DatasetWriter;
use crate::columns::{SCHEMA_VERSION, Table};
use crate::documents::{RowsByDocument, add_rows};
use crate::export::structured::make_structured;
use crate::funnel::{Counts, Funnel};
use crate::manifest::{FileEntry, is_world_id, structured_file, worlds_file};
use crate::plan::FilePlan;
use crate::row::Dialogue;
use crate::rows::{RowWriter, WorldWriter, WriteError};
use crate::skeleton::skeleton;
use crate::storage::{Cause, NewFile, StorageError};

/// The result of one batch: its rows and its funnel.
#[derive(Clone, Debug, Default)]
pub struct BatchRows {
    /// The batch's number.
    pub batch: u64,
    /// Its rows, in row order. Rows for which no attempt passed are missing.
    pub rows: Vec<Dialogue>,
    /// Canonical JSON of worlds by id. Those that no row names are not stored.
    pub worlds: BTreeMap<String, Arc<str>>,
    /// The funnel of the batch's tasks. The writer counts `written` and `exhausted`.
    pub funnel: Funnel,
    /// The rows by document. Empty if the run has no documents.
    pub documents: RowsByDocument,
}

/// A batch with its structured rows and counts, which the worker thread calculates.
#[derive(Clone, Debug)]
pub struct PreparedBatch {
    pub(super) made: BatchRows,
    /// The structured form of each row; `None` for a row that has none.
    structured: Vec<Option<Dialogue>>,
    counts: Counts,
    skeletons: BTreeSet<String>,
}

impl From<BatchRows> for PreparedBatch {
    fn from(made: BatchRows) -> Self {
        let mut counts = Counts::default();
        made.rows.iter().for_each(|row| counts.count(row));
        Self {
            structured: made.rows.iter().map(|row| make_structured(row).ok()).collect(),
            skeletons: made.rows.iter().map(skeleton).collect(),
            counts,
            made,
        }
    }
}

/// Writes one planned file, its structured rows and its worlds, batch by batch.
pub struct FileWriter<'a> {
    dataset: &'a DatasetWriter,
    plan: &'a FilePlan,
    writer: RowWriter<NewFile>,
    structured: RowWriter<NewFile>,
    structured_rows: u64,
    /// `None` until the first world is written.
    world_writer: Option<WorldWriter<NewFile>>,
    /// Index in the plan of the next batch to write.
    next: usize,
    ids: BTreeSet<String>,
    counts: Counts,
    funnel: Funnel,
    skeletons: BTreeSet<String>,
    /// The hashes of the file's worlds, by id.
    worlds: BTreeMap<String, String>,
    documents: RowsByDocument,
}

impl DatasetWriter {
    /// Starts one of the [`pending`](DatasetWriter::pending) files.
    ///
    /// # Errors
    /// Returns an error if the file cannot be made.
    pub fn start_file<'a>(&'a self, plan: &'a FilePlan) -> Result<FileWriter<'a>, DatasetError> {
        let start = |name: &str, table| {
            let writer = RowWriter::new(self.storage.create(name)?, table);
            writer.map_err(|source| at_file(source, self.storage.full_name(name)))
        };
        Ok(FileWriter {
            dataset: self,
            plan,
            writer: start(&plan.name, Table::Dialogues)?,
            structured: start(&structured_file(&plan.name), Table::Structured)?,
            structured_rows: 0,
            world_writer: None,
            next: 0,
            ids: BTreeSet::new(),
            counts: Counts::default(),
            funnel: Funnel::default(),
            skeletons: BTreeSet::new(),
            worlds: BTreeMap::new(),
            documents: RowsByDocument::new(),
        })
    }
}

impl FileWriter<'_> {
    /// Writes the rows of the next batch.
    ///
    /// # Errors
    /// Returns an error if the batch is another than the next of the file, a row does not fit, or the file
    /// cannot be written.
    pub fn submit(&mut self, batch: PreparedBatch) -> Result<(), DatasetError> {
        let number = batch.made.batch;
        let next = self.plan.batches.get(self.next).map(|batch| batch.index);
        if next != Some(number) {
            return Err(self.refuse(number, "is not expected: it is not the next one of the file"));
        }
        self.write(batch)?;
        self.next += 1;
        Ok(())
    }

    /// Returns the number of rows of a batch, or 0 for a batch of another file.
    pub fn rows_of_batch(&self, batch: u64) -> u64 {
        let position = self.plan.batches.binary_search_by_key(&batch, |batch| batch.index).ok();
        let planned = position.and_then(|position| self.plan.batches.get(position));
        planned.map_or(0, |batch| batch.row_indexes.end - batch.row_indexes.start)
    }

    /// Renames the finished file to its final name and records it as done.
    ///
    /// # Errors
    /// Returns an error if batches are missing or the file cannot be written.
    pub fn finish(self) -> Result<(), DatasetError> {
        if let Some(batch) = self.plan.batches.get(self.next) {
            return Err(self.refuse(batch.index, "is missing, expected all batches of the file"));
        }
        let storage = &self.dataset.storage;
        let finish = |writer: RowWriter<NewFile>, name: &str| {
            let file = writer.finish().map_err(|source| at_file(source, storage.full_name(name)))?;
            Ok::<_, DatasetError>(file.commit()?)
        };
        let mut files = BTreeMap::new();
        if let Some(writer) = self.world_writer {
            let name = worlds_file(&self.plan.name);
            let (file, worlds) =
                writer.finish().map_err(|source| at_file(source, storage.full_name(&name)))?;
            files.insert(name, FileEntry { worlds, ..FileEntry::new(file.commit()?, None) });
        }
        let name = structured_file(&self.plan.name);
        let stored = finish(self.structured, &name)?;
        files.insert(name, FileEntry::new(stored, Some(self.structured_rows)));
        let stored = finish(self.writer, &self.plan.name)?;
        files.insert(self.plan.name.clone(), FileEntry::new(stored, Some(self.counts.dialogues)));
        let sidecar = Sidecar {
            schema_version: SCHEMA_VERSION,
            file: self.plan.name.clone(),
            files,
            counts: self.counts,
            funnel: self.funnel,
            skeletons: self.skeletons,
            worlds: self.worlds,
            documents: self.documents,
        };
        sidecar.write(storage, self.plan)?;
        self.dataset.state().done.insert(self.plan.index, sidecar);
        Ok(())
    }

    fn write(&mut self, prepared: PreparedBatch) -> Result<(), DatasetError> {
        let PreparedBatch { made: batch, structured, counts, skeletons } = prepared;
        let row_indexes = self.rows_of_batch(batch.batch);
        let written = batch.rows.len() as u64;
        if written > row_indexes {
            return Err(
                self.refuse(batch.batch, &format!("found {written} rows, expected at most {row_indexes}"))
            );
        }
        self.funnel.add(&Funnel { written, exhausted: row_indexes - written, ..batch.funnel });
        add_rows(&mut self.documents, &batch.documents);
        let is_named = |id: &str| batch.rows.iter().any(|row| row.world_id == id);
        for (id, canonical) in batch.worlds.iter().filter(|(id, _)| is_named(id)) {
            self.write_world(id, canonical)?;
        }
        for (row, structured) in batch.rows.into_iter().zip(structured) {
            self.check(batch.batch, &row)?;
            let full_name = |name: &str| self.dataset.storage.full_name(name);
            // A row without a structured form is left out. The difference in counts shows it.
            if let Some(row) = structured {
                self.structured_rows += 1;
                let written = self.structured.write(row);
                written.map_err(|source| at_file(source, full_name(&structured_file(&self.plan.name))))?;
            }
            let written = self.writer.write(row);
            written.map_err(|source| at_file(source, full_name(&self.plan.name)))?;
        }
        self.counts.add(&counts);
        self.skeletons.extend(skeletons);
        Ok(())
    }

    /// Stores a world of a batch, unless the file has it already.
    fn write_world(&mut self, id: &str, canonical: &str) -> Result<(), DatasetError> {
        let refused = |what: &str| DatasetError::World { world: id.to_owned(), what: what.to_owned() };
        if !is_world_id(id) {
            return Err(refused(
                "found an id with other characters than letters, digits, `_`, `-` and inner dots",
            ));
        }
        let hash = blake3::hash(canonical.as_bytes()).to_hex().to_string();
        match self.worlds.get(id) {
            Some(known) if *known == hash => return Ok(()),
            Some(_) => return Err(refused("another world has this id, expected one world per id")),
            None => {}
        }
        let storage = &self.dataset.storage;
        let name = worlds_file(&self.plan.name);
        let at_file = |source| at_file(source, storage.full_name(&name));
        let mut writer = match self.world_writer.take() {
            Some(writer) => writer,
            None => WorldWriter::new(storage.create(&name)?).map_err(at_file)?,
        };
        writer.write(id, canonical).map_err(at_file)?;
        self.world_writer = Some(writer);
        self.worlds.insert(id.to_owned(), hash);
        Ok(())
    }

    fn check(&mut self, batch: u64, row: &Dialogue) -> Result<(), DatasetError> {
        let id = &row.id;
        if row.split != self.plan.split {
            let what = format!("row `{id}` is of split {}, expected {}", row.split, self.plan.split);
            return Err(self.refuse(batch, &what));
        }
        if !self.ids.insert(id.clone()) {
            return Err(self.refuse(batch, &format!("row `{id}` has the id of an earlier row")));
        }
        if self.worlds.get(&row.world_id) != Some(&row.world_hash) {
            let what = format!(
                "row `{id}` names world `{}` with hash {}, expected one that came with a batch",
                row.world_id, row.world_hash
            );
            return Err(self.refuse(batch, &what));
        }
        Ok(())
    }

    fn refuse(&self, batch: u64, what: &str) -> DatasetError {
        DatasetError::Batch { file: self.plan.name.clone(), batch, what: what.to_owned() }
    }
}

/// Adds the file to a write error. A storage error is returned unchanged.
pub(super) fn at_file(source: WriteError, file: String) -> DatasetError {
    let WriteError::Parquet(ParquetError::External(inner)) = source else {
        return DatasetError::Rows { file, source };
    };
    match inner.downcast::<std::io::Error>() {
        Ok(error) => match error.downcast::<StorageError>() {
            Ok(error) => error.into(),
            Err(error) => StorageError { doing: "write", place: file, cause: Cause::Io(error) }.into(),
        },
        Err(inner) => DatasetError::Rows { file, source: WriteError::Parquet(ParquetError::External(inner)) },
    }
}
