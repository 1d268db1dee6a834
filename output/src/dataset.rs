//! Writes a dataset, whole, sharded or resumed. The bytes are the same in all cases.
//!
//! The caller makes rows; this module writes files. A [`DatasetWriter`] opens the location, lists the files
//! still to be made, and writes card and manifest after the last file. [`drive`](DatasetWriter::drive) runs
//! all of it over threads. Until the dataset is complete, the location has a folder `.progress` beside
//! `data`:
//!
//! - `run.json`: the record of the run. Other runs, shards and `--resume` compare themselves with it.
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
