//! Owns the embedded style sheet, icon and script.

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};

/// File to which pages refer.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    kind: &'static str,
    pub(crate) text: &'static str,
}

/// Style sheet of all pages.
pub(crate) const STYLE: Asset =
    Asset { name: "style.css", kind: "text/css; charset=utf-8", text: include_str!("../assets/style.css") };
/// Icon that a browser shows beside the title.
pub(crate) const ICON: Asset =
    Asset { name: "icon.svg", kind: "image/svg+xml", text: include_str!("../assets/icon.svg") };
/// htmx 2.0.11, which replaces parts of pages in place. Pages work without it.
pub(crate) const HTMX: Asset = Asset {
    name: "htmx.js",
    kind: "text/javascript; charset=utf-8",
    text: include_str!("../assets/htmx.min.js"),
};

impl Asset {
    /// Returns a tag of its bytes. It is part of the address, so that a browser may cache the file.
    pub(crate) fn tag(&self) -> String {
        blake3::hash(self.text.as_bytes()).to_hex().chars().take(12).collect()
    }

    /// Returns the file with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [STYLE, ICON, HTMX].into_iter().find(|asset| asset.name == name)
    }

    pub(crate) fn response(&self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.text));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let long = HeaderValue::from_static("public, max-age=31536000, immutable");
        headers.insert(CACHE_CONTROL, long);
        response
    }
}
