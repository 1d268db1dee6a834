//! Converts rows to Parquet and back, without loss.
//!
//! The same rows give the same bytes. The writer's settings are fixed, its name has no build, and files have
//! no time. Readers accept any file and return rows or an error.

mod check;
mod decode;
mod encode;
mod reader;
mod worlds;
mod writer;

pub use decode::{ColumnError, Place, RowHead};
pub use reader::{ReadError, RowFile, Rows};
pub(crate) use worlds::WorldFile;
pub use worlds::WorldWriter;
pub use writer::{CREATED_BY, RowWriter, WriteError};

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
