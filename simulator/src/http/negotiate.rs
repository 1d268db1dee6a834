//! Adds to every response what HTTP asks of it: kinds of content, pages, other origins, ids of requests.

use axum::body::Body;
use axum::http::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, LINK, ORIGIN,
};
use axum::http::{HeaderMap, Method, Response};
use hyper::body::Body as _;

use super::incoming::{Access, Format, Incoming, Page};
use super::problem::{Problem, text};

/// The header that carries a request's id.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Refuses a request that accepts none of the media types of its replies.
pub(super) fn check_accept(request: &Incoming<'_>, kinds: &[&str]) -> Result<(), Problem> {
    let mut given = request.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if given.peek().is_none() {
        return Ok(());
    }
    let text = kinds == ["text/plain"];
    let (json, yaml) = match request.document {
        Some(Format::Json) => (true, true),
        Some(Format::Yaml) => (false, true),
        None => (!text, false),
    };
    let fits = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        let fitting = match &*kind {
            "*/*" => true,
            "text/plain" => text,
            "text/*" => text || yaml,
            "application/*" => json || yaml,
            "application/json" | "application/problem+json" => json,
            "text/event-stream" => true,
            kind => yaml && YAML.contains(&kind),
        };
        fitting && !refused
    };
    if given.flat_map(|value| value.split(',')).any(|range| fits(range.trim())) {
        return Ok(());
    }
    let kind = match (text, json) {
        (true, _) => "text/plain",
        (false, true) => "application/json",
        (false, false) => "application/yaml",
    };
    Err(Problem::new(406, format!("the header Accept: expected {kind} among the kinds, found others"))
        .with("expected", kind))
}

/// Names of YAML, the registered one (RFC 9512) first.
pub(super) const YAML: [&str; 4] = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/// The format of a document that a request prefers: the path's, or YAML where `Accept` rates YAML above JSON.
pub(super) fn preferred_format(request: &Incoming<'_>) -> Format {
    if request.document == Some(Format::Yaml) {
        return Format::Yaml;
    }
    let given = request.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let (mut json, mut yaml) = (0.0, 0.0);
    for range in given.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(|part| part.trim().to_ascii_lowercase());
        let kind = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
        if kind == "application/json" {
            json = quality.max(json);
        } else if YAML.contains(&&*kind) {
            yaml = quality.max(yaml);
        }
    }
    if yaml > json { Format::Yaml } else { Format::Json }
}

/// The methods of a path.
pub(super) fn options(allow: &str) -> Response<Body> {
    let mut response = text(204, "application/json", String::new());
    if let Ok(allow) = HeaderValue::from_str(allow) {
        response.headers_mut().insert(ALLOW, allow);
    }
    response
}

/// Adds links to the pages beside this one of a list of `total` items.
pub(super) fn add_links(
    mut response: Response<Body>,
    request: &Incoming<'_>,
    Page { offset, limit }: Page,
    total: usize,
) -> Response<Body> {
    let path = request.uri.path();
    let mut links = Vec::new();
    let mut link = |offset: usize, rel: &str| {
        links.push(format!("<{path}?offset={offset}&limit={limit}>; rel=\"{rel}\""));
    };
    if limit > 0 && offset.saturating_add(limit) < total {
        link(offset.saturating_add(limit), "next");
    }
    if limit > 0 && offset > 0 {
        link(offset.saturating_sub(limit).min(total), "prev");
    }
    if let (false, Ok(links)) = (links.is_empty(), HeaderValue::from_str(&links.join(", "))) {
        response.headers_mut().insert(LINK, links);
    }
    response
}

/// Adds the headers of every response. A request's own id is handed back. One is made only outside the agent API, whose
/// replies are the same in every run.
pub(super) fn finish(
    request: &Incoming<'_>,
    mut response: Response<Body>,
    number: impl FnOnce() -> u64,
) -> Response<Body> {
    if response.body().is_end_stream() {
        response.headers_mut().remove(CONTENT_TYPE);
    }
    let headers = response.headers_mut();
    let usable =
        |id: &&HeaderValue| id.len() <= 128 && id.as_bytes().iter().all(|byte| byte.is_ascii_graphic());
    match request.headers.get(&REQUEST_ID).filter(usable) {
        Some(id) => {
            headers.insert(REQUEST_ID, id.clone());
        }
        None if request.access == Access::Agent => {}
        None => {
            if let Ok(id) = HeaderValue::from_str(&format!("r{}", number())) {
                headers.insert(REQUEST_ID, id);
            }
        }
    }
    if request.access != Access::Admin && request.headers.contains_key(ORIGIN) {
        share(request, headers);
    }
    response
}

/// Lets pages of other origins read replies of the agent API: a session's id or a world's token is the key to it, not a cookie.
fn share(request: &Incoming<'_>, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("ETag, Link, Retry-After, WWW-Authenticate, X-Request-Id"),
    );
    if request.method != Method::OPTIONS || !request.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return;
    }
    if let Some(allow) = headers.get(ALLOW).cloned() {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, allow);
    }
    let asked = request.headers.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.unwrap_or(HeaderValue::from_static("*")));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
}
