//! Owns the settings of a server, and their defaults.

use std::time::Duration;

use super::world::auth::Auth;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Absolute URL under which clients reach the server, without a final slash.
    pub public_url: String,
    /// Token that the admin API requires in `Diorama-Token`. None leaves it open.
    pub control_token: Option<String>,
    /// Maximum length of a request's body, in bytes.
    pub max_body_bytes: usize,
    /// Maximum number of concurrent connections.
    pub max_connections: usize,
    /// Maximum number of concurrent connections of one address. The default is half of all.
    pub max_connections_per_address: Option<usize>,
    /// Maximum time for the first request of a connection.
    pub first_request_timeout: Duration,
    /// Maximum time without progress while a reply is written, for example after its reader has gone.
    pub write_timeout: Duration,
    /// Maximum time for a request's body to arrive.
    pub body_timeout: Duration,
    /// Strictness of the checks of credentials.
    pub auth: Auth,
    /// True if the only world has a session at the root.
    pub default_session: bool,
    /// Limits of its sessions, and their folder.
    pub sessions: diorama_sessions::Settings,
}

/// Default maximum length of a request's body, in bytes.
pub const MAX_BODY_BYTES: usize = 1 << 20;
/// Default maximum number of concurrent connections.
pub const MAX_CONNECTIONS: usize = 4_096;
/// Default maximum time for the first request of a connection.
pub const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Default maximum time for a request's body to arrive.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Default maximum time without progress while a reply is written.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
impl Settings {
    /// Returns the default settings, with the admin API open.
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

    /// Returns the maximum number of concurrent connections of one address.
    pub(super) fn connections_per_address(&self) -> usize {
        self.max_connections_per_address.unwrap_or(self.max_connections / 2).max(1)
    }
}
