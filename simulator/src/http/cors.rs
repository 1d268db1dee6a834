//! Owns the access of pages from other origins (CORS). Any page may read replies of the agent API, because
//! its key is a session's id or a world's token and not a cookie.
//!
//! The server does not use the layer of tower-http. That layer answers every OPTIONS request itself, even one
//! that is no preflight, and adds headers to replies for which no page asked.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ALLOW, HeaderName, HeaderValue, ORIGIN,
};
use axum::http::{Method, Response};
use axum::middleware::Next;

/// Lifetime of a preflight reply in browsers, in seconds.
const PREFLIGHT_SECONDS: u16 = 600;

/// Lets pages of other origins read the reply.
pub(super) async fn share(request: Request, next: Next) -> Response<Body> {
    let page = Page::read(&request);
    page.share(next.run(request).await)
}

/// Request of a page of another origin.
pub(super) struct Page {
    is_other: bool,
    /// Headers that a preflight request asks for.
    preflight: Option<HeaderValue>,
}

impl Page {
    /// Reads a request's headers.
    pub(super) fn read(request: &Request) -> Self {
        let headers = request.headers();
        let is_other = headers.contains_key(ORIGIN);
        let is_preflight = is_other
            && request.method() == Method::OPTIONS
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let asked = || headers.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
        let preflight = is_preflight.then(|| asked().unwrap_or(HeaderValue::from_static("*")));
        Self { is_other, preflight }
    }

    /// Adds the headers with which the page may read a response.
    pub(super) fn share(self, mut response: Response<Body>) -> Response<Body> {
        if !self.is_other {
            return response;
        }
        let headers = response.headers_mut();
        // Pages may read all headers of the reply.
        let names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        let exposed = HeaderValue::from_str(&names.join(", "));
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.extend(exposed.ok().map(|exposed| (ACCESS_CONTROL_EXPOSE_HEADERS, exposed)));
        if let Some(asked) = self.preflight {
            if let Some(allow) = headers.get(ALLOW).cloned() {
                headers.insert(ACCESS_CONTROL_ALLOW_METHODS, allow);
            }
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked);
            headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(PREFLIGHT_SECONDS));
        }
        response
    }
}
