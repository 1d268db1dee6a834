//! Bodies of requests: read whole, or read away.

use std::fmt::Display;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::EXPECT;
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use tokio::time::timeout;

/// How long the sender of a refused body may pause before it is answered.
const PAUSE: Duration = Duration::from_millis(500);

/// A line of text that refuses a request, in bytes.
pub(super) const MAX_LINE: usize = 4_096;

/// Why a body could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It has, or announces, more bytes than it may have.
    TooLarge,
    /// There is no place for it beside others.
    Crowded,
    /// It is not what its headers say, or its sender is gone.
    Broken(String),
}

/// Reads a body of at most `limit` bytes, for which `hold` has a place.
pub(super) async fn read_whole<B>(
    body: &mut B,
    limit: usize,
    mut hold: impl FnMut(usize) -> bool,
) -> Result<Bytes, Unread>
where
    B: Body<Data = Bytes, Error: Display> + Unpin,
{
    if body.size_hint().lower() > limit as u64 {
        return Err(Unread::TooLarge);
    }
    let mut first: Option<Bytes> = None;
    let mut more: Vec<u8> = Vec::new();
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
        match &first {
            None => first = Some(data),
            Some(begun) => {
                if more.is_empty() {
                    more.extend_from_slice(begun);
                }
                more.extend_from_slice(&data);
            }
        }
    }
    Ok(if more.is_empty() { first.unwrap_or_default() } else { Bytes::from(more) })
}

/// Reads a refused body and drops it, up to so many bytes: a sender that is still writing would not read the answer.
/// One that pauses, or waits for leave to send, is answered without it.
pub(super) async fn read_away<B>(mut body: B, headers: &HeaderMap, most: usize)
where
    B: Body<Data = Bytes> + Unpin,
{
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
