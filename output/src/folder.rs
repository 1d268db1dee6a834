//! A finished dataset's folder, read: its manifest, its rows, and whether all of it is as the manifest says.
//!
//! This is the half of `verify` that needs no world: [`Folder::check_files`] compares bytes, [`Folder::check_row`] and
//! a [`Tally`] compare rows with the manifest. Replaying is the caller's; it reads the rows part by part, on as many
//! threads as it likes:
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
