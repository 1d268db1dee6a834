//! Owns the HTTP request of a call.

use axum::http::StatusCode;
use diorama_seeds::model::{KeyPlace, Place, World};
use percent_encoding::{AsciiSet, utf8_percent_encode};
use serde_json::{Map, Value as Json, json};

use crate::http::text::SEGMENT;
use crate::http::world::auth::Proof;

use diorama_engine::session::LogEntry;

/// Characters without escapes in paths and query strings, including the comma of a list.
const PLAIN: AsciiSet = SEGMENT.remove(b',');

/// HTTP request of a call.
pub(super) struct Form {
    pub(super) method: &'static str,
    /// Absolute URL without its query string.
    address: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<String>,
}

impl Form {
    /// Makes the request of a call: by its route, or by name if the world lacks the API.
    pub(super) fn of(world: &World, entry: &LogEntry, base: &str, by_name: &str) -> Self {
        let Some(id) = entry.api else {
            let body = json!({"api": entry.call.api, "arguments": entry.call.arguments});
            return Self {
                method: "POST",
                address: by_name.to_owned(),
                query: Vec::new(),
                headers: vec![("content-type".to_owned(), "application/json".to_owned())],
                body: Some(body.to_string()),
            };
        };
        let api = world.api(id);
        let prefix = world.domains.get(api.domain.index()).map_or("", |domain| &*domain.base_path);
        let mut path = format!("{prefix}{}", api.path);
        let (mut query, mut headers, mut cookies, mut body) =
            (Vec::new(), Vec::new(), Vec::new(), Map::new());
        for (name, value) in &entry.call.arguments {
            let position = api.parameters.iter().position(|parameter| &*parameter.name == name.as_str());
            let parameter = position.and_then(|position| api.parameters.get(position));
            if position.is_some() && api.token.map(|token| token.index()) == position {
                headers.push(("authorization".to_owned(), format!("Bearer {}", plain(value))));
                continue;
            }
            match parameter.map(|parameter| parameter.place) {
                Some(Place::Path) => path = path.replace(&format!("{{{name}}}"), &encoded(&plain(value))),
                Some(Place::Cookie) => {
                    let name = parameter.map_or(&**name, |known| known.wire_name());
                    cookies.push(format!("{name}={}", plain(value)));
                }
                Some(Place::Header) => headers.push((name.replace('_', "-"), plain(value))),
                Some(Place::Body) => {
                    body.insert(name.clone(), value.clone());
                }
                // The world refuses names that the API does not know, regardless of their place.
                Some(Place::Query) | None => query.push((name.clone(), plain(value))),
            }
        }
        if !cookies.is_empty() {
            headers.push(("cookie".to_owned(), cookies.join("; ")));
        }
        let body = (!body.is_empty()).then(|| Json::Object(body).to_string());
        if body.is_some() {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        Self { method: api.method.as_str(), address: format!("{base}{path}"), query, headers, body }
    }

    /// Adds credentials to the request.
    pub(super) fn add_proofs(&mut self, proofs: Vec<Proof>) {
        for (place, name, value) in proofs {
            match place {
                KeyPlace::Query => self.query.push((name, value)),
                KeyPlace::Cookie => self.headers.push(("cookie".to_owned(), format!("{name}={value}"))),
                KeyPlace::Header => self.headers.push((name, value)),
            }
        }
    }

    pub(super) fn url(&self) -> String {
        if self.query.is_empty() {
            return self.address.clone();
        }
        let pairs = self.query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        format!("{}?{}", self.address, pairs.collect::<Vec<_>>().join("&"))
    }

    /// Returns the curl command of the request. The script's variable replaces `base` in its URL.
    pub(super) fn curl(&self, base: &str) -> String {
        let url = self.url();
        let target = match url.strip_prefix(base) {
            Some(rest) => format!("\"$BASE\"{}", quoted(rest)),
            None => quoted(&url),
        };
        let mut out = format!("curl -sS -X {} {target}", self.method);
        for (name, value) in &self.headers {
            out.push_str(&format!(" \\\n  -H {}", quoted(&format!("{name}: {value}"))));
        }
        if let Some(body) = &self.body {
            out.push_str(&format!(" \\\n  --data-raw {}", quoted(body)));
        }
        out.push_str("\necho\n");
        out
    }
}

/// Returns the reason phrase of a status.
pub(super) fn reason(status: u16) -> &'static str {
    StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("")
}

/// Quotes a text as one word of a shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns a text without line breaks, of at most 100 characters, for comments.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(100).collect()
}

/// Returns a value as it is written in a path, a query string or a header.
fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) if !items.iter().any(|item| item.is_object() || item.is_array()) => {
            items.iter().map(plain).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, &PLAIN).to_string()
}
