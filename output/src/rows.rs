//! Rows as Parquet, and back, exactly.
//!
//! The same rows give the same bytes: the writer's settings are fixed, its name carries no build, and no time
//! stands in a file. Readers take files from anywhere: whatever is in them, they return rows or an error.

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
