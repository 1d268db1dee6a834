//! Entries of listings, fingerprints of files, and locks.

use std::fs::File;

use serde::{Deserialize, Serialize};

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name below the listed folder, without `/`.
    pub name: String,
    /// The size in bytes; `None` for a folder.
    pub size: Option<u64>,
}

/// The size and the hash of a finished file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// Its size in bytes.
    pub size: u64,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub blake3: String,
}

/// The result of a lock request.
#[derive(Debug)]
pub enum Lock {
    /// The lock, held until the file is closed.
    Held(File),
    /// Another process holds the lock.
    Taken,
    /// The location has no locks. The user must avoid concurrent runs.
    Unsupported,
}
