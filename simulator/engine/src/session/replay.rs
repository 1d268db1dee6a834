//! Reads a session's log. Where only calls are kept, their replies and changes are made again: the engine is a pure
//! function of state and call, so that a session that lives for long need not hold all its replies.

use std::sync::Arc;

use diorama_seeds::task::Call;
use diorama_seeds::value::Instant;
use rpds::VectorSync;

use super::calls::Session;
use super::entry::LogEntry;
use super::log::{BETWEEN_MARKS, Log, Mark};

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

    /// The calls so far, oldest first.
    #[must_use]
    pub fn log(&self) -> Entries<'_> {
        self.log_from(0)
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

    /// About how many bytes of memory the session takes beside its base: records, tokens and the calls of a brief log.
    /// Structure that forks share is counted for each.
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

    /// Makes a call again at the time when it was made.
    pub(super) fn repeat(&mut self, clock: Instant, call: Call) -> Arc<LogEntry> {
        self.set_clock(clock);
        self.call_owned(call)
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
                    let earlier = asked.get(again.log.len())?;
                    again.repeat(earlier.clock, earlier.call(&session.base));
                }
                again.repeat(wanted.clock, wanted.call(&session.base))
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
