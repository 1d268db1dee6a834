//! Problem documents (RFC 9457): every error of the server has one form.

use axum::body::Body;
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use serde_json::{Value as Json, json};

use crate::engine::Reply;
use crate::engine::refusal::Refusal;

/// The media type of problem documents.
pub(super) const PROBLEM_JSON: &str = "application/problem+json";

/// An error that a caller is told about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    status: u16,
    detail: String,
    members: Vec<(&'static str, Json)>,
    allow: Option<String>,
    retry_after: Option<u32>,
}

impl Problem {
    pub(super) fn new(status: u16, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), members: Vec::new(), allow: None, retry_after: None }
    }

    /// What was found, what was expected, what to do.
    pub(super) fn detail(&self) -> &str {
        &self.detail
    }

    /// Adds a member beside those of RFC 9457.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<Json>) -> Self {
        self.members.push((name, value.into()));
        self
    }

    /// A member of the request that is wrong.
    pub(super) fn about(parameter: &str, expected: &str, found: impl std::fmt::Display) -> Self {
        Self::new(422, format!("`{parameter}`: expected {expected}, found {found}"))
            .with("parameter", parameter)
            .with("expected", expected)
    }

    /// Says when to try again, in seconds.
    pub(super) const fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The methods that the resource has, for 405.
    pub(super) fn allowing(mut self, methods: String) -> Self {
        self.allow = Some(methods);
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let mut body = json!({
            "type": "about:blank",
            "title": title(self.status),
            "status": self.status,
            "detail": self.detail,
        });
        if let Json::Object(members) = &mut body {
            members.extend(self.members.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        let mut response = text(self.status, PROBLEM_JSON, body.to_string());
        if let Some(allow) = self.allow.and_then(|allow| HeaderValue::from_str(&allow).ok()) {
            response.headers_mut().insert(ALLOW, allow);
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let mut problem = Self::new(refusal.status, refusal.detail);
        if let Some(parameter) = refusal.parameter {
            problem = problem.with("parameter", &*parameter);
        }
        if let Some(expected) = refusal.expected {
            problem = problem.with("expected", expected);
        }
        problem
    }
}

/// A JSON response.
pub(super) fn reply(status: u16, body: &Json) -> Response<Body> {
    text(status, "application/json", body.to_string())
}

/// A world's reply as it stands; an error as a problem document.
pub(super) fn of_world(reply: &Reply, body: String) -> Response<Body> {
    if reply.status == 204 {
        return text(204, "application/json", String::new());
    }
    let kind = if reply.is_success() { "application/json" } else { PROBLEM_JSON };
    let mut response = text(reply.status, kind, body);
    if reply.status == 401 {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// A response of a text.
pub(super) fn text(status: u16, kind: &'static str, body: String) -> Response<Body> {
    // A world may declare any status; one that HTTP has no room for is the world's error.
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(if body.is_empty() { Body::empty() } else { Body::from(body) });
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn title(status: u16) -> &'static str {
    StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error")
}
