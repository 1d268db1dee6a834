//! What HTTP asks of lists and documents: kinds of content, and pages.

use axum::body::Body;
use axum::http::header::{ACCEPT, HeaderValue, LINK};
use axum::http::{HeaderMap, Response};

use diorama_sessions::{Kind, Problem};

use super::extract::Page;

/// The format of an OpenAPI document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Yaml,
}

impl Format {
    /// The format of the document that a path names.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        match path {
            "/openapi.json" => Some(Self::Json),
            "/openapi.yaml" => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// Refuses a request that accepts none of the media types of its replies.
pub(super) fn check_accept(
    headers: &HeaderMap,
    document: Option<Format>,
    kinds: &[&str],
) -> Result<(), Problem> {
    let mut given = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if given.peek().is_none() {
        return Ok(());
    }
    let text = kinds == ["text/plain"];
    let (json, yaml) = match document {
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
    Err(Problem::new(
        Kind::NotAcceptable,
        format!("the header Accept: expected {kind} among the kinds, found others"),
    )
    .with("expected", kind))
}

/// Names of YAML, the registered one (RFC 9512) first.
pub(super) const YAML: [&str; 4] = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/// The format of a document that a request prefers: the path's, or YAML where `Accept` rates YAML above JSON.
pub(super) fn preferred_format(headers: &HeaderMap, named: Format) -> Format {
    if named == Format::Yaml {
        return Format::Yaml;
    }
    let given = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
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

/// Adds links to the pages beside this one of a list of `total` items.
pub(super) fn add_links(
    mut response: Response<Body>,
    path: &str,
    Page { offset, limit }: Page,
    total: usize,
) -> Response<Body> {
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
