//! Owns the server's own count of requests and replies.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;

/// Requests and replies so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Requests that arrived.
    pub calls: u64,
    /// Complete replies that reported their tokens.
    pub answered: u64,
    /// Input tokens that those replies reported.
    pub input_tokens: u64,
    /// Output tokens that those replies reported.
    pub output_tokens: u64,
    /// Replies whose tokens the client cannot know: the reply was cut, never sent, unreadable, or without
    /// usage.
    pub lost: u64,
    /// Faults by name.
    pub faults: BTreeMap<&'static str, u64>,
}

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRequest {
    /// Its body.
    pub body: Json,
    /// Its `Authorization` header.
    pub authorization: Option<String>,
}

/// Result of one request.
pub(crate) enum Entry {
    Fault(&'static str),
    Answered { input: u64, output: u64 },
    Lost,
}

#[derive(Default)]
pub(crate) struct Counter {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counts: ServerCounts,
    seen: HashMap<blake3::Hash, u64>,
    received: Vec<RecordedRequest>,
}

impl Counter {
    /// Counts a request, and returns how often the same body arrived before. A server without faults always
    /// gets 0.
    pub(crate) fn receive(&self, body: &[u8], faultless: bool) -> u64 {
        let mut state = self.state();
        state.counts.calls += 1;
        if faultless {
            return 0;
        }
        let seen = state.seen.entry(blake3::hash(body)).or_default();
        *seen += 1;
        *seen - 1
    }

    pub(crate) fn keep(&self, received: RecordedRequest) {
        self.state().received.push(received);
    }

    pub(crate) fn enter(&self, entry: Entry) {
        let counts = &mut self.state().counts;
        match entry {
            Entry::Fault(name) => *counts.faults.entry(name).or_default() += 1,
            Entry::Answered { input, output } => {
                counts.answered += 1;
                counts.input_tokens += input;
                counts.output_tokens += output;
            }
            Entry::Lost => counts.lost += 1,
        }
    }

    pub(crate) fn counts(&self) -> ServerCounts {
        self.state().counts.clone()
    }

    pub(crate) fn received(&self) -> Vec<RecordedRequest> {
        self.state().received.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
