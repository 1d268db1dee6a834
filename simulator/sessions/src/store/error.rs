//! Why sessions cannot be written down or read again, in words that say what to do.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::node::shortened;
use crate::problem::{Kind, Problem};

/// Why sessions cannot be written down or read again.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be opened.
    #[error(
        "the state folder {} cannot be opened: {why}; restore it from a copy, or start with another --state folder",
        path.display()
    )]
    Opening {
        /// The folder.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// The folder is another server's.
    #[error("the state folder {} is in use by another server; end that one, or start with another --state folder", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The folder belongs to another node.
    #[error(
        "the state folder {} belongs to {}, found {}; start with {}, or with another --state folder",
        path.display(), named(owner), named(found), flag(owner)
    )]
    OtherNode {
        /// The folder.
        path: PathBuf,
        /// The name of its node; empty for a server without one.
        owner: String,
        /// The name of this node; empty for a server without one.
        found: String,
    },
    /// The database itself.
    #[error("the state folder: {}", told(.0))]
    Store(#[from] fjall::Error),
    /// The folder cannot be written to for the time being.
    #[error("the state folder {} cannot be written to ({why})", path.display())]
    Unwritable {
        /// The folder.
        path: PathBuf,
        /// The operating system's message.
        why: String,
    },
    /// It is not known what the folder holds.
    #[error(
        "the disk did not confirm what was written to the state folder {} ({why}). The server has ended, because the disk may lack it, and \
         answers that build on it would be lost too. Check the disk and start again: the start says if the folder lacks anything",
        path.display()
    )]
    Unconfirmed {
        /// The folder.
        path: PathBuf,
        /// The operating system's message.
        why: String,
    },
    /// The folder is not open.
    #[error("the state folder is not open")]
    Closed,
    /// Data that was written once is missing.
    #[error(
        "the state folder {} lacks what was written to it: {what}. A file of it was cut short, damaged or deleted, or the \
         machine stopped while it ran without --fsync. Restore the folder from a copy, or start once with --accept-loss \
         to go on with what is left",
        path.display()
    )]
    Missing {
        /// The folder.
        path: PathBuf,
        /// How much, and of which sessions.
        what: String,
    },
    /// An entry that is not what this version writes.
    #[error("{what} of the state folder cannot be read: {found}")]
    Damaged {
        /// Which entry.
        what: String,
        /// The problem with it.
        found: String,
    },
    /// A session that this server cannot continue.
    #[error("session {id} of the state folder was recorded with {expected}, found {found}; {hint}")]
    Other {
        /// The session, in short.
        id: String,
        /// The expected value.
        expected: String,
        /// The found value.
        found: String,
        /// The remedy.
        hint: &'static str,
    },
}

fn named(node: &str) -> String {
    if node.is_empty() { "a server without --node".to_owned() } else { format!("node `{node}`") }
}

fn flag(node: &str) -> String {
    if node.is_empty() { "no --node".to_owned() } else { format!("--node {node}") }
}

impl StoreError {
    /// Returns the problem of a request that was not carried out, because it could not be written down.
    pub(crate) fn problem(&self) -> Problem {
        if matches!(self, Self::Unwritable { .. }) {
            let detail = format!("{self}, so nothing is done; the server goes on by itself once it can");
            return Problem::new(Kind::Unavailable, detail).retry_in(1);
        }
        if matches!(self, Self::Unconfirmed { .. }) {
            let detail = "the disk did not confirm what was written to the state folder, so nothing is done and the server ends; \
                          start it again";
            return Problem::new(Kind::Unavailable, detail);
        }
        tracing::error!(error = %self, "the state folder");
        let detail = "the state folder cannot be read, so nothing was done; see the server's log";
        Problem::new(Kind::Failed, detail)
    }

    pub(super) fn opening(path: &Path, why: &dyn std::fmt::Display) -> Self {
        Self::Opening { path: path.to_owned(), why: why.to_string() }
    }

    pub(super) fn of_opening(path: &Path, error: &fjall::Error) -> Self {
        match error {
            fjall::Error::Locked => Self::Locked { path: path.to_owned() },
            error => Self::opening(path, &told(error)),
        }
    }
}

/// Returns true if there was no room for a write: nothing of it was taken.
pub(super) fn is_full(error: &fjall::Error) -> bool {
    let kinds = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded];
    matches!(error, fjall::Error::Io(error) if kinds.contains(&error.kind()))
}

/// The message of a database error for people who do not know the database.
pub(super) fn told(error: &fjall::Error) -> String {
    use fjall::Error::{InvalidVersion, Io, JournalRecovery, Locked, Poisoned};
    match error {
        Io(error) => error.to_string(),
        Poisoned => "an earlier write failed".to_owned(),
        Locked => "it is in use by another server".to_owned(),
        JournalRecovery(_) => "its journal is damaged".to_owned(),
        InvalidVersion(_) => {
            "another version of the program wrote it, or its version file is damaged".to_owned()
        }
        _ => "a file of it is damaged or missing".to_owned(),
    }
}

pub(super) fn json(value: &impl Serialize, what: &str) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| damaged(what, &error.to_string()))
}

pub(super) fn parse<T: DeserializeOwned>(text: &[u8], id: &str) -> Result<T, StoreError> {
    serde_json::from_slice(text).map_err(|error| damaged(id, &error.to_string()))
}

/// A session's id as messages show it, and the start of any other text.
pub(super) fn short(id: &str) -> String {
    shortened(id).unwrap_or_else(|| id.chars().take(8).collect())
}

pub(super) fn damaged(what: &str, found: &str) -> StoreError {
    StoreError::Damaged { what: short(what), found: found.to_owned() }
}
