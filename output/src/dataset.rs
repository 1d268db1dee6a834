//! Writing a dataset's folder: whole, sharded or resumed, with the same bytes in the end.
//!
//! The caller makes rows; this makes files. A [`DatasetWriter`] opens the folder, says which files are still to be
//! made, takes worlds, and writes card and manifest when all files are there. [`drive`](DatasetWriter::drive) runs
//! the whole of it over threads. While a folder is being written it has a `.progress` folder beside `data`:
//!
//! - `run.json`: what the run is, so that `--resume` can tell whether it is the same one;
//! - `{file}.json`: one per finished file, with its checksum, counts and funnel;
//! - `lock`: held while a process writes.

mod drive;
mod error;
mod file;
mod finish;
mod progress;
#[cfg(test)]
mod tests;
mod writer;

pub use drive::{DriveError, Progress};
pub use error::{DatasetError, PROGRESS};
pub use file::{BatchRows, FileWriter};
pub(crate) use finish::{assemble, one_hash_per_world};
pub use progress::{ShardRecord, Sidecar, Summary};
pub use writer::{DatasetWriter, Options, Start};
