//! Errors of storage.

use std::io;

/// Maximum number of entries in a folder. A dataset has one per file, which is far less.
pub(super) const MAX_ENTRIES: usize = 1_000_000;

/// A failed operation on a file or folder.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {place}: {cause}")]
pub struct StorageError {
    /// The operation that failed: `write`, `read`, `list`.
    pub doing: &'static str,
    /// The file or folder, by its full name.
    pub place: String,
    /// The reason.
    pub cause: Cause,
}

/// The reason for a failure.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The file system refused.
    #[error("{0}{hint}", hint = io_hint(.0))]
    Io(#[from] io::Error),
    /// The bucket or the object does not exist.
    #[error("no such bucket, or no such object in it; make the bucket first, and check its name")]
    NotFound,
    /// The credentials are missing or insufficient.
    #[error(
        "the store refuses the credentials ({0}); set its own in the environment (AWS_..., GOOGLE_... or AZURE_...), with the right to list, read, write and delete"
    )]
    Refused(String),
    /// The store's message, without credentials.
    #[error("{0}; run the same command again when the store answers")]
    Store(String),
    /// A setting of the store is wrong.
    #[error("{0}; see the settings of object stores in docs/how-to/millions-of-rows.md")]
    Setting(String),
    /// The folder has too many entries.
    #[error("it has more than {MAX_ENTRIES} entries, or a listing of it has no end")]
    TooMany,
    /// The file is too large.
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
}

fn io_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; free some space and run the same command again with --resume",
        io::ErrorKind::PermissionDenied => "; choose a folder you may write to",
        _ => "",
    }
}
