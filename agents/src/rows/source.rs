//! Defines sources of rows: one trait for every command that makes a dataset, and the one way to write their
//! rows.

use diorama_output::dataset::{BatchRows, DatasetWriter, DriveError};
use diorama_output::plan::Batch;

/// Makes rows, batch by batch. The rows of a batch are a function of the source and the batch.
pub trait RowSource: Sync {
    /// The error of a batch that cannot be made.
    type Error: Send;

    /// Makes the rows of a batch with their worlds, on any thread.
    ///
    /// # Errors
    /// Returns an error if its world cannot be made, or the run cannot go on.
    fn make_batch(&self, batch: &Batch) -> Result<BatchRows, Self::Error>;
}

/// Makes all pending files of a dataset on several threads. `progress` receives the number of settled rows.
///
/// # Errors
/// Returns the first error of the source or of a file. Finished files stay, and a resumed run keeps them.
pub fn write_rows<S: RowSource>(
    source: &S,
    writer: &DatasetWriter,
    threads: usize,
    progress: impl FnMut(u64),
) -> Result<(), DriveError<S::Error>> {
    writer.drive(threads, |batch| source.make_batch(batch), progress)
}
