//! A request whose body has been read, and how its parts are read strictly.

use std::sync::atomic::AtomicBool;

use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, Method, Uri};
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Map, Value as Json};

use super::misread;
use super::node::shortened;
use super::problem::Problem;
use super::request_types::{DEFAULT_PAGE_ITEMS, MAX_OFFSET, MAX_PAGE_ITEMS, PageQuery};
use super::text::{decode, pairs};

/// A request whose body has been read.
#[derive(Clone, Copy)]
pub(super) struct Incoming<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    /// The session or world in the path, decoded; empty where there is none.
    pub(super) id: &'a str,
    pub(super) access: Access,
    /// The format of the OpenAPI document that the path names, if it names one.
    pub(super) document: Option<Format>,
    /// True once the sender has left.
    pub(super) gone: &'a AtomicBool,
    /// True on a thread that answers other connections as well: what may take longer, or has to wait, is postponed
    /// ([`Problem::postponed`]) before anything is done.
    pub(super) in_haste: bool,
}

/// The callers that may use a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Anyone.
    Open,
    /// The agent under test, by the session's id: the agent API.
    Agent,
    /// The holder of the control token: the admin API.
    Admin,
}

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

impl Incoming<'_> {
    /// The body as JSON of a type. An empty body is an empty object.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let blank = self.body.iter().all(u8::is_ascii_whitespace);
        if !blank {
            self.is_json()?;
        }
        let body = if blank { b"{}".as_slice() } else { self.body };
        let no_json = |error| Problem::new(400, format!("the body: expected JSON, found {error}"));
        if body.trim_ascii_start().first() != Some(&b'{') {
            serde_json::from_slice::<serde::de::IgnoredAny>(body).map_err(no_json)?;
            return Err(Problem::new(422, "the body: expected a JSON object, found another JSON value"));
        }
        serde_json::from_slice(body).map_err(|error| match error.classify() {
            Category::Data => misread::problem::<T>(body, &error),
            _ => no_json(error),
        })
    }

    /// Refuses a body that says it is something else than JSON. A page of another site can send such bodies without
    /// asking first, so only a body that says it is JSON is taken for JSON.
    fn is_json(&self) -> Result<(), Problem> {
        let found = match media_type(self.headers) {
            // Programs may leave it out; a browser always says what it sends.
            None if !self.headers.contains_key(ORIGIN) => return Ok(()),
            None => "no content type".to_owned(),
            Some(kind) if is_json(&kind) => return Ok(()),
            Some(kind) => kind.chars().take(60).collect(),
        };
        let detail = format!("the body: expected application/json, found {found}");
        Err(Problem::new(415, detail).with("expected", "application/json"))
    }

    /// The query string as a type. Of a name that is given twice the first value counts; unknown names are ignored.
    pub(super) fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let mut members = Map::new();
        for (name, value) in pairs(self.uri.query().unwrap_or_default()).into_iter().flatten() {
            members.entry(name).or_insert_with(|| Json::from(value));
        }
        let read = serde_json::from_value(Json::Object(members));
        read.map_err(|error| Problem::new(422, format!("the query string: {error}")))
    }

    /// The page of a list that the query string names.
    pub(super) fn page(&self) -> Result<Page, Problem> {
        let PageQuery { offset, limit } = self.query()?;
        let number = |name: &str, given: Option<String>, default: usize, most: usize| {
            let Some(text) = given else { return Ok(default) };
            let number = text.parse().ok().filter(|number| *number <= most);
            number.ok_or_else(|| {
                Problem::about(name, &format!("a whole number up to {most}"), format!("`{text}`"))
            })
        };
        let offset = number("offset", offset, 0, MAX_OFFSET)?;
        Ok(Page { offset, limit: number("limit", limit, DEFAULT_PAGE_ITEMS, MAX_PAGE_ITEMS)? })
    }
}

/// A page of a list.
#[derive(Clone, Copy)]
pub(super) struct Page {
    pub(super) offset: usize,
    pub(super) limit: usize,
}

/// The media type of a request's body, in lower case and without parameters.
pub(super) fn media_type(headers: &HeaderMap) -> Option<String> {
    let kind = headers.get(axum::http::header::CONTENT_TYPE)?.to_str().ok()?;
    Some(kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

/// Returns true if a media type is JSON.
pub(super) fn is_json(kind: &str) -> bool {
    kind == "application/json" || kind.ends_with("+json")
}

/// A path as logs may show it: ids of sessions are keys to them, and are cut.
pub(super) fn cut_ids(path: &str) -> String {
    let cut = |segment: &str| {
        let plain = decode(segment).unwrap_or(segment.into());
        match shortened(&plain) {
            Some(id) => format!("{id}..."),
            None => segment.chars().take(200).collect(),
        }
    };
    path.split('/').map(cut).collect::<Vec<_>>().join("/")
}
