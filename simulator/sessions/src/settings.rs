//! Owns the limits of sessions, and their defaults.

use std::path::PathBuf;
use std::time::Duration;

use super::node::Node;

/// Default maximum number of sessions.
pub const MAX_SESSIONS: usize = 10_000;
/// Default maximum number of calls of a session between resets.
pub const MAX_CALLS: usize = 10_000;
/// Default maximum bytes of a session.
pub const MAX_SESSION_BYTES: u64 = 64 << 20;
/// Default maximum bytes of all sessions.
pub const MAX_BYTES: u64 = 4 << 30;
/// Default maximum bytes of the reply to a batch, or of a page of a log.
pub const MAX_REPLY_BYTES: u64 = 64 << 20;
/// Default number of events of a session between two snapshots.
pub(crate) const SNAPSHOT_EVENTS: u64 = 256;

/// The limits of a server's sessions, and their state folder.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The server's name in a cluster, which its session ids contain. None for a single server.
    pub node: Option<Node>,
    /// Maximum number of sessions.
    pub max_sessions: usize,
    /// Maximum number of calls of a session between resets. Its whole log is kept.
    pub max_calls: usize,
    /// Maximum bytes of a session beside its world: changed records, calls and messages.
    pub max_session_bytes: u64,
    /// Maximum bytes of all sessions and unsent replies. Bytes that forks share count once.
    pub max_bytes: u64,
    /// Maximum bytes of a batch reply, of a page of a log, of an export, and of the replies that a grade
    /// reads.
    pub max_reply_bytes: u64,
    /// Maximum number of calls of a session per second. None means no limit.
    pub max_calls_per_s: Option<u32>,
    /// Time without a request until a session without its own lease is closed. None means never.
    pub lease: Option<Duration>,
    /// The folder from which sessions survive a restart. Without it they do not.
    pub state: Option<StateFolder>,
}

/// The folder in which sessions are journalled.
#[derive(Clone, Debug)]
pub struct StateFolder {
    /// The path. The server creates the folder if it is missing.
    pub path: PathBuf,
    /// True if a reply waits until its writes are on the disk, not only in the operating system.
    pub fsync: bool,
    /// True if the server continues with the remains of a damaged folder.
    pub accept_loss: bool,
    /// Minimum number of events of a session between two snapshots.
    pub snapshot_events: u64,
}

impl StateFolder {
    /// Makes the folder at a path, with defaults.
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
    /// Returns the name of the node, if it has one.
    pub(crate) fn node(&self) -> Option<&str> {
        self.node.as_ref().map(Node::as_str)
    }
}
