//! Pages of other origins (CORS): a session's id or a world's token is the key to the agent API, not a cookie, so that any page may
//! read its replies.
//!
//! The layer of tower-http answers every OPTIONS request itself, also one that is no preflight request, and adds headers to replies
//! that no page asked for.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ALLOW, HeaderValue, ORIGIN,
};
use axum::http::{Method, Response};
use axum::middleware::Next;

/// Headers that pages may read.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("ETag, Link, Retry-After, WWW-Authenticate, X-Request-Id");
/// Seconds for which browsers keep the answer to a preflight request.
const PREFLIGHT_SECONDS: u16 = 600;

/// Lets pages of other origins read the reply.
pub(super) async fn share(request: Request, next: Next) -> Response<Body> {
    if !request.headers().contains_key(ORIGIN) {
        return next.run(request).await;
    }
    let is_preflight =
        request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let asked = request.headers().get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    if is_preflight {
        if let Some(allow) = headers.get(ALLOW).cloned() {
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, allow);
        }
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.unwrap_or(HeaderValue::from_static("*")));
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(PREFLIGHT_SECONDS));
    }
    response
}
