//! Problem documents (RFC 9457): the single form of errors on all protocols of the server.

use std::fmt;

use serde_json::{Value as Json, json};

/// The header with the idempotency key of a creation request.
pub const KEY_HEADER: &str = "Idempotency-Key";

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The server cannot parse the request.
    Malformed,
    /// A credential is missing or wrong.
    Unauthorized,
    /// The sender lacks the permission.
    Forbidden,
    /// The requested item does not exist, or no longer.
    NotFound,
    /// The resource does not have the method.
    MethodNotAllowed,
    /// The server has no media type that the sender accepts.
    NotAcceptable,
    /// The request did not arrive in time.
    RequestTimeout,
    /// The state of the session or episode forbids it.
    Conflict,
    /// The body exceeds the limit.
    BodyTooLarge,
    /// The body has an unsupported media type.
    UnsupportedMediaType,
    /// The session lives on another server.
    Misdirected,
    /// A value is not an allowed one.
    Invalid,
    /// A limit is reached.
    TooMany,
    /// The server failed.
    Failed,
    /// The request needs something that this server lacks.
    NotImplemented,
    /// The server did nothing. The same request may succeed later.
    Unavailable,
    /// A fault lost the reply. The caller cannot know if the call was made.
    ReplyLost,
    /// A world refused the call with this status.
    World(u16),
}

impl Kind {
    /// Returns the HTTP status (RFC 9110, section 15).
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::NotAcceptable => 406,
            Self::RequestTimeout => 408,
            Self::Conflict => 409,
            Self::BodyTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Misdirected => 421,
            Self::Invalid => 422,
            Self::TooMany => 429,
            Self::Failed => 500,
            Self::NotImplemented => 501,
            Self::Unavailable => 503,
            Self::ReplyLost => 504,
            Self::World(status) => status,
        }
    }

    /// Returns the short text of the kind, which is the same for all its problems.
    const fn title(self) -> &'static str {
        match self {
            Self::Malformed => "Bad Request",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "Not Found",
            Self::MethodNotAllowed => "Method Not Allowed",
            Self::NotAcceptable => "Not Acceptable",
            Self::RequestTimeout => "Request Timeout",
            Self::Conflict => "Conflict",
            Self::BodyTooLarge => "Payload Too Large",
            Self::UnsupportedMediaType => "Unsupported Media Type",
            Self::Misdirected => "Misdirected Request",
            Self::Invalid => "Unprocessable Entity",
            Self::TooMany => "Too Many Requests",
            Self::Failed => "Internal Server Error",
            Self::NotImplemented => "Not Implemented",
            Self::Unavailable => "Service Unavailable",
            Self::ReplyLost => "Gateway Timeout",
            Self::World(400) => "Bad Request",
            Self::World(401) => "Unauthorized",
            Self::World(403) => "Forbidden",
            Self::World(404) => "Not Found",
            Self::World(409) => "Conflict",
            Self::World(422) => "Unprocessable Entity",
            Self::World(_) => "Error",
        }
    }
}

/// An error that a caller receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    kind: Kind,
    detail: String,
    members: Vec<(&'static str, Json)>,
    retry_after: Option<u32>,
}

impl Problem {
    /// Makes a problem. Its detail says what was found, what was expected, and what to do.
    #[must_use]
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), members: Vec::new(), retry_after: None }
    }

    /// Makes the problem of a system that provides no random bytes. Without them, no id can be made.
    #[must_use]
    pub fn no_random(error: std::io::Error) -> Self {
        Self::new(Kind::Failed, format!("the machine gives no random bytes: {error}"))
    }

    /// Makes the problem of a wrong request parameter.
    #[must_use]
    pub fn about(parameter: &str, expected: &str, found: impl fmt::Display) -> Self {
        Self::new(Kind::Invalid, format!("`{parameter}`: expected {expected}, found {found}"))
            .with("parameter", parameter)
            .with("expected", expected)
    }

    /// Adds a member beyond those of RFC 9457.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Json>) -> Self {
        self.members.push((name, value.into()));
        self
    }

    /// Sets the seconds after which the caller should retry.
    #[must_use]
    pub const fn retry_in(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Returns the seconds after which the caller should retry.
    #[must_use]
    pub const fn retry_after(&self) -> Option<u32> {
        self.retry_after
    }

    /// Returns the kind, which decides about the status.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.kind.status()
    }

    /// Returns what was found, what was expected, and what to do.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns true if another request used the same idempotency key.
    #[must_use]
    pub fn is_about_key(&self) -> bool {
        self.members.iter().any(|(name, value)| *name == "parameter" && value == KEY_HEADER)
    }

    /// Returns the problem document.
    #[must_use]
    pub fn body(&self) -> Json {
        let mut body = json!({
            "type": "about:blank",
            "title": self.kind.title(),
            "status": self.status(),
            "detail": self.detail,
        });
        if let Json::Object(members) = &mut body {
            let own = self.members.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            members.extend(own);
        }
        body
    }
}

/// Quotes a string from a request for a message: in backquotes, cut to `max_chars`.
#[must_use]
pub fn quoted(text: &str, max_chars: usize) -> String {
    format!("`{}`", text.chars().take(max_chars).collect::<String>())
}
