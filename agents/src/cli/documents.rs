//! Owns the documents of folders: their search, their names, and the hidden command that reads one.

pub mod find;
pub mod names;
pub mod several;

use std::io::Read as _;

use super::error::CliError;
use super::{CommandEnd, Streams};
use crate::isolation::worker;

/// Answers the request about a document on stdin.
///
/// # Errors
/// Returns an error if stdin cannot be read, or if it holds no request.
pub(super) fn answer(streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
    let mut request = Vec::new();
    std::io::stdin().lock().read_to_end(&mut request)?;
    streams.out.write_all(&worker::answer_on_thread(request)?)?;
    streams.out.flush()?;
    Ok(CommandEnd::Met)
}
