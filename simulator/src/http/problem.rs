//! Problem documents (RFC 9457): every error of the server has one form.

use axum::body::Body;
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use diorama_seeds::model::Api;
use serde_json::{Value as Json, json};

use super::openapi::{declared, shaped};
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

    /// No id can be made.
    pub(super) fn no_random(error: std::io::Error) -> Self {
        Self::new(500, format!("the machine gives no random bytes: {error}"))
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

impl Problem {
    pub(super) const fn status(&self) -> u16 {
        self.status
    }

    /// The response of a call of an API, in the shape that the API declares for its errors.
    pub(super) fn of_api(self, api: &Api) -> Response<Body> {
        let challenge = (self.status == 401).then(|| challenge(api));
        let mut response = match declared(api, self.status) {
            Some(schema) => {
                let body = shaped(schema, &self.body());
                self.respond("application/json", &body)
            }
            None => self.into_response(),
        };
        if let Some(challenge) = challenge {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        response
    }

    /// The problem as a document.
    pub(super) fn body(&self) -> Json {
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

    fn respond(self, kind: &'static str, body: &Json) -> Response<Body> {
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
pub(super) fn reply(status: u16, body: &Json) -> Response<Body> {
    text(status, "application/json", body.to_string())
}

/// A world's reply as it stands; an error in the shape that its API declares, else as a problem document.
pub(super) fn of_world(api: &Api, reply: &Reply, body: String) -> Response<Body> {
    if reply.is_success() && api.shows_nothing() {
        let status = if api.contract.is_some() { reply.status } else { 204 };
        return text(status, "application/json", String::new());
    }
    if reply.is_success() {
        return text(reply.status, "application/json", body);
    }
    let schema = declared(api, reply.status);
    let mut response = match schema.zip(serde_json::from_str::<Json>(&body).ok()) {
        Some((schema, problem)) => {
            text(reply.status, "application/json", shaped(schema, &problem).to_string())
        }
        None => text(reply.status, PROBLEM_JSON, body),
    };
    if reply.status == 401 {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge(api)));
    }
    response
}

/// What `WWW-Authenticate` asks for.
fn challenge(api: &Api) -> &'static str {
    match (api.token.is_none(), api.security.is_empty()) {
        (true, false) => "Bearer, Basic, ApiKey",
        _ => "Bearer",
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
