//! Documents of folders: which files they are, what they are called, and the hidden command that reads one.

pub mod find;
pub mod names;
pub mod several;

use std::io::Read as _;

use super::error::CliError;
use super::{Done, Streams};
use crate::isolation::worker;

/// Answers the request about a document that stands on stdin.
///
/// # Errors
/// When the request cannot be read, or is none.
pub(super) fn answer(streams: &mut Streams<'_>) -> Result<Done, CliError> {
    let mut request = Vec::new();
    std::io::stdin().lock().read_to_end(&mut request)?;
    streams.out.write_all(&worker::answer_on_thread(request)?)?;
    streams.out.flush()?;
    Ok(Done::Met)
}
