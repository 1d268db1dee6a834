//! Owns the negotiation of HTTP: media types of replies, and pages of lists.

use axum::body::Body;
use axum::http::header::{ACCEPT, HeaderValue, LINK};
use axum::http::{HeaderMap, Response};

use diorama_seeds::contract::is_json_kind;
use diorama_sessions::{Kind, Problem};

use super::extract::Page;
use super::text::JSON;

/// Format of an OpenAPI document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Yaml,
}

impl Format {
    /// Returns the format of the document at a path.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        match path {
            "/openapi.json" => Some(Self::Json),
            "/openapi.yaml" => Some(Self::Yaml),
            _ => None,
        }
    }

    /// Returns the media types that the server can send at a path with this format.
    pub(super) const fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::Json => &[JSON, YAML[0]],
            Self::Yaml => &[YAML[0]],
        }
    }
}

/// Media types of YAML. The first is the registered one (RFC 9512).
pub(super) const YAML: [&str; 4] = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/// Media types that a request accepts (RFC 9110, section 12.5.1).
pub(super) struct Accept(Vec<Range>);

/// Part of the header Accept.
struct Range {
    kind: String,
    thousandths: u32,
    /// Specificity of the range: an exact type is greater than a wildcard.
    exactness: u8,
}

impl Accept {
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let given = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        Self(given.flat_map(|value| value.split(',')).map(Range::read).collect())
    }

    /// Rates a media type from 0 (refused) to 1,000. A request without the header accepts all.
    pub(super) fn rate(&self, kind: &str) -> u32 {
        if self.0.is_empty() {
            return 1_000;
        }
        let fitting = self.0.iter().filter(|range| range.fits(kind));
        fitting.max_by_key(|range| range.exactness).map_or(0, |range| range.thousandths)
    }

    /// Returns true if the header names this exact media type.
    pub(super) fn names(&self, kind: &str) -> bool {
        self.0.iter().any(|range| range.kind == kind)
    }

    /// Refuses a request that accepts none of these media types. A request for an event stream accepts any.
    pub(super) fn check(&self, kinds: &[&str]) -> Result<(), Problem> {
        if self.names("text/event-stream") || kinds.iter().any(|kind| self.rate(kind) > 0) {
            return Ok(());
        }
        let expected = kinds.join(", ");
        let detail = format!("the header Accept: expected {expected} among the kinds, found others");
        Err(Problem::new(Kind::NotAcceptable, detail).with("expected", expected))
    }
}

impl Range {
    fn read(text: &str) -> Self {
        let mut parts = text.split(';').map(|part| part.trim().to_ascii_lowercase());
        let kind = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
        let exactness = if kind == "*/*" { 0 } else { 1 + u8::from(!kind.ends_with("/*")) };
        Self { kind, thousandths: (quality.clamp(0.0, 1.0) * 1_000.0) as u32, exactness }
    }

    fn fits(&self, kind: &str) -> bool {
        let plain = kind.split(';').next().unwrap_or_default().trim();
        let begin = self.kind.strip_suffix('*');
        let fits = |plain: &str| self.kind == plain || begin.is_some_and(|begin| plain.starts_with(begin));
        self.kind == "*/*"
            || fits(plain)
            || (plain == YAML[0] && YAML.into_iter().any(fits))
            || (is_json_kind(plain) && (self.kind == JSON || self.kind.ends_with("+json")))
    }
}

/// Returns the format of a document that a request prefers: that of the path, or YAML if `Accept` rates YAML
/// above JSON.
pub(super) fn choose_format(headers: &HeaderMap, named: Format) -> Format {
    let accept = Accept::read(headers);
    if accept.rate(YAML[0]) > accept.rate(JSON) { Format::Yaml } else { named }
}

/// Adds links to the previous and next page of a list of `total` items.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_name_kinds() {
        let fits = |range: &str, kind: &str| Range::read(range).fits(kind);
        assert!(
            fits("*/*", "text/csv")
                && fits("text/*;q=0.1", "text/csv")
                && fits("text/csv", "text/csv; charset=utf-8")
        );
        assert!(
            fits("application/json", "application/vnd.api+json") && !fits("application/json", "text/csv")
        );
        assert!(fits("text/x-yaml", YAML[0]) && fits("text/*", YAML[0]) && !fits("text/*", JSON));
        assert_eq!(
            (Range::read("a/b; q=0.25").thousandths, Range::read("a/b;q=x").thousandths),
            (250, 1_000)
        );
    }
}
