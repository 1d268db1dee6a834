//! Owns the format of a recording's lines, its version, and the key of a request.

use std::io;

use serde::{Deserialize, Serialize};

use crate::chat::{ChatReply, ChatRequest, Identity, RequestOrigin};

/// Version of the file format.
pub(super) const VERSION: u32 = 2;

/// Key of a request: the BLAKE3 hash of the request, its origin, and the model's identity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RequestKey(blake3::Hash);

impl RequestKey {
    /// Makes the key of a request to a model.
    pub fn new(identity: &Identity, request: &ChatRequest) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("diorama-llm recording 2");
        // A request holds strings, numbers and JSON, so serializing cannot fail. If it did, the key would
        // cover less.
        let _ = serde_json::to_writer(&mut hasher, &(identity, request));
        Self(hasher.finalize())
    }
}

impl From<RequestKey> for String {
    fn from(key: RequestKey) -> Self {
        key.0.to_hex().to_string()
    }
}

impl TryFrom<String> for RequestKey {
    type Error = blake3::HexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        blake3::Hash::from_hex(text).map(Self)
    }
}

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line {
    /// First line of a file: the version of the format.
    Recording(u32),
    /// A request is being sent.
    Sent(RequestLine),
    /// A request failed.
    Failed(RequestKey),
    /// A whole reply.
    Reply(Box<ReplyLine>),
}

/// Key and origin of a request.
#[derive(Serialize, Deserialize)]
pub(super) struct RequestLine {
    pub(super) key: RequestKey,
    #[serde(flatten)]
    pub(super) origin: RequestOrigin,
}

/// A request and its reply.
#[derive(Serialize, Deserialize)]
pub(super) struct ReplyLine {
    #[serde(flatten)]
    pub(super) request: RequestLine,
    pub(super) reply: ChatReply,
}

impl RequestLine {
    pub(super) fn new(key: &RequestKey, origin: &RequestOrigin) -> Self {
        Self { key: *key, origin: origin.clone() }
    }
}

impl Line {
    pub(super) fn text(&self) -> io::Result<String> {
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        Ok(text)
    }
}

/// Parses a line. The error describes the found text.
pub(super) fn parse(text: &[u8], number: u64) -> Result<Line, String> {
    if !text.ends_with(b"\n") {
        return Err("a line without an end".to_owned());
    }
    let other = |error| match serde_json::from_slice::<serde_json::Value>(text) {
        // Version 1 wrote this member.
        Ok(line) if line.get("cassette").is_some() => "version 1".to_owned(),
        _ => format!("something else ({error})"),
    };
    let line = serde_json::from_slice(text).map_err(other)?;
    match (&line, number) {
        (Line::Recording(VERSION), 1) => Ok(line),
        (Line::Recording(other), 1) => Err(format!("version {other}")),
        (_, 1) => Err("no version".to_owned()),
        (Line::Recording(_), _) => Err("a second version".to_owned()),
        _ => Ok(line),
    }
}
