//! Sources of rows: one trait for every command that makes a dataset, and the one way in which what they make is written.

use diorama_output::dataset::{BatchRows, DatasetWriter, DriveError};
use diorama_output::plan::Batch;

/// Makes rows, batch by batch: what a batch gives is a function of the source and the batch.
pub trait RowSource: Sync {
    /// Why a batch cannot be made.
    type Error: Send;

    /// Makes the rows of a batch with their worlds, on any thread.
    ///
    /// # Errors
    /// When its world cannot be made, or the run cannot go on.
    fn make_batch(&self, batch: &Batch) -> Result<BatchRows, Self::Error>;
}

/// Makes all pending files of a dataset on several threads. `progress` hears how many rows are settled.
///
/// # Errors
/// The first error of the source or of a file. Files finished before it stay, and a run that resumes keeps them.
pub fn write_rows<S: RowSource>(
    source: &S,
    writer: &DatasetWriter,
    threads: usize,
    progress: impl FnMut(u64),
) -> Result<(), DriveError<S::Error>> {
    writer.drive(threads, |batch| source.make_batch(batch), progress)
}
