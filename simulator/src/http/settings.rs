//! Settings of a server, and their defaults.

use std::path::PathBuf;
use std::time::Duration;

use super::auth::Auth;
use super::node::Node;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The absolute URL under which it is reached, without a final slash.
    pub public_url: String,
    /// Its name among several servers, which the ids of its sessions carry; none where it is the only one.
    pub node: Option<Node>,
    /// The token that the admin API needs in `Diorama-Token`; open without it.
    pub control_token: Option<String>,
    /// Sessions at a time.
    pub max_sessions: usize,
    /// Bytes of a request's body.
    pub max_body_bytes: usize,
    /// Connections at a time.
    pub max_connections: usize,
    /// Connections of one address at a time; half of all without it.
    pub max_connections_per_address: Option<usize>,
    /// How long a connection may take to send its first request.
    pub first_request_timeout: Duration,
    /// How long a reply's writing may make no progress, as when its reader is gone.
    pub write_timeout: Duration,
    /// How long a request's body may take to arrive.
    pub body_timeout: Duration,
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
    /// How much of the worlds' security is checked.
    pub auth: Auth,
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
}

/// Sessions at a time, unless told otherwise.
pub const MAX_SESSIONS: usize = 10_000;
/// Bytes of a request's body, unless told otherwise.
pub const MAX_BODY_BYTES: usize = 1 << 20;
/// Connections at a time, unless told otherwise.
pub const MAX_CONNECTIONS: usize = 4_096;
/// How long a connection may take to send its first request, unless told otherwise.
pub const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a request's body may take to arrive, unless told otherwise.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a reply's writing may make no progress, unless told otherwise.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Calls of a session between resets, unless told otherwise.
pub const MAX_CALLS: usize = 10_000;
/// Bytes that a session may hold, unless told otherwise.
pub const MAX_SESSION_BYTES: u64 = 64 << 20;
/// Bytes that all sessions may hold, unless told otherwise.
pub const MAX_BYTES: u64 = 4 << 30;
/// Bytes of the reply to a batch or of a page of a log, unless told otherwise.
pub const MAX_REPLY_BYTES: u64 = 64 << 20;

impl Settings {
    /// The usual bounds, with the admin API open.
    #[must_use]
    pub fn new(public_url: &str) -> Self {
        Self {
            public_url: public_url.trim_end_matches('/').to_owned(),
            node: None,
            control_token: None,
            max_sessions: MAX_SESSIONS,
            max_body_bytes: MAX_BODY_BYTES,
            max_connections: MAX_CONNECTIONS,
            max_connections_per_address: None,
            first_request_timeout: FIRST_REQUEST_TIMEOUT,
            body_timeout: BODY_TIMEOUT,
            write_timeout: WRITE_TIMEOUT,
            max_calls: MAX_CALLS,
            max_session_bytes: MAX_SESSION_BYTES,
            max_bytes: MAX_BYTES,
            max_reply_bytes: MAX_REPLY_BYTES,
            max_calls_per_s: None,
            lease: None,
            auth: Auth::default(),
            state: None,
        }
    }

    /// The name of the node, where it has one.
    pub(super) fn node(&self) -> Option<&str> {
        self.node.as_ref().map(Node::as_str)
    }

    /// Connections of one address at a time.
    pub(super) fn connections_per_address(&self) -> usize {
        self.max_connections_per_address.unwrap_or(self.max_connections / 2).max(1)
    }
}
