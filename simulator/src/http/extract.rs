//! Owns the extractors: the parts of a request, parsed strictly.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::ORIGIN;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use diorama_sessions::{Creation, KEY_HEADER, Kind, Problem, Slot, shortened};
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Map, Value as Json};

use super::answer::ProblemResponse;
use super::app::App;
use super::misread;
use super::request_types::{DEFAULT_PAGE_ITEMS, MAX_OFFSET, MAX_PAGE_ITEMS, PageQuery};
use super::text::{decode, is_json, media_type, query_pairs, refuse_kind};
use super::transport::body::Whole;

/// Maximum length of a request's key, in bytes.
const MAX_KEY_BYTES: usize = 255;

/// The session that the path names. The admission of its route has put it into the request.
pub(super) struct Session(pub(super) Arc<Slot>);

impl<S: Sync> FromRequestParts<S> for Session {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ProblemResponse> {
        let slot = parts.extensions.remove::<Arc<Slot>>();
        slot.map(Self).ok_or_else(|| Problem::new(Kind::Failed, "the route has no session").into())
    }
}

/// The decoded name at the end of the path.
pub(super) struct Name(pub(super) String);

impl<S: Sync> FromRequestParts<S> for Name {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let path = parts.uri.path();
        Ok(Self(decode_segment(path.rsplit('/').next().unwrap_or_default()).into_owned()))
    }
}

/// Decodes a segment of a path. A segment that is not UTF-8 stays unchanged, and matches no name.
pub(super) fn decode_segment(segment: &str) -> Cow<'_, str> {
    decode(segment).unwrap_or(Cow::Borrowed(segment))
}

/// The parsed query string. The first value of a repeated name counts, and unknown names are ignored.
pub(super) struct Query<T>(pub(super) T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ProblemResponse> {
        Ok(Self(read_query(&parts.uri)?))
    }
}

fn read_query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let mut members = Map::new();
    for (name, value) in query_pairs(uri.query().unwrap_or_default())?.into_owned() {
        members.entry(name).or_insert_with(|| Json::from(value));
    }
    let read = serde_json::from_value(Json::Object(members));
    read.map_err(|error| Problem::new(Kind::Invalid, format!("the query string: {error}")))
}

/// Page of a list.
#[derive(Clone, Copy)]
pub(super) struct Page {
    pub(super) offset: usize,
    pub(super) limit: usize,
}

impl<S: Sync> FromRequestParts<S> for Page {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ProblemResponse> {
        let PageQuery { offset, limit } = read_query(&parts.uri)?;
        let number = |name: &str, given: Option<String>, default: usize, most: usize| {
            let Some(text) = given else { return Ok(default) };
            let number = text.parse().ok().filter(|number| *number <= most);
            number.ok_or_else(|| {
                Problem::about(name, &format!("a whole number up to {most}"), format!("`{text}`"))
            })
        };
        let offset = number("offset", offset, 0, MAX_OFFSET)?;
        Ok(Self { offset, limit: number("limit", limit, DEFAULT_PAGE_ITEMS, MAX_PAGE_ITEMS)? })
    }
}

/// The body, parsed from JSON. An empty body is an empty object.
pub(super) struct Body<T> {
    pub(super) value: T,
    headers: HeaderMap,
    whole: Whole,
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = ProblemResponse;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ProblemResponse> {
        let (parts, body) = request.into_parts();
        let whole = Whole::read(app, &parts.headers, body).await?;
        let value = read_json(&parts.headers, &whole.bytes)?;
        Ok(Self { value, headers: parts.headers, whole })
    }
}

impl<T> Body<T> {
    /// Returns the creation of a request with a key. `parent` is the id of the forked session.
    ///
    /// # Errors
    /// Returns an error if the header is not a single key.
    pub(super) fn creation(&self, parent: Option<&str>) -> Result<Option<Creation>, Problem> {
        let mut values = self.headers.get_all(KEY_HEADER).iter();
        let Some(value) = values.next() else { return Ok(None) };
        let refused = |found: String| {
            let detail = format!(
                "the header {KEY_HEADER}: expected one key of 1 to {MAX_KEY_BYTES} visible ASCII characters, found {found}"
            );
            Problem::new(Kind::Malformed, detail)
        };
        if values.next().is_some() {
            return Err(refused("more than one".to_owned()));
        }
        if !(1..=MAX_KEY_BYTES).contains(&value.len()) {
            return Err(refused(format!("{} bytes", value.len())));
        }
        let key = value.to_str().ok().filter(|key| key.bytes().all(|byte| byte.is_ascii_graphic()));
        let key = key.ok_or_else(|| refused("others".to_owned()))?;
        Ok(Some(Creation::new(parent, key, &self.whole.bytes)))
    }

    /// Returns the value, and the body as it was sent.
    pub(super) fn into_parts(self) -> (T, Whole) {
        (self.value, self.whole)
    }
}

fn read_json<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Problem> {
    let blank = body.iter().all(u8::is_ascii_whitespace);
    if !blank {
        check_json(headers)?;
    }
    let body = if blank { b"{}".as_slice() } else { body };
    let no_json = |error| Problem::new(Kind::Malformed, format!("the body: expected JSON, found {error}"));
    if body.trim_ascii_start().first() != Some(&b'{') {
        serde_json::from_slice::<serde::de::IgnoredAny>(body).map_err(no_json)?;
        let detail = "the body: expected a JSON object, found another JSON value";
        return Err(Problem::new(Kind::Invalid, detail));
    }
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Data => misread::problem::<T>(body, &error),
        _ => no_json(error),
    })
}

/// Refuses a body that is not declared as JSON. A page of another site can send other media types without a
/// preflight, so that only declared JSON is accepted.
fn check_json(headers: &HeaderMap) -> Result<(), Problem> {
    match media_type(headers) {
        // Programs may omit the type. A browser always sends it.
        None if !headers.contains_key(ORIGIN) => Ok(()),
        None => Err(refuse_kind("no content type")),
        Some(kind) if is_json(&kind) => Ok(()),
        Some(kind) => Err(refuse_kind(&kind.chars().take(60).collect::<String>())),
    }
}

/// Shortens the ids of sessions in a path for logs, because an id gives access to its session.
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
