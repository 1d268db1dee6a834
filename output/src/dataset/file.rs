//! One file of rows: batches in, bytes out, in row order.

use std::collections::{BTreeMap, BTreeSet};

use parquet::errors::ParquetError;

use super::error::DatasetError;
use super::progress::Sidecar;
use super::writer::DatasetWriter;
use crate::columns::SCHEMA_VERSION;
use crate::documents::{RowsByDocument, add_rows};
use crate::funnel::{Counts, Funnel};
use crate::plan::FilePlan;
use crate::row::Dialogue;
use crate::rows::{RowWriter, WriteError};
use crate::skeleton::skeleton;
use crate::storage::{Cause, Fingerprint, NewFile, StorageError};

/// The result of one batch: its rows and its funnel.
#[derive(Clone, Debug, Default)]
pub struct BatchRows {
    /// The batch's number.
    pub batch: u64,
    /// Its rows, in row order. A row for which no attempt passed has none.
    pub rows: Vec<Dialogue>,
    /// The funnel of the batch's tasks. The writer counts `written` and `exhausted`.
    pub funnel: Funnel,
    /// The rows of the documents that they are made of; empty if the run has none.
    pub documents: RowsByDocument,
}

/// Writes one planned file, batch by batch.
pub struct FileWriter<'a> {
    dataset: &'a DatasetWriter,
    plan: &'a FilePlan,
    writer: RowWriter<NewFile>,
    /// Position in the plan's batches of the next one to write.
    next: usize,
    ids: BTreeSet<String>,
    counts: Counts,
    funnel: Funnel,
    skeletons: BTreeSet<String>,
    worlds: BTreeMap<String, Fingerprint>,
    documents: RowsByDocument,
}

impl DatasetWriter {
    /// Starts one of the [`pending`](DatasetWriter::pending) files.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn start_file<'a>(&'a self, plan: &'a FilePlan) -> Result<FileWriter<'a>, DatasetError> {
        let file = self.storage.create(&plan.name)?;
        let full_name = || self.storage.full_name(&plan.name);
        let writer =
            RowWriter::new(file).map_err(|source| DatasetError::Rows { file: full_name(), source })?;
        Ok(FileWriter {
            dataset: self,
            plan,
            writer,
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
    /// When the batch is another than the next of the file, a row does not fit, or the file cannot be written.
    pub fn submit(&mut self, rows: BatchRows) -> Result<(), DatasetError> {
        let next = self.plan.batches.get(self.next).map(|batch| batch.index);
        if next != Some(rows.batch) {
            return Err(self.refuse(rows.batch, "is not expected: it is not the next one of the file"));
        }
        self.write(rows)?;
        self.next += 1;
        Ok(())
    }

    /// The number of rows of a batch; 0 for a batch of another file.
    #[must_use]
    pub fn rows_of_batch(&self, batch: u64) -> u64 {
        let position = self.plan.batches.binary_search_by_key(&batch, |batch| batch.index).ok();
        let planned = position.and_then(|position| self.plan.batches.get(position));
        planned.map_or(0, |batch| batch.row_indexes.end - batch.row_indexes.start)
    }

    /// Gives the finished file its name and notes it as done.
    ///
    /// # Errors
    /// When batches are missing or the file cannot be written.
    pub fn finish(self) -> Result<(), DatasetError> {
        if let Some(batch) = self.plan.batches.get(self.next) {
            return Err(self.refuse(batch.index, "is missing, expected all batches of the file"));
        }
        let storage = &self.dataset.storage;
        let name = storage.full_name(&self.plan.name);
        let file = self.writer.finish().map_err(|source| at_file(source, name))?;
        let fingerprint = file.commit()?;
        // The file's worlds are stored before anything says that it is finished.
        storage.flush()?;
        let sidecar = Sidecar {
            schema_version: SCHEMA_VERSION,
            file: self.plan.name.clone(),
            fingerprint,
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

    fn write(&mut self, batch: BatchRows) -> Result<(), DatasetError> {
        let row_indexes = self.rows_of_batch(batch.batch);
        let written = batch.rows.len() as u64;
        if written > row_indexes {
            return Err(
                self.refuse(batch.batch, &format!("found {written} rows, expected at most {row_indexes}"))
            );
        }
        self.funnel.add(&Funnel { written, exhausted: row_indexes - written, ..batch.funnel });
        add_rows(&mut self.documents, &batch.documents);
        for row in batch.rows {
            self.check(batch.batch, &row)?;
            self.counts.count(&row);
            self.skeletons.insert(skeleton(&row));
            let written = self.writer.write(row);
            written.map_err(|source| at_file(source, self.dataset.storage.full_name(&self.plan.name)))?;
        }
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
        if !self.worlds.contains_key(&row.world_id) {
            let stored = self.dataset.state().worlds.get(&row.world_id).cloned();
            self.worlds.extend(stored.map(|stored| (row.world_id.clone(), stored)));
        }
        let known = self.worlds.get(&row.world_id).is_some_and(|stored| stored.blake3 == row.world_hash);
        if !known {
            let what = format!(
                "row `{id}` names world `{}` with hash {}, expected one that was stored",
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

/// Gives a write error its file. An error of the storage is returned as it is.
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
