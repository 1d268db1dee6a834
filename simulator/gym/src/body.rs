//! Request bodies: reads them whole, within limits of size, time and number.

use axum::body::Body;
use diorama_sessions::{Kind, Problem};
use diorama_simulator::http::BODY_TIMEOUT;
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Maximum bytes of a body that contains an episode or the metrics of many. Trainers send long rollouts.
pub(crate) const MAX_EPISODE_BYTES: usize = 64 << 20;
/// A larger body waits for one of [`LARGE_BODIES`] permits.
const SMALL_BYTES: usize = 1 << 20;
/// Maximum number of large bodies in memory.
const LARGE_BODIES: usize = 8;

/// Reads bodies. A semaphore limits the number of large ones.
#[derive(Debug)]
pub(crate) struct Bodies {
    large: Semaphore,
}

impl Default for Bodies {
    fn default() -> Self {
        Self { large: Semaphore::new(LARGE_BODIES) }
    }
}

impl Bodies {
    /// Reads a body of at most `limit` bytes as JSON.
    pub(crate) async fn read<T: DeserializeOwned>(&self, body: Body, limit: usize) -> Result<T, Problem> {
        parse(&self.read_bytes(body, limit).await?)
    }

    /// Reads a body of at most `limit` bytes.
    pub(crate) async fn read_bytes(&self, body: Body, limit: usize) -> Result<Vec<u8>, Problem> {
        let read = timeout(BODY_TIMEOUT, self.read_frames(body, limit)).await;
        read.unwrap_or_else(|_| {
            let seconds = BODY_TIMEOUT.as_secs();
            let detail = format!("the body: expected all of it within {seconds} seconds, found less");
            Err(Problem::new(Kind::RequestTimeout, detail))
        })
    }

    async fn read_frames(&self, mut body: Body, limit: usize) -> Result<Vec<u8>, Problem> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut _held = None;
        while let Some(frame) = body.frame().await {
            let frame = frame
                .map_err(|error| Problem::new(Kind::Malformed, format!("the body ended early: {error}")))?;
            let Ok(data) = frame.into_data() else { continue };
            let length = bytes.len().saturating_add(data.len());
            if length > limit {
                return Err(Problem::new(
                    Kind::BodyTooLarge,
                    format!("the body: expected at most {limit} bytes, found more"),
                ));
            }
            if length > SMALL_BYTES && _held.is_none() {
                _held = self.large.acquire().await.ok();
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes)
    }
}

/// Parses JSON text. An empty text is an empty object.
///
/// # Errors
/// 400 for malformed JSON, 422 for JSON of another type.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let bytes = if bytes.iter().all(u8::is_ascii_whitespace) { b"{}" } else { bytes };
    serde_json::from_slice(bytes).map_err(|error| {
        let kind = if error.is_data() { Kind::Invalid } else { Kind::Malformed };
        Problem::new(kind, format!("the body: found {error}, expected a JSON object as the protocol has it"))
    })
}
