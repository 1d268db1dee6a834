//! Reads a finished dataset: its manifest and rows, and the check of both.
//!
//! This is the half of `verify` that needs no world. [`Folder::check_files`] compares bytes.
//! [`Folder::check_row`] and a [`Tally`] compare rows with the manifest. The caller replays rows, and reads
//! the parts on any number of threads:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use diorama_output::folder::{Folder, Tally};
//!
//! let storage = diorama_output::storage::Storage::local("dataset".as_ref());
//! let folder = Folder::open(storage)?;
//! let mut failures = folder.check_files();
//! let mut tally = Tally::default();
//! for part in folder.parts()? {
//!     let mut own = Tally::default(); // one per thread, added up below
//!     for row in folder.read(&part)? {
//!         let row = row?;
//!         failures.extend(folder.check_row(&part.file, &row));
//!         own.count(&part.file, &row);
//!     }
//!     tally.add(own);
//! }
//! failures.extend(folder.check_tally(&tally));
//! # Ok(())
//! # }
//! ```

mod check;
mod open;
pub(crate) mod select;
#[cfg(test)]
pub(crate) mod tests;

pub use check::Tally;
pub use open::*;
pub use select::{NoSuchRows, Selection};
