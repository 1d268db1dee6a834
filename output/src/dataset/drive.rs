//! Drives all pending files over several threads, in bounded memory.
//!
//! A pool makes batches of rows with their structured rows. The calling thread writes them in row order.
//! Workers may be at most [`AHEAD`] batches per thread ahead of the writer, so finished batches do not pile
//! up behind a slow one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, sync_channel};

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

use super::error::DatasetError;
use super::file::{BatchRows, PreparedBatch};
use super::writer::DatasetWriter;
use crate::plan::Batch;

/// Maximum number of batches per thread ahead of the writer.
const AHEAD: usize = 4;

/// The reason for which the drive ended early.
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
    /// A worker thread ended early.
    #[error("a thread ended before its batches were made")]
    Worker,
}

impl DatasetWriter {
    /// Makes all pending files. `make` returns the rows of a batch as a function of the batch alone, on any
    /// of `threads` threads. `progress` is called after each batch, in row order and on the calling thread,
    /// with the number of settled rows. A row is settled if it is written or exhausted.
    ///
    /// # Errors
    /// Returns the first error of `make` or of a file. Earlier files stay, and a resumed run keeps them.
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
                    // After the drive has ended, batches are no longer needed.
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

    /// Writes the rows of all batches of the pending files. `next` returns them in order.
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
