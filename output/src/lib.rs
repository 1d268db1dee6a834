//! The dataset format: reads and writes datasets.
//!
//! Owns the row ([`row::Dialogue`]), its Parquet form ([`rows`]), the plan of rows, batches and files ([`plan`]),
//! writing with resume and shards ([`dataset`]), [`merge`], the manifest and the dataset card, the integrity half
//! of `verify` ([`folder`]), [`stats`] and [`export`]. It must not run a call, grade, read the machine's clock or
//! put a path, a timing or a number of threads into any file.

pub mod card;
pub mod columns;
pub mod dataset;
pub mod documents;
pub mod export;
pub mod folder;
pub mod funnel;
pub mod manifest;
pub mod merge;
mod older;
pub mod plan;
pub mod row;
pub mod rows;
pub mod skeleton;
pub mod stats;
pub mod storage;
