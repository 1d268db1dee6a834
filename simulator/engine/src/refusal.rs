//! Refusals: the reasons for failed calls, and their problem bodies.

use diorama_seeds::value::{Str, Value};

use super::reply::{Body, Reply};

/// The reason for which a call failed without a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The reason, for people.
    pub detail: String,
    /// The wrong parameter.
    pub parameter: Option<Str>,
    /// The expected value.
    pub expected: Option<String>,
    /// True if an expression has no result, whoever caused it.
    pub(super) is_uncomputed: bool,
}

/// The result type of the engine's functions.
pub(super) type Outcome<T> = Result<T, Refusal>;

impl Refusal {
    /// Makes a refusal with a status and a reason.
    pub fn new(status: u16, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), parameter: None, expected: None, is_uncomputed: false }
    }

    /// Returns true if the refusal shows a defect of the world. Valid arguments must not cause one.
    pub(super) const fn is_fault(&self) -> bool {
        self.is_uncomputed || self.status >= 500
    }

    /// Sets the wrong parameter.
    pub(super) fn about(mut self, parameter: Option<&Str>) -> Self {
        self.parameter = parameter.cloned();
        self
    }

    /// Sets the expected value.
    pub(super) fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Returns the problem document, with the member names of RFC 9457.
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

/// Returns the reason phrase of a status.
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
