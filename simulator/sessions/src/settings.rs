//! Limits of sessions, and their defaults.

use std::path::PathBuf;
use std::time::Duration;

use super::node::Node;

/// Sessions at a time, unless told otherwise.
pub const MAX_SESSIONS: usize = 10_000;
/// Calls of a session between resets, unless told otherwise.
pub const MAX_CALLS: usize = 10_000;
/// Bytes that a session may hold, unless told otherwise.
pub const MAX_SESSION_BYTES: u64 = 64 << 20;
/// Bytes that all sessions may hold, unless told otherwise.
pub const MAX_BYTES: u64 = 4 << 30;
/// Bytes of the reply to a batch or of a page of a log, unless told otherwise.
pub const MAX_REPLY_BYTES: u64 = 64 << 20;
/// Events of a session between two snapshots, unless told otherwise.
pub(crate) const SNAPSHOT_EVENTS: u64 = 256;

/// Limits of a server's sessions, and where they are written down.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The server's name among several, which the ids of its sessions carry; none where it is the only one.
    pub node: Option<Node>,
    /// Sessions at a time.
    pub max_sessions: usize,
    /// Calls of a session between resets: its log is kept whole.
    pub max_calls: usize,
    /// Bytes that a session may hold beside its world: changed records, calls, messages.
    pub max_session_bytes: u64,
    /// Bytes that all sessions may hold, what forks share counted once, with the replies that wait to be written.
    pub max_bytes: u64,
    /// Bytes of the reply to a batch, of a page of a log, of an export, and of the replies that a grade looks at.
    pub max_reply_bytes: u64,
    /// Calls of a session in a second; any number without it.
    pub max_calls_per_s: Option<u32>,
    /// How long a session lives that nobody asks for, unless it has a lease of its own; for ever without it.
    pub lease: Option<Duration>,
    /// Where sessions survive a restart; they do not without it.
    pub state: Option<StateFolder>,
}

/// Where sessions are written down.
#[derive(Clone, Debug)]
pub struct StateFolder {
    /// The folder; it is made where it is not there.
    pub path: PathBuf,
    /// True if a write is on the disk, and not only with the operating system, before it is answered.
    pub fsync: bool,
    /// True if the server goes on with what is left of a damaged folder.
    pub accept_loss: bool,
    /// The fewest events of a session between two snapshots of it.
    pub snapshot_events: u64,
}

impl StateFolder {
    /// Returns the folder at a path, with the defaults.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, fsync: false, accept_loss: false, snapshot_events: SNAPSHOT_EVENTS }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            node: None,
            max_sessions: MAX_SESSIONS,
            max_calls: MAX_CALLS,
            max_session_bytes: MAX_SESSION_BYTES,
            max_bytes: MAX_BYTES,
            max_reply_bytes: MAX_REPLY_BYTES,
            max_calls_per_s: None,
            lease: None,
            state: None,
        }
    }
}

impl Settings {
    /// The name of the node, where it has one.
    pub(crate) fn node(&self) -> Option<&str> {
        self.node.as_ref().map(Node::as_str)
    }
}
