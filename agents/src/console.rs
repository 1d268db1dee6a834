//! Datasets and stored runs as the console shows them. The console knows no files and no Parquet.

mod rows;
mod runs;
mod steps;
mod turns;

pub(crate) use self::rows::DatasetRows;
pub(crate) use self::runs::StoredRuns;
