//! Owns the bodies of requests, which are read as a whole or discarded.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body as AxumBody;
use axum::http::HeaderMap;
use axum::http::header::EXPECT;
use diorama_sessions::{Kind, Problem};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Bytes};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::http::app::{App, MAX_BODIES_BYTES};

/// Maximum pause of the sender of a refused body, after which it gets its answer.
const PAUSE: Duration = Duration::from_millis(500);
/// Maximum time for reading the body of a refused request, because a sender reads the answer only after it
/// has written all.
const LET_FINISH: Duration = Duration::from_secs(1);
/// Maximum number of bytes read of a too large body, as a multiple of its limit. The connection is then cut.
const MAX_DRAINED_LIMITS: usize = 16;

/// Reasons for which a body could not be read.
enum Unread {
    /// The body has, or announces, more bytes than allowed.
    TooLarge,
    /// Other bodies take the memory that it needs.
    Crowded,
    /// The body contradicts its headers, or the sender has gone.
    Broken(String),
}

/// Reads a body of at most `limit` bytes. `hold` reserves memory for it.
async fn read_whole(
    body: &mut AxumBody,
    limit: usize,
    mut hold: impl FnMut(usize) -> bool,
) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > limit as u64 {
        return Err(Unread::TooLarge);
    }
    let mut parts: Vec<Bytes> = Vec::new();
    let mut seen = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Unread::Broken(error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen > limit {
            return Err(Unread::TooLarge);
        }
        if !hold(data.len()) {
            return Err(Unread::Crowded);
        }
        parts.push(data);
    }
    match parts.as_slice() {
        [part] => Ok(part.clone()),
        parts => Ok(parts.concat().into()),
    }
}

/// Bytes of a whole body, and its reservation in the memory for bodies.
pub(in crate::http) struct Whole {
    pub(in crate::http) bytes: Bytes,
    _held: Option<OwnedSemaphorePermit>,
}

impl Whole {
    /// Reads the body of a request within the limits of a server.
    ///
    /// # Errors
    /// Returns an error if the body is too large, too slow, finds no memory, or contradicts its headers.
    pub(in crate::http) async fn read(
        app: &App,
        headers: &HeaderMap,
        body: AxumBody,
    ) -> Result<Self, Problem> {
        if body.is_end_stream() {
            return Ok(Self { bytes: Bytes::new(), _held: None });
        }
        // The future is boxed: most requests have no body, and their futures then need no space for it.
        Box::pin(read(app, headers, body)).await
    }
}

async fn read(app: &App, headers: &HeaderMap, mut body: AxumBody) -> Result<Whole, Problem> {
    let (limit, within) = (app.settings.max_body_bytes, app.settings.body_timeout);
    let mut held: Option<OwnedSemaphorePermit> = None;
    let hold = |bytes: usize| {
        let bodies = || Arc::clone(&app.bodies);
        let permit = u32::try_from(bytes).ok().and_then(|bytes| bodies().try_acquire_many_owned(bytes).ok());
        let Some(permit) = permit else { return false };
        match &mut held {
            Some(held) => held.merge(permit),
            None => held = Some(permit),
        }
        true
    };
    let unread = match timeout(within, read_whole(&mut body, limit, hold)).await {
        Ok(Ok(bytes)) => return Ok(Whole { bytes, _held: held }),
        Ok(Err(unread)) => unread,
        Err(_) => {
            let seconds = within.as_secs();
            let detail = format!("the body: expected all of it within {seconds} seconds, found less");
            return Err(Problem::new(Kind::RequestTimeout, detail).with("limit_seconds", seconds));
        }
    };
    Err(match unread {
        Unread::TooLarge => {
            let most = limit.saturating_mul(MAX_DRAINED_LIMITS);
            let _ = timeout(within, read_away(body, headers, most)).await;
            let detail = format!("the body: expected at most {limit} bytes, found more");
            Problem::new(Kind::BodyTooLarge, detail).with("limit", limit as u64)
        }
        Unread::Crowded => {
            let most = MAX_BODIES_BYTES;
            let detail = format!("the server holds {most} bytes of bodies already; try again");
            Problem::new(Kind::Unavailable, detail).with("limit", most as u64).retry_in(1)
        }
        Unread::Broken(error) => {
            let detail = format!("the body: expected what its headers say, found {error}");
            Problem::new(Kind::Malformed, detail)
        }
    })
}

/// Reads the body of a refused request and discards it, for at most a second.
pub(in crate::http) async fn drain(body: AxumBody, headers: &HeaderMap, most: usize) {
    let _ = timeout(LET_FINISH, read_away(body, headers, most)).await;
}

/// Discards at most `most` bytes of a refused body, because a sender reads the answer only after it has
/// written all. A sender that pauses, or waits for permission to send, gets its answer at once.
async fn read_away(mut body: AxumBody, headers: &HeaderMap, most: usize) {
    if headers.contains_key(EXPECT) {
        return;
    }
    let mut seen = 0_usize;
    while seen <= most
        && let Ok(Some(Ok(frame))) = timeout(PAUSE, body.frame()).await
    {
        seen = seen.saturating_add(frame.data_ref().map_or(0, Bytes::len));
    }
}
