//! Owns the log of a session: its calls with replies, without replies, or only their number.

use std::sync::Arc;

use diorama_seeds::model::ApiId;
use diorama_seeds::task::Call;
use diorama_seeds::value::Instant;
use rpds::{RedBlackTreeSetSync, VectorSync};
use serde_json::Map;

use super::entry::LogEntry;
use crate::{Base, State};

/// Number of calls between two marks. Reading one entry replays at most as many calls.
pub(super) const BETWEEN_MARKS: usize = 256;

/// The calls so far.
#[derive(Clone, Debug)]
pub(super) enum Log {
    /// With replies and changes.
    Whole(VectorSync<Arc<LogEntry>>),
    /// Without replies and changes.
    Brief {
        /// The calls.
        asked: VectorSync<PendingCall>,
        /// The state of the session before every [`BETWEEN_MARKS`]th call.
        marks: VectorSync<Mark>,
        /// Approximate bytes of both, beyond what the session uses anyway.
        bytes: u64,
        /// The value of [`State::written`] at the last mark.
        written: u64,
    },
    /// Only the number of calls. Another session replays them.
    Counted(usize),
}

/// A call without its reply.
#[derive(Debug)]
pub(super) struct PendingCall {
    pub(super) clock: Instant,
    /// The API, or the called name if no API has it.
    api: Result<ApiId, Box<str>>,
    /// JSON text. Empty if there are no arguments.
    arguments: Box<str>,
}

/// The state of a session at one point.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) state: State,
    pub(super) before: State,
    pub(super) visible: Option<RedBlackTreeSetSync<ApiId>>,
}

impl PendingCall {
    fn of(entry: &LogEntry) -> Self {
        let Call { api, arguments } = &entry.call;
        let text = || serde_json::to_string(arguments).unwrap_or_default().into_boxed_str();
        Self {
            clock: entry.clock,
            api: entry.api.ok_or_else(|| api.as_str().into()),
            arguments: if arguments.is_empty() { Box::default() } else { text() },
        }
    }

    /// Returns the approximate bytes of memory.
    fn bytes(&self) -> u64 {
        let name = self.api.as_ref().err().map_or(0, |name| name.len());
        (2 * size_of::<Self>() + name + self.arguments.len()) as u64
    }

    pub(super) fn call(&self, base: &Base) -> Call {
        let api = match &self.api {
            Ok(api) => base.world().api(*api).name.to_string(),
            Err(name) => name.to_string(),
        };
        let arguments = match &*self.arguments {
            "" => Map::new(),
            // [`PendingCall::of`] wrote this text, so parsing cannot fail.
            text => serde_json::from_str(text).unwrap_or_default(),
        };
        Call { api, arguments }
    }
}

impl Log {
    /// Returns an empty log of the same kind.
    pub(super) fn emptied(&self) -> Self {
        match self {
            Self::Whole(_) => Self::Whole(VectorSync::new_sync()),
            Self::Brief { .. } | Self::Counted(_) => Self::brief(),
        }
    }

    pub(super) fn brief() -> Self {
        Self::Brief { asked: VectorSync::new_sync(), marks: VectorSync::new_sync(), bytes: 0, written: 0 }
    }

    /// Returns the approximate bytes of memory of a brief log.
    pub(super) const fn bytes(&self) -> u64 {
        match self {
            Self::Brief { bytes, .. } => *bytes,
            Self::Whole(_) | Self::Counted(_) => 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Whole(entries) => entries.len(),
            Self::Brief { asked, .. } => asked.len(),
            Self::Counted(calls) => *calls,
        }
    }

    /// Adds a call. `mark` returns the session's state before it.
    pub(super) fn push(&mut self, entry: &Arc<LogEntry>, mark: impl FnOnce() -> Mark) {
        match self {
            Self::Whole(entries) => entries.push_back_mut(Arc::clone(entry)),
            Self::Brief { asked, marks, bytes, written } => {
                if asked.len().is_multiple_of(BETWEEN_MARKS) {
                    let mark = mark();
                    // A mark keeps the changes since the previous mark in memory, and at most all changes of
                    // its state.
                    let all = mark.state.written();
                    *bytes += mark.state.bytes().min(all.saturating_sub(*written));
                    *written = all;
                    marks.push_back_mut(mark);
                }
                let call = PendingCall::of(entry);
                *bytes += call.bytes();
                asked.push_back_mut(call);
            }
            Self::Counted(calls) => *calls += 1,
        }
    }
}
