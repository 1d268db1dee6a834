//! Refusals: why a call did not happen, and the problem body that says so.

use diorama_seeds::value::{Str, Value};

use super::reply::{Body, Reply};

/// A call that ends without a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The reason, for people.
    pub detail: String,
    /// The parameter that is wrong.
    pub parameter: Option<Str>,
    /// What was expected instead.
    pub expected: Option<String>,
    /// An expression has no result, whoever caused that.
    pub(super) is_uncomputed: bool,
}

/// The result of the parts of the engine.
pub(super) type Outcome<T> = Result<T, Refusal>;

impl Refusal {
    /// A refusal with a status and a reason.
    pub fn new(status: u16, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), parameter: None, expected: None, is_uncomputed: false }
    }

    /// Returns true where the world is not sound, as its author sees it: fitting arguments must not meet this.
    pub(super) const fn is_fault(&self) -> bool {
        self.is_uncomputed || self.status >= 500
    }

    /// Says which parameter is wrong.
    pub(super) fn about(mut self, parameter: Option<&Str>) -> Self {
        self.parameter = parameter.cloned();
        self
    }

    /// Says what was expected instead.
    pub(super) fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// The problem document (members named as in RFC 9457).
    pub fn into_reply(self) -> Reply {
        let text = |text: &str| Body::constant(Value::String(text.into()));
        let mut members: Vec<(Str, Body)> = Vec::with_capacity(5);
        members.push(("title".into(), text(title(self.status))));
        members.push(("status".into(), Body::constant(Value::Integer(i64::from(self.status)))));
        members.push(("detail".into(), Body::constant(Value::string(&self.detail))));
        if let Some(parameter) = self.parameter {
            members.push(("parameter".into(), Body::constant(Value::String(parameter))));
        }
        if let Some(expected) = self.expected {
            members.push(("expected".into(), Body::constant(Value::string(&expected))));
        }
        Reply::new(self.status, Body::Object(members))
    }
}

/// The reason phrase of a status.
const fn title(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        409 => "Conflict",
        410 => "Gone",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        423 => "Locked",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        451 => "Unavailable For Legal Reasons",
        500..=599 => "Internal Server Error",
        _ => "Refused",
    }
}
