//! Files named on the command line.

use std::io::{self, Read as _};
use std::path::Path;

use super::error::CliError;

/// Bytes of a file that is read whole, at most.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// Reads a file.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, CliError> {
    let read = || {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(io::Error::other(format!(
                "found more than {MAX_FILE_BYTES} bytes, expected a document"
            )));
        }
        Ok(bytes)
    };
    read().map_err(|source| CliError::Read { path: path.to_owned(), source })
}
