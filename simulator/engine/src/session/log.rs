//! The calls that a session remembers, with their replies or without.

use std::sync::Arc;

use diorama_seeds::model::ApiId;
use diorama_seeds::task::Call;
use diorama_seeds::value::Instant;
use rpds::{RedBlackTreeSetSync, VectorSync};
use serde_json::Map;

use super::entry::LogEntry;
use crate::{Base, State};

/// From one mark to the next there are so many calls: as many are made again, at most, to get at one entry.
pub(super) const BETWEEN_MARKS: usize = 256;

/// The calls so far.
#[derive(Clone, Debug)]
pub(super) enum Log {
    /// With all that came of them.
    Whole(VectorSync<Arc<LogEntry>>),
    /// As they were asked.
    Brief {
        /// The calls.
        asked: VectorSync<Asked>,
        /// Where the session stood before every 256th.
        marks: VectorSync<Mark>,
        /// About how many bytes of memory both take, what the session holds anyway aside.
        bytes: u64,
        /// How many had been written when the last mark was made.
        written: u64,
    },
    /// Only how many there were: the calls are another session's, which are made again.
    Counted(usize),
}

/// A call as it was asked.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) clock: Instant,
    /// The API, or a name that no API has.
    api: Result<ApiId, Box<str>>,
    /// JSON; nothing where there are no arguments.
    arguments: Box<str>,
}

/// Where a session stood.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) state: State,
    pub(super) before: State,
    pub(super) visible: Option<RedBlackTreeSetSync<ApiId>>,
}

impl Asked {
    fn of(entry: &LogEntry) -> Self {
        let Call { api, arguments } = &entry.call;
        let text = || serde_json::to_string(arguments).unwrap_or_default().into_boxed_str();
        Self {
            clock: entry.clock,
            api: entry.api.ok_or_else(|| api.as_str().into()),
            arguments: if arguments.is_empty() { Box::default() } else { text() },
        }
    }

    /// About how many bytes of memory it takes.
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
            // Written by `of` above, so that it is read: there is nothing that can fail.
            text => serde_json::from_str(text).unwrap_or_default(),
        };
        Call { api, arguments }
    }
}

impl Log {
    /// An empty log that keeps calls the same way.
    pub(super) fn emptied(&self) -> Self {
        match self {
            Self::Whole(_) => Self::Whole(VectorSync::new_sync()),
            Self::Brief { .. } | Self::Counted(_) => Self::brief(),
        }
    }

    pub(super) fn brief() -> Self {
        Self::Brief { asked: VectorSync::new_sync(), marks: VectorSync::new_sync(), bytes: 0, written: 0 }
    }

    /// About how many bytes of memory a brief log takes.
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

    /// Adds a call; `mark` says where the session stood before it.
    pub(super) fn push(&mut self, entry: &Arc<LogEntry>, mark: impl FnOnce() -> Mark) {
        match self {
            Self::Whole(entries) => entries.push_back_mut(Arc::clone(entry)),
            Self::Brief { asked, marks, bytes, written } => {
                if asked.len().is_multiple_of(BETWEEN_MARKS) {
                    let mark = mark();
                    // A mark keeps alive what was changed since the one before it, and no more than all there was.
                    let all = mark.state.written();
                    *bytes += mark.state.bytes().min(all.saturating_sub(*written));
                    *written = all;
                    marks.push_back_mut(mark);
                }
                let call = Asked::of(entry);
                *bytes += call.bytes();
                asked.push_back_mut(call);
            }
            Self::Counted(calls) => *calls += 1,
        }
    }
}
