//! Settings of a server, and their defaults.

use std::time::Duration;

use super::world::auth::Auth;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The absolute URL under which it is reached, without a final slash.
    pub public_url: String,
    /// The token that the admin API needs in `Diorama-Token`; open without it.
    pub control_token: Option<String>,
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
    /// How much of the worlds' security is checked.
    pub auth: Auth,
    /// True if the one world that is served has a session at the root.
    pub default_session: bool,
    /// Limits of its sessions, and where they are written down.
    pub sessions: diorama_sessions::Settings,
}

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
impl Settings {
    /// The usual bounds, with the admin API open.
    #[must_use]
    pub fn new(public_url: &str) -> Self {
        Self {
            public_url: public_url.trim_end_matches('/').to_owned(),
            control_token: None,
            max_body_bytes: MAX_BODY_BYTES,
            max_connections: MAX_CONNECTIONS,
            max_connections_per_address: None,
            first_request_timeout: FIRST_REQUEST_TIMEOUT,
            body_timeout: BODY_TIMEOUT,
            write_timeout: WRITE_TIMEOUT,
            auth: Auth::default(),
            default_session: false,
            sessions: diorama_sessions::Settings::default(),
        }
    }

    /// Connections of one address at a time.
    pub(super) fn connections_per_address(&self) -> usize {
        self.max_connections_per_address.unwrap_or(self.max_connections / 2).max(1)
    }
}
