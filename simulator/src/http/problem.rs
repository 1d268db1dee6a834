//! Problem documents (RFC 9457): every error of the server has one form.

use axum::body::Body;
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{Method, Response, StatusCode};
use axum::response::IntoResponse;
use serde::Serialize;
use serde_json::{Value as Json, json};

use diorama_engine::refusal::Refusal;

/// The header that carries the key of a request that makes sessions.
pub(super) const KEY_HEADER: &str = "Idempotency-Key";

/// The media type of problem documents.
pub(super) const PROBLEM_JSON: &str = "application/problem+json";

/// The response of a handler, or the problem in its place.
pub(super) type Answer = Result<Response<Body>, Problem>;

/// An error that a caller is told about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    status: u16,
    detail: String,
    members: Vec<(&'static str, Json)>,
    allow: Option<String>,
    retry_after: Option<u32>,
    postponed: bool,
}

impl Problem {
    /// A problem of this status, with the found value, the expected one, and the remedy.
    #[must_use]
    pub fn new(status: u16, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            members: Vec::new(),
            allow: None,
            retry_after: None,
            postponed: false,
        }
    }

    /// The request may take longer than a thread of the runtime may be held, or has to wait. Nothing was done; another thread answers it.
    pub(super) fn postponed() -> Self {
        Self { postponed: true, ..Self::new(503, "the server is busy; try again") }
    }

    /// Returns true if another thread is to answer the request.
    pub(super) const fn is_postponed(&self) -> bool {
        self.postponed
    }

    /// No id can be made.
    pub(super) fn no_random(error: std::io::Error) -> Self {
        Self::new(500, format!("the machine gives no random bytes: {error}"))
    }

    /// The found value, the expected one, and the remedy.
    #[must_use]
    pub fn detail(&self) -> &str {
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

    /// Returns true if another request has the key that this one comes with.
    #[must_use]
    pub fn is_about_key(&self) -> bool {
        self.members.iter().any(|(name, value)| *name == "parameter" && value == KEY_HEADER)
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

    /// The status, as HTTP has it.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// The problem as a document.
    #[must_use]
    pub fn body(&self) -> Json {
        let mut body = json!({
            "type": "about:blank",
            "title": title(self.status),
            "status": self.status,
            "detail": self.detail,
        });
        if let Json::Object(members) = &mut body {
            let own = self.members.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            members.extend(own);
        }
        body
    }

    pub(super) fn respond(self, kind: &'static str, body: &Json) -> Response<Body> {
        let mut response = text(self.status, kind, body.to_string());
        if let Some(allow) = self.allow.and_then(|allow| HeaderValue::from_str(&allow).ok()) {
            response.headers_mut().insert(ALLOW, allow);
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let body = self.body();
        self.respond(PROBLEM_JSON, &body)
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
pub(super) fn reply(status: u16, body: &impl Serialize) -> Response<Body> {
    match serde_json::to_string(body) {
        Ok(body) => text(status, "application/json", body),
        Err(error) => Problem::new(500, format!("the reply cannot be written: {error}")).into_response(),
    }
}

/// A response of a text.
pub(super) fn text(status: u16, kind: &'static str, mut body: String) -> Response<Body> {
    // A body that waits for its reader takes what it is counted for, and not up to twice as much.
    body.shrink_to_fit();
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

/// The refusal of a method.
pub(super) fn not_allowed(method: &Method, allow: String) -> Problem {
    let shown: String = method.as_str().chars().take(20).collect();
    Problem::new(405, format!("found {shown}, expected one of {allow}")).allowing(allow)
}
