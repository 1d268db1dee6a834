//! Replies that the protocols share: JSON, and refusals as `{"detail": ...}`, which their clients read.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{Response, StatusCode};
use diorama_sessions::{Kind, Problem};
use serde::Serialize;
use serde_json::json;

/// Seconds after which a full server may be asked again.
const RETRY_SECONDS: u16 = 2;

/// A reply of JSON text.
pub(crate) fn text(status: u16, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A reply of a value.
pub(crate) fn json(body: &impl Serialize) -> Response<Body> {
    match serde_json::to_string(body) {
        Ok(body) => text(200, body),
        Err(error) => refuse(&Problem::new(Kind::Failed, format!("the reply cannot be written: {error}"))),
    }
}

/// A refusal, with the problem's own status.
pub(crate) fn refuse(problem: &Problem) -> Response<Body> {
    text(problem.status(), json!({"detail": problem.detail()}).to_string())
}

/// The refusal of a server that has no place for another episode.
pub(crate) fn at_capacity(problem: &Problem) -> Response<Body> {
    let mut response = text(503, json!({"detail": problem.detail()}).to_string());
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
    response
}
