//! Owns the answers of the server's own API: typed replies, and problems in their place.

use axum::body::Body;
use axum::http::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{Method, Response, StatusCode};
use axum::response::IntoResponse;
use serde::Serialize;

use diorama_sessions::{Kind, PendingSteps, Problem};

use super::text::JSON;

/// Media type of problem documents.
pub(super) const PROBLEM_JSON: &str = "application/problem+json";

/// Reply of a handler, or the problem in its place.
pub(super) type Answer<T = Response<Body>> = Result<T, ProblemResponse>;

/// Problem as a response.
#[derive(Debug)]
pub(super) struct ProblemResponse(pub(super) Problem);

impl From<Problem> for ProblemResponse {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for ProblemResponse {
    fn into_response(self) -> Response<Body> {
        let body = self.0.body().to_string();
        respond(&self.0, PROBLEM_JSON, body)
    }
}

/// Makes the response of a problem, in the format that the caller of the function chose.
pub(super) fn respond(problem: &Problem, kind: &'static str, body: String) -> Response<Body> {
    let mut response = text(problem.status(), kind, body);
    if let Some(seconds) = problem.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    // The body of such a request was not fully read, so that its connection cannot serve another one.
    if matches!(problem.kind(), Kind::BodyTooLarge | Kind::RequestTimeout) {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Answers a method that a path does not support. `allow` lists the supported ones.
pub(super) fn other_method(method: &Method, allow: &str) -> Response<Body> {
    let mut response = if method == Method::OPTIONS {
        json_text(204, String::new())
    } else {
        let shown: String = method.as_str().chars().take(20).collect();
        let detail = format!("found {shown}, expected one of {allow}");
        ProblemResponse(Problem::new(Kind::MethodNotAllowed, detail)).into_response()
    };
    if let Ok(allow) = HeaderValue::from_str(allow) {
        response.headers_mut().insert(ALLOW, allow);
    }
    response
}

/// JSON reply with its status, and the steps before it is sent.
pub(super) struct Reply<T> {
    status: StatusCode,
    body: T,
    after: PendingSteps,
}

impl<T> Reply<T> {
    pub(super) fn ok(body: T) -> Self {
        Self { status: StatusCode::OK, body, after: PendingSteps::default() }
    }

    pub(super) fn created(body: T) -> Self {
        Self { status: StatusCode::CREATED, ..Self::ok(body) }
    }

    pub(super) fn after(self, after: PendingSteps) -> Self {
        Self { after, ..self }
    }
}

impl<T: Serialize> IntoResponse for Reply<T> {
    fn into_response(self) -> Response<Body> {
        match serde_json::to_string(&self.body) {
            Ok(body) => after(self.after, json_text(self.status.as_u16(), body)),
            Err(error) => {
                let detail = format!("the reply cannot be written: {error}");
                ProblemResponse(Problem::new(Kind::Failed, detail)).into_response()
            }
        }
    }
}

/// Makes a response of JSON text.
#[must_use]
pub fn json_text(status: u16, body: String) -> Response<Body> {
    text(status, JSON, body)
}

/// Makes a response of a text.
pub(super) fn text(status: u16, kind: &'static str, mut body: String) -> Response<Body> {
    // An unread body takes its counted length only, because this frees the spare capacity.
    body.shrink_to_fit();
    // A world may declare any status. An invalid one in HTTP is an error of the world.
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(if body.is_empty() { Body::empty() } else { Body::from(body) });
    *response.status_mut() = status;
    if status != StatusCode::NO_CONTENT {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    response
}

/// Attaches the steps before a response is sent. The transport waits for them.
pub(super) fn after(after: PendingSteps, mut response: Response<Body>) -> Response<Body> {
    if let Some(seconds) = after.retry_after() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if !after.is_done() {
        response.extensions_mut().insert(after);
    }
    response
}
