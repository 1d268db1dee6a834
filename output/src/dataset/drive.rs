//! All pending files over several threads, in bounded memory.
//!
//! A pool makes the rows of batches and their structured rows, and the calling thread writes them in row order. It only asks for a batch that is at
//! most [`AHEAD`] batches per thread ahead of the first unwritten one, so a slow batch cannot make finished ones pile up.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, sync_channel};

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

use super::error::DatasetError;
use super::file::{BatchRows, PreparedBatch};
use super::writer::DatasetWriter;
use crate::plan::Batch;

/// Batches that a thread may be ahead of the writer.
const AHEAD: usize = 4;

/// Why driving ended early.
#[derive(Debug, thiserror::Error)]
pub enum DriveError<E> {
    /// A batch could not be made.
    #[error(transparent)]
    Batch(E),
    /// A file could not be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The threads cannot be started.
    #[error("cannot start the threads that make rows: {0}; give fewer")]
    Threads(#[from] ThreadPoolBuildError),
    /// A thread that makes batches ended before its time.
    #[error("a thread ended before its batches were made")]
    Worker,
}

impl DatasetWriter {
    /// Makes all pending files. `make` gives the rows of a batch from the batch alone, on any of `threads` threads;
    /// `progress` hears on the calling thread, after each batch in row order, how many rows of this run are settled: written or exhausted.
    ///
    /// # Errors
    /// The first error of `make` or of a file. Files finished before it stay, and a run that resumes keeps them.
    pub fn drive<E: Send>(
        &self,
        threads: usize,
        make: impl Fn(&Batch) -> Result<BatchRows, E> + Sync,
        progress: impl FnMut(u64),
    ) -> Result<(), DriveError<E>> {
        let batches: Vec<&Batch> = self.pending().into_iter().flat_map(|file| &file.batches).collect();
        let threads = threads.clamp(1, batches.len().max(1));
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let ended = AtomicBool::new(false);
        pool.in_place_scope(|scope| {
            let start = |batch| {
                let (sender, receiver) = sync_channel(1);
                let (make, ended) = (&make, &ended);
                scope.spawn(move |_| {
                    // Once the drive has ended nobody reads what is made.
                    if !ended.load(Relaxed) {
                        let _ = sender.send(make(batch).map(PreparedBatch::from));
                    }
                });
                receiver
            };
            let mut batches = batches.into_iter();
            let mut started: VecDeque<Receiver<Result<PreparedBatch, E>>> = VecDeque::new();
            let next = || {
                let room = (threads * AHEAD).saturating_sub(started.len());
                started.extend(batches.by_ref().take(room).map(start));
                let first = started.pop_front().ok_or(DriveError::Worker)?;
                first.recv().map_err(|_| DriveError::Worker)?.map_err(DriveError::Batch)
            };
            let written = self.write_pending(next, progress);
            ended.store(true, Relaxed);
            written
        })
    }

    /// Writes the rows of all batches of the pending files, which come in order.
    fn write_pending<E>(
        &self,
        mut next: impl FnMut() -> Result<PreparedBatch, DriveError<E>>,
        mut progress: impl FnMut(u64),
    ) -> Result<(), DriveError<E>> {
        let mut settled = 0;
        for file in self.pending() {
            let mut writer = self.start_file(file)?;
            for _ in &file.batches {
                let batch = next()?;
                settled += writer.rows_of_batch(batch.made.batch);
                writer.submit(batch)?;
                progress(settled);
            }
            writer.finish()?;
        }
        Ok(())
    }
}
