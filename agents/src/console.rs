//! Owns the views of datasets and stored runs for the console, which itself reads no files and no Parquet.

mod rows;
mod runs;
mod steps;
mod turns;

pub(crate) use self::rows::{DatasetRows, summarise};
pub(crate) use self::runs::StoredRuns;
