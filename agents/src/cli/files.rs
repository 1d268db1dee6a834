//! Owns the access to files and datasets on the command line.

use std::io::{self, Read as _};
use std::path::Path;

use diorama_output::folder::Folder;
use diorama_output::storage::{Location, Storage};

use super::error::CliError;

/// Maximum length of a file that is read as a whole, in bytes.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// Reads a file.
///
/// # Errors
/// Returns an error if the file cannot be read, or is too long.
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

/// Opens a location for a dataset. Settings and credentials of object stores come from the environment.
///
/// # Errors
/// Returns an error if a setting is invalid.
pub(crate) fn open_storage(location: &Location) -> Result<Storage, CliError> {
    let text = |(key, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((key.into_string().ok()?, value.into_string().ok()?))
    };
    Storage::open(location, std::env::vars_os().filter_map(text)).map_err(CliError::Storage)
}

/// Opens a finished dataset.
///
/// # Errors
/// Returns an error if the location has no readable manifest.
pub(crate) fn open_dataset(location: &Location) -> Result<Folder, CliError> {
    let named = location.to_string();
    if !named.contains("://") && !Path::new(&named).is_dir() {
        return Err(CliError::Empty(format!("found no folder `{named}`, expected that of a dataset")));
    }
    Ok(Folder::open(open_storage(location)?)?)
}
