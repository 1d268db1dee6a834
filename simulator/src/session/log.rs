//! The log of a session's calls.
//!
//! Owns how calls are kept, and how what came of them is made again where only the calls are kept: the engine is a
//! pure function of state and call, so a reply that was given once can be had any time, and a session that lives for
//! long need not hold all it ever said.

use std::sync::Arc;

use diorama_seeds::model::ApiId;
use diorama_seeds::task::Call;
use diorama_seeds::value::Instant;
use rpds::{RedBlackTreeSetSync, VectorSync};
use serde_json::Map;

use super::{LogEntry, Session};
use crate::engine::{Base, State};

/// From one mark to the next there are so many calls: as many are made again, at most, to get at one entry.
const BETWEEN_MARKS: usize = 256;

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
    clock: Instant,
    /// The API, or a name that no API has.
    api: Result<ApiId, Box<str>>,
    /// JSON; nothing where there are no arguments.
    arguments: Box<str>,
}

/// Where a session stood.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    state: State,
    before: State,
    visible: Option<RedBlackTreeSetSync<ApiId>>,
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

    fn call(&self, base: &Base) -> Call {
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
    /// Returns an empty log that keeps calls in the same way. A log that only counts becomes a brief one.
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

impl Session {
    /// Keeps of its calls only what was asked. The log is the same, and takes as long to read as the calls took to
    /// make; a call takes a tenth of the memory.
    ///
    /// To be chosen before the first call: it empties the log.
    #[must_use]
    pub fn with_brief_log(mut self) -> Self {
        self.log = Log::brief();
        self
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { state: self.state.clone(), before: self.before.clone(), visible: self.visible.clone() }
    }

    /// The calls so far, oldest first, from the one of this number on (from 0).
    #[must_use]
    pub fn log_from(&self, first: usize) -> Entries<'_> {
        Entries { session: self, next: first.min(self.log.len()), again: None }
    }

    /// How many calls there were.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.log.len()
    }

    /// Returns the approximate memory in bytes that the session takes beside its base: records, tokens and the calls
    /// of a brief log. Memory that forks share is counted for each.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.state.bytes() + self.log.bytes()
    }

    /// The clock and the call of each entry, which nothing is made again for.
    pub(super) fn asked(&self) -> impl Iterator<Item = (Instant, Call)> {
        let asked = |number| match &self.log {
            Log::Whole(entries) => entries.get(number).map(|entry| (entry.clock, entry.call.clone())),
            Log::Brief { asked, .. } => asked.get(number).map(|asked| (asked.clock, asked.call(&self.base))),
            Log::Counted(_) => None,
        };
        (0..self.log.len()).map_while(asked)
    }

    /// A session that stands where this one stood before a call, or before an earlier one: its number says which.
    fn near(&self, number: usize, marks: &VectorSync<Mark>) -> Self {
        let mark = (number / BETWEEN_MARKS).min(marks.len().saturating_sub(1));
        let mut again = self.clone();
        again.reset();
        again.log = Log::Counted(0);
        if let Some(Mark { state, before, visible }) = marks.get(mark) {
            again.state = state.clone();
            again.before = before.clone();
            again.visible.clone_from(visible);
            again.log = Log::Counted(mark * BETWEEN_MARKS);
        }
        again
    }
}

/// The entries of a log; those that were not kept are made again.
#[derive(Debug)]
pub struct Entries<'a> {
    session: &'a Session,
    next: usize,
    again: Option<Box<Session>>,
}

impl Iterator for Entries<'_> {
    type Item = Arc<LogEntry>;

    fn next(&mut self) -> Option<Arc<LogEntry>> {
        let entry = match &self.session.log {
            Log::Whole(entries) => Arc::clone(entries.get(self.next)?),
            Log::Brief { asked, marks, .. } => {
                let wanted = asked.get(self.next)?;
                let session = self.session;
                let again = self.again.get_or_insert_with(|| Box::new(session.near(self.next, marks)));
                while again.log.len() < self.next {
                    again.make_again(asked.get(again.log.len())?);
                }
                again.make_again(wanted)
            }
            Log::Counted(_) => return None,
        };
        self.next += 1;
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match &self.session.log {
            Log::Counted(_) => 0,
            log => log.len().saturating_sub(self.next),
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for Entries<'_> {}

impl Session {
    fn make_again(&mut self, asked: &Asked) -> Arc<LogEntry> {
        self.set_clock(asked.clock);
        let call = asked.call(&self.base);
        self.call(&call)
    }
}
