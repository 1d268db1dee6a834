//! Owns the cookie with a session's id.

use axum::body::Body;
use axum::http::header::{COOKIE, HeaderValue, SET_COOKIE};
use axum::http::{HeaderMap, Request, Response};
use axum::middleware::Next;

/// The name of the cookie.
const NAME: &str = "diorama_session";
/// Maximum number of characters in an id.
const MAX_CHARS: usize = 128;

/// Returns the session id in a request's cookies. Malformed ids are dropped, so that no reply repeats them.
pub(super) fn session_of(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == NAME)?;
    let id = value.trim_matches('"');
    let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    (plain && (1..=MAX_CHARS).contains(&id.len())).then(|| id.to_owned())
}

/// Adds the session's cookie to a response.
pub(super) fn with_cookie(mut response: Response<Body>, session: &str) -> Response<Body> {
    if let Ok(cookie) = HeaderValue::from_str(&format!("{NAME}={session}; Path=/; HttpOnly")) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// Repeats the cookie of a request in its response, unless the response sets one.
pub(super) async fn repeat_cookie(request: Request<Body>, next: Next) -> Response<Body> {
    let session = session_of(request.headers());
    let response = next.run(request).await;
    match session.filter(|_| !response.headers().contains_key(SET_COOKIE)) {
        Some(session) => with_cookie(response, &session),
        None => response,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may end this way")]
    use super::*;

    #[test]
    fn the_session_is_found_among_other_cookies() {
        let check = |line: &str, expect: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, line.parse().unwrap());
            assert_eq!(session_of(&headers).as_deref(), expect, "{line}");
        };
        check("diorama_session=a1", Some("a1"));
        check("model=x; diorama_session=\"n-1_a\"; other=y", Some("n-1_a"));
        check("xdiorama_session=a1", None);
        check("diorama_session=", None);
        check("diorama_session=a b", None);
        check(&format!("diorama_session={}", "a".repeat(129)), None);
    }
}
