//! Errors of the store, with messages that say what to do.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::node::shortened;
use crate::problem::{Kind, Problem};

/// The reason for which sessions cannot be stored or restored.
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
    /// Another server uses the folder.
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
    /// The database failed.
    #[error("the state folder: {}", told(.0))]
    Store(#[from] fjall::Error),
    /// The folder cannot be written for now.
    #[error("the state folder {} cannot be written to ({why})", path.display())]
    Unwritable {
        /// The folder.
        path: PathBuf,
        /// The operating system's message.
        why: String,
    },
    /// The content of the folder is unknown.
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
    /// The folder lacks data that was written.
    #[error(
        "the state folder {} lacks what was written to it: {what}. A file of it was cut short, damaged or deleted, or the \
         machine stopped while it ran without --fsync. Restore the folder from a copy, or start once with --accept-loss \
         to go on with what is left",
        path.display()
    )]
    Missing {
        /// The folder.
        path: PathBuf,
        /// The missing amount, and the sessions that lack it.
        what: String,
    },
    /// An entry has a form that this version does not write.
    #[error("{what} of the state folder cannot be read: {found}")]
    Damaged {
        /// The entry.
        what: String,
        /// The problem with it.
        found: String,
    },
    /// This server cannot continue a session.
    #[error("session {id} of the state folder was recorded with {expected}, found {found}; {hint}")]
    Other {
        /// The short id of the session.
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
    /// Returns the problem of a request that had no effect because the journal failed.
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

/// Returns true if a write failed for lack of space. Such a write has no effect.
pub(super) fn is_full(error: &fjall::Error) -> bool {
    let kinds = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded];
    matches!(error, fjall::Error::Io(error) if kinds.contains(&error.kind()))
}

/// Returns the message of a database error for readers who do not know the database.
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

/// Returns the short form of a session id, or the start of another string.
pub(super) fn short(id: &str) -> String {
    shortened(id).unwrap_or_else(|| id.chars().take(8).collect())
}

pub(super) fn damaged(what: &str, found: &str) -> StoreError {
    StoreError::Damaged { what: short(what), found: found.to_owned() }
}
