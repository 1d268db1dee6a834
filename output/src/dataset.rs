//! Writing a dataset: whole, sharded or resumed, with the same bytes in the end.
//!
//! The caller makes rows; this makes files. A [`DatasetWriter`] opens the location, says which files are still to be
//! made, and writes card and manifest when all files are there. [`drive`](DatasetWriter::drive) runs
//! the whole of it over threads. Until the dataset is complete it has a `.progress` folder beside `data`:
//!
//! - `run.json`: what the run is, so that other runs, shards and `--resume` can tell whether they are the same one;
//! - `{file}.json`: one per finished file, with its checksum, counts and funnel;
//! - `shard-{i}-of-{k}.json`: the marker of a finished shard, with all of that; [`merge`](crate::merge) reads markers;
//! - `shard-{i}-of-{k}.lock`: held while a process writes into a local folder.

mod drive;
mod error;
mod file;
mod finish;
mod progress;
#[cfg(test)]
mod tests;
mod writer;

pub use drive::DriveError;
pub use error::{DatasetError, PROGRESS};
pub use file::{BatchRows, FileWriter, PreparedBatch};
pub(crate) use finish::{assemble, check_world_hashes};
pub use progress::{ShardRecord, Sidecar, Summary};
pub use writer::{DatasetWriter, Options, Start};
