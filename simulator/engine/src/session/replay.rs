//! Reads a session's log. A brief log replays its calls, since the engine is a pure function of state and
//! call. So a long session need not keep its replies.

use std::sync::Arc;

use diorama_seeds::task::Call;
use diorama_seeds::value::Instant;
use rpds::VectorSync;

use super::calls::Session;
use super::entry::LogEntry;
use super::log::{BETWEEN_MARKS, Log, Mark};

impl Session {
    /// Keeps only the calls in the log. Reading the log then takes as long as the calls took. A call takes a
    /// tenth of the memory.
    ///
    /// Must be set before the first call, because it empties the log.
    #[must_use]
    pub fn with_brief_log(mut self) -> Self {
        self.log = Log::brief();
        self
    }

    /// Returns the calls so far, oldest first.
    #[must_use]
    pub fn log(&self) -> Entries<'_> {
        self.log_from(0)
    }

    /// Returns the calls from number `first` on (from 0), oldest first.
    #[must_use]
    pub fn log_from(&self, first: usize) -> Entries<'_> {
        Entries { session: self, next: first.min(self.log.len()), again: None }
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.log.len()
    }

    /// Returns the approximate bytes of memory beside the base: records, tokens and the calls of a brief log.
    /// Parts that forks share count for each fork.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.state.bytes() + self.log.bytes()
    }

    /// Returns the clock and the call of each entry, without a replay.
    pub(super) fn asked(&self) -> impl Iterator<Item = (Instant, Call)> {
        let asked = |number| match &self.log {
            Log::Whole(entries) => entries.get(number).map(|entry| (entry.clock, entry.call.clone())),
            Log::Brief { asked, .. } => asked.get(number).map(|asked| (asked.clock, asked.call(&self.base))),
            Log::Counted(_) => None,
        };
        (0..self.log.len()).map_while(asked)
    }

    /// Returns a session in the state of the last mark at or before the call with this number.
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

    /// Replays a call at its original time.
    pub(super) fn repeat(&mut self, clock: Instant, call: Call) -> Arc<LogEntry> {
        self.set_clock(clock);
        self.call_owned(call)
    }
}

/// The entries of a log. Missing replies are replayed.
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
