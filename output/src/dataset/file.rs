//! One file of rows: batches in, bytes out, in row order.

use std::collections::{BTreeMap, BTreeSet};

use parquet::errors::ParquetError;

use super::error::DatasetError;
use super::progress::Sidecar;
use super::writer::DatasetWriter;
use crate::columns::SCHEMA_VERSION;
use crate::disk::{DiskError, PartFile};
use crate::funnel::{Counts, Funnel};
use crate::plan::FilePlan;
use crate::row::Dialogue;
use crate::rows::{RowWriter, WriteError};

/// What a batch came to.
#[derive(Clone, Debug, Default)]
pub struct BatchRows {
    /// The batch's number.
    pub batch: u64,
    /// Its rows, in row order. A row for which no attempt passed has none.
    pub rows: Vec<Dialogue>,
    /// What became of the tasks proposed. `written` and `exhausted` are counted by the writer.
    pub funnel: Funnel,
}

/// Writes one planned file, batch by batch.
pub struct FileWriter<'a> {
    dataset: &'a DatasetWriter,
    plan: &'a FilePlan,
    writer: RowWriter<PartFile>,
    /// Position in the plan's batches of the next one to write.
    next: usize,
    ids: BTreeSet<String>,
    counts: Counts,
    funnel: Funnel,
    worlds: BTreeMap<String, String>,
}

impl DatasetWriter {
    /// Starts one of the [`pending`](DatasetWriter::pending) files.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn start_file<'a>(&'a self, plan: &'a FilePlan) -> Result<FileWriter<'a>, DatasetError> {
        let path = self.folder.join(&plan.name);
        let part = PartFile::create(&path)?;
        let writer = RowWriter::new(part).map_err(|source| DatasetError::Rows { path, source })?;
        Ok(FileWriter {
            dataset: self,
            plan,
            writer,
            next: 0,
            ids: BTreeSet::new(),
            counts: Counts::default(),
            funnel: Funnel::default(),
            worlds: BTreeMap::new(),
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
        let path = self.dataset.folder.join(&self.plan.name);
        let part = self.writer.finish().map_err(|source| at_path(source, &path))?;
        let sidecar = Sidecar {
            schema_version: SCHEMA_VERSION,
            file: self.plan.name.clone(),
            fingerprint: part.commit()?,
            counts: self.counts,
            funnel: self.funnel,
            worlds: self.worlds,
        };
        sidecar.write(&self.dataset.folder, self.plan)?;
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
        for row in batch.rows {
            self.check(batch.batch, &row)?;
            self.counts.count(&row);
            if !self.worlds.contains_key(&row.world_id) {
                self.worlds.insert(row.world_id.clone(), row.world_hash.clone());
            }
            self.writer
                .write(row)
                .map_err(|source| at_path(source, &self.dataset.folder.join(&self.plan.name)))?;
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
        let known = match self.worlds.get(&row.world_id) {
            Some(hash) => *hash == row.world_hash,
            None => self.dataset.state().worlds.get(&row.world_id) == Some(&row.world_hash),
        };
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

/// Gives a write error its file; a full disk is said in the disk's words.
fn at_path(source: WriteError, path: &std::path::Path) -> DatasetError {
    match source {
        WriteError::Parquet(ParquetError::External(inner)) => match inner.downcast::<std::io::Error>() {
            Ok(source) => DiskError { doing: "write", path: path.to_owned(), source: *source }.into(),
            Err(inner) => DatasetError::Rows {
                path: path.to_owned(),
                source: WriteError::Parquet(ParquetError::External(inner)),
            },
        },
        source => DatasetError::Rows { path: path.to_owned(), source },
    }
}
