//! Owns the faults that the server can inject, and the draw of the fault for each request.

use hyper::header::HeaderValue;
use serde_json::{Value as Json, json};

/// A fault of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 429.
    RateLimit(RetryAfter),
    /// A status, as 500 or 503.
    Error(u16),
    /// The server never replies.
    Hang,
    /// The connection ends without a reply.
    Cut,
    /// The connection ends in the middle of the body.
    CutBody,
    /// The body ends in the middle of its JSON, as if it were whole.
    CutJson,
    /// A reply without choices.
    NoChoices,
    /// JSON of another form than the request asks for.
    WrongSchema,
    /// The answer stands in a code fence, with prose around it.
    Prose,
    /// The model declines.
    Refusal,
}

/// `Retry-After` header of a response with status 429.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// No header.
    Unsaid,
    /// A number of seconds.
    Seconds(u32),
    /// A date in the past, which asks for no wait.
    Date,
}

impl RetryAfter {
    pub(crate) fn header(self) -> Option<HeaderValue> {
        match self {
            Self::Unsaid => None,
            Self::Seconds(seconds) => Some(HeaderValue::from(seconds)),
            Self::Date => Some(HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT")),
        }
    }
}

impl Fault {
    /// All faults but `Hang`, because a hung request takes the client's whole timeout.
    pub const ALL_BUT_HANG: [Self; 11] = [
        Self::RateLimit(RetryAfter::Unsaid),
        Self::RateLimit(RetryAfter::Seconds(0)),
        Self::Error(500),
        Self::Error(503),
        Self::Cut,
        Self::CutBody,
        Self::CutJson,
        Self::NoChoices,
        Self::WrongSchema,
        Self::Prose,
        Self::Refusal,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RateLimit(_) => "rate_limit",
            Self::Error(_) => "error",
            Self::Hang => "hang",
            Self::Cut => "cut",
            Self::CutBody => "cut_body",
            Self::CutJson => "cut_json",
            Self::NoChoices => "no_choices",
            Self::WrongSchema => "wrong_schema",
            Self::Prose => "prose",
            Self::Refusal => "refusal",
        }
    }
}

/// Returns the fault that a body meets at its n-th arrival.
pub(crate) fn drawn(faults: &[(Fault, f64)], seed: u64, body: &[u8], nth: u64) -> Option<Fault> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(&nth.to_le_bytes());
    hasher.update(body);
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    let mut left = (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64;
    faults.iter().find_map(|(fault, share)| {
        left -= share;
        (left < 0.0).then_some(*fault)
    })
}

pub(crate) fn wrong_schema() -> Json {
    json!({ "role": "assistant", "content": "{\"unexpected\": [1, 2, 3]}" })
}

pub(crate) fn refusal() -> Json {
    json!({ "role": "assistant", "content": null, "refusal": "I can't help with that." })
}

pub(crate) fn in_prose(mut message: Json) -> Json {
    let said = message["content"].as_str().unwrap_or_default();
    message["content"] =
        format!("Certainly! Here is what you asked for:\n\n```json\n{said}\n```\n\nShall I go on?").into();
    message
}
