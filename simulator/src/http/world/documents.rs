//! Owns the served OpenAPI documents: JSON or YAML, with a tag of their bytes.
//!
//! The documents of a world's sessions differ in the session's id alone. The text around the ids is made
//! once, and all sessions and connections share it. A session that shows only some APIs has a document of its
//! own.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::header::{ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use diorama_sessions::{Problem, unguessable};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use serde_json::Value as Json;

use crate::http::answer::text;
use crate::http::negotiate::{Format, YAML};
use crate::http::text::JSON;
use crate::http::transport::OfWorld;

/// Document that is ready to be sent.
pub(in crate::http) struct Document {
    format: Format,
    hash: String,
    parts: VecDeque<Bytes>,
    of_world: bool,
}

impl Document {
    /// Makes a document for one response.
    pub(in crate::http) fn new(json: &Json, format: Format) -> Self {
        let text = format.write(json);
        let hash = tag(blake3::hash(text.as_bytes()));
        Self { format, hash, parts: VecDeque::from([Bytes::from(text)]), of_world: false }
    }

    /// Returns the response, which is 304 if the caller has the document.
    pub(in crate::http) fn response(self, headers: &HeaderMap) -> Response<Body> {
        let tag = format!("\"{}\"", self.hash);
        let known = headers.get(IF_NONE_MATCH).and_then(|known| known.to_str().ok());
        let same = |one: &str| matches!(one.trim(), "*") || one.trim().trim_start_matches("W/") == tag;
        let mut response = if known.is_some_and(|known| known.split(',').any(same)) {
            text(StatusCode::NOT_MODIFIED.as_u16(), self.format.media_type(), String::new())
        } else {
            let mut response = text(StatusCode::OK.as_u16(), self.format.media_type(), String::new());
            if self.of_world {
                response.extensions_mut().insert(OfWorld);
            }
            *response.body_mut() = Body::new(Parts(self.parts));
            response
        };
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            response.headers_mut().insert(ETAG, tag);
        }
        response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
        response
    }
}

impl Format {
    fn write(self, json: &Json) -> String {
        match self {
            Self::Json => json.to_string(),
            // JSON is valid YAML, for values that the writer cannot write.
            Self::Yaml => serde_saphyr::to_string(json).unwrap_or_else(|_| json.to_string()),
        }
    }

    const fn media_type(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Yaml => YAML[0],
        }
    }
}

fn tag(hash: blake3::Hash) -> String {
    hash.to_hex().chars().take(32).collect()
}

/// Documents of a world that show all APIs, by format.
#[derive(Default)]
pub(super) struct Documents(Mutex<[Option<Arc<DocumentTemplate>>; 2]>);

/// Document without the ids of its session.
struct DocumentTemplate {
    between: Vec<Bytes>,
    hash: blake3::Hash,
}

impl Documents {
    /// Returns the document of a session that shows all APIs. `describe` makes one for a session's id.
    ///
    /// # Errors
    /// Returns an error if the system gives no random bytes.
    pub(super) fn describe_all(
        &self,
        id: &str,
        format: Format,
        describe: impl FnOnce(&str) -> Json,
    ) -> Result<Document, Problem> {
        let mut made = self.one_at_a_time();
        let place = &mut made[usize::from(format == Format::Yaml)];
        let around = match place {
            Some(around) => Arc::clone(around),
            None => {
                let any = unguessable().map_err(Problem::no_random)?;
                Arc::clone(
                    place.insert(Arc::new(DocumentTemplate::new(&format.write(&describe(&any)), &any))),
                )
            }
        };
        drop(made);
        Ok(around.of(id, format))
    }

    /// Returns the document of a session that shows only some APIs.
    pub(super) fn partial(&self, format: Format, describe: impl FnOnce() -> Json) -> Document {
        let _one = self.one_at_a_time();
        Document::new(&describe(), format)
    }

    /// Locks the documents. Making one takes several times its size, so that a world makes one at a time.
    fn one_at_a_time(&self) -> MutexGuard<'_, [Option<Arc<DocumentTemplate>>; 2]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DocumentTemplate {
    fn new(text: &str, id: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        let between = text.split(id).map(|part| {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
            Bytes::copy_from_slice(part.as_bytes())
        });
        Self { between: between.collect(), hash: hasher.finalize() }
    }

    fn of(&self, id: &str, format: Format) -> Document {
        let hash = blake3::Hasher::new().update(self.hash.as_bytes()).update(id.as_bytes()).finalize();
        let id = Bytes::copy_from_slice(id.as_bytes());
        let mut parts = VecDeque::with_capacity(2 * self.between.len());
        for (number, part) in self.between.iter().enumerate() {
            if number > 0 {
                parts.push_back(id.clone());
            }
            parts.push_back(part.clone());
        }
        parts.retain(|part| !part.is_empty());
        Document { format, hash: tag(hash), parts, of_world: true }
    }
}

/// Body of parts that other bodies may share.
struct Parts(VecDeque<Bytes>);

impl HttpBody for Parts {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.0.pop_front().map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|part| part.len() as u64).sum())
    }
}
