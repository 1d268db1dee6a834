//! The lines of a cassette.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use serde::{Deserialize, Serialize};

use super::Key;
use crate::chat::{ChatReply, Place};

/// The version of what is written.
pub(super) const VERSION: u32 = 1;

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line {
    /// The first line: the version of the rest.
    Cassette(u32),
    /// A request is being sent.
    Asked(Tape),
    /// A request failed.
    Failed(String),
    /// A whole reply.
    Reply(Box<Said>),
}

/// Which request a line is about.
#[derive(Serialize, Deserialize)]
pub(super) struct Tape {
    key: String,
    #[serde(flatten)]
    pub(super) place: Place,
}

/// A request and its reply.
#[derive(Serialize, Deserialize)]
pub(super) struct Said {
    #[serde(flatten)]
    pub(super) tape: Tape,
    pub(super) reply: ChatReply,
}

impl Tape {
    pub(super) fn new(key: &Key, place: &Place) -> Self {
        Self { key: hex(key), place: place.clone() }
    }

    pub(super) fn key(&self) -> Option<Key> {
        key(&self.key)
    }
}

impl Line {
    pub(super) fn text(&self) -> io::Result<String> {
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        Ok(text)
    }
}

/// The first line of a file.
pub(super) fn header() -> String {
    format!("{{\"cassette\":{VERSION}}}\n")
}

/// Reads a line; the error says what was found instead.
pub(super) fn read(text: &[u8], number: u64) -> Result<Line, String> {
    if !text.ends_with(b"\n") {
        return Err("a line without an end".to_owned());
    }
    let line = serde_json::from_slice(text).map_err(|error| format!("something else ({error})"))?;
    match (&line, number) {
        (Line::Cassette(VERSION), 1) => Ok(line),
        (Line::Cassette(other), 1) => Err(format!("version {other}")),
        (_, 1) => Err("no version".to_owned()),
        (Line::Cassette(_), _) => Err("a second version".to_owned()),
        (Line::Asked(tape), _) if tape.key().is_none() => Err("no key".to_owned()),
        (Line::Reply(said), _) if said.tape.key().is_none() => Err("no key".to_owned()),
        (Line::Failed(text), _) if key(text).is_none() => Err("no key".to_owned()),
        _ => Ok(line),
    }
}

/// The request of a line of a reply.
pub(super) fn tape(text: &str) -> Result<Tape, String> {
    match read(text.as_bytes(), 2)? {
        Line::Reply(said) => Ok(said.tape),
        _ => Err("a line without a reply".to_owned()),
    }
}

pub(super) fn hex(key: &Key) -> String {
    key.0.to_hex().to_string()
}

pub(super) fn key(text: &str) -> Option<Key> {
    blake3::Hash::from_hex(text).ok().map(Key)
}

/// A hash for hints only, where chance collisions do no harm.
pub(super) fn short_hash(place: &Place) -> u64 {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    hasher.finish()
}
