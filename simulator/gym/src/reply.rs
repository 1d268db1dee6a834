//! Replies that the protocols share: JSON, and refusals as `{"detail": ...}`.

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use axum::response::IntoResponse;
use diorama_sessions::{Kind, Problem};
use diorama_simulator::http::json_text;
use serde::Serialize;
use serde_json::json;

use crate::gym::RequestRefusal;

/// Seconds after which a client of a full server should retry.
const RETRY_SECONDS: u16 = 2;

/// Returns a JSON reply.
pub(crate) fn json(body: &impl Serialize) -> Response<Body> {
    match serde_json::to_string(body) {
        Ok(body) => json_text(200, body),
        Err(error) => {
            let problem = Problem::new(Kind::Failed, format!("the reply cannot be written: {error}"));
            RequestRefusal::from(problem).into_response()
        }
    }
}

/// The reply of a handler, or a refusal.
pub(crate) type Answer = Result<Response<Body>, RequestRefusal>;

impl IntoResponse for RequestRefusal {
    fn into_response(self) -> Response<Body> {
        let refuse =
            |status, problem: &Problem| json_text(status, json!({"detail": problem.detail()}).to_string());
        match self {
            Self::Because(problem) => refuse(problem.status(), &problem),
            Self::Full { problem, .. } => {
                let mut response = refuse(503, &problem);
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
                response
            }
        }
    }
}
