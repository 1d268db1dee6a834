//! Owns the parsed request for a page.

use std::str::FromStr;

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Request};
use diorama_sessions::{Problem, quoted};
use diorama_simulator::http::{App, PAGES_PATH};
use percent_encoding::percent_decode_str;

use crate::console::Console;
use crate::links::Links;

/// Maximum length of a quoted wrong value, in characters.
const MAX_QUOTED_CHARS: usize = 60;

/// Request for a page.
pub(crate) struct Visit<'a> {
    pub(crate) app: &'a App,
    pub(crate) console: &'a Console,
    pub(crate) links: Links,
    pub(crate) method: &'a Method,
    pub(crate) headers: &'a HeaderMap,
    /// Segments of the path below the first page.
    pub(crate) path: Vec<String>,
    pub(crate) query: Pairs,
    pub(crate) form: Pairs,
}

/// Names and values of a query string or a form, in order.
pub(crate) struct Pairs(Vec<(String, String)>);

impl Pairs {
    pub(crate) const fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    fn read(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// Returns the value of a name, or none if it is missing or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns the number of a name, or none if it is missing or empty.
    ///
    /// # Errors
    /// Returns an error if the value is not such a number.
    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, Problem> {
        let wrong = |text: &str| Problem::about(name, "a whole number", quoted(text, MAX_QUOTED_CHARS));
        self.get(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }
}

impl<'a> Visit<'a> {
    pub(crate) fn new(console: &'a Console, app: &'a App, request: &'a Request<Bytes>) -> Self {
        let below = request.uri().path().strip_prefix(PAGES_PATH).unwrap_or_default();
        let segments = below.split('/').filter(|segment| !segment.is_empty());
        Self {
            app,
            console,
            links: Links::Served(app.pages_url()),
            method: request.method(),
            headers: request.headers(),
            path: segments
                .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
                .collect(),
            query: Pairs::read(request.uri().query().unwrap_or_default().as_bytes()),
            form: Pairs::read(request.body()),
        }
    }

    /// Returns true if the server can have sessions, because it serves worlds or tasks.
    pub(crate) fn has_sessions(&self) -> bool {
        let sessions = self.app.sessions();
        !sessions.worlds().all().is_empty() || sessions.tasks().is_some()
    }
}
