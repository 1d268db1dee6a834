//! A step of a session: checks a call against the limits, makes it, journals it and counts it.

use std::sync::Arc;

use diorama_seeds::task::Call;
use serde_json::Value as Json;

use super::after::{PendingEvent, PendingSteps};
use super::live::Live;
use super::problem::{Kind, Problem};
use super::sessions::Sessions;
use super::store::Event;
use super::store::restore::recall;
use diorama_engine::session::LogEntry;

/// Maximum nesting of a call's arguments. Types need at most half of it. The journal adds a few levels, and
/// its JSON parser accepts 128.
const MAX_NESTING: usize = 64;

impl Sessions {
    /// Makes a call. A call that cannot be journalled is undone.
    ///
    /// # Errors
    /// [`Kind::Conflict`] after the episode has ended. [`Kind::TooMany`] at a limit.
    pub fn step(&self, live: &mut Live, call: Call) -> Result<(Arc<LogEntry>, PendingSteps), Problem> {
        live.takes_calls(&self.settings, &self.scale)?;
        if let Some(most) = self.settings.max_calls_per_s {
            live.takes_one_now(most, self.now_ms())?;
        }
        if call.arguments.values().any(|value| nests(value, MAX_NESTING)) {
            let detail =
                format!("the arguments: expected at most {MAX_NESTING} levels in each other, found more");
            return Err(Problem::new(Kind::Invalid, detail).with("limit", MAX_NESTING as u64));
        }
        let before = self.store.as_ref().map(|_| live.session.fork());
        let entry = live.session.call_owned(call);
        let mut saved = None;
        if let (Some(store), Some(before)) = (&self.store, before) {
            match store.append(live, &Event::Call(entry.call.clone(), entry.reply.status)) {
                Ok(promise) => saved = promise,
                Err(error) => {
                    live.session = before;
                    return Err(error.problem());
                }
            }
        }
        live.weigh();
        self.metrics.called(entry.reply.status);
        for fault in &entry.faults {
            self.metrics.fired(fault.kind);
        }
        let after = PendingSteps::of(&entry.faults, saved);
        Ok((entry, after))
    }

    /// Restores a session's log after a start from a snapshot. Code that reads the log calls this first.
    ///
    /// # Errors
    /// [`Kind::Failed`] if the state folder lacks the calls.
    pub fn recall(&self, live: &mut Live) -> Result<(), Problem> {
        let Some(store) = &self.store else { return Ok(()) };
        recall(store, live).map_err(|error| {
            tracing::error!(%error, "the state folder");
            Problem::new(Kind::Failed, format!("the session's calls cannot be made again: {error}"))
        })?;
        live.weigh();
        Ok(())
    }

    /// Returns the whole log of a session, unless it exceeds the limit of a reply.
    pub(crate) fn whole_log(&self, live: &mut Live) -> Result<Vec<Arc<LogEntry>>, Problem> {
        self.recall(live)?;
        let mut room = self.room("the session's calls and replies");
        live.session
            .log()
            .map(|entry| {
                room.take(entry.reply.body.bytes())?;
                Ok(entry)
            })
            .collect()
    }

    /// Returns the log of an episode for its judgement. Returns none if it exceeds the limit of a reply.
    pub(crate) fn judged_log(&self, live: &mut Live) -> Result<Option<Vec<Arc<LogEntry>>>, Problem> {
        match self.whole_log(live) {
            Ok(log) => Ok(Some(log)),
            Err(problem) if problem.kind() == Kind::Invalid => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Makes the problem of an episode that is too large to be judged.
    pub(crate) fn outgrown(&self) -> Problem {
        let most = self.settings.max_reply_bytes;
        let detail = format!(
            "the session's calls and replies come to more than {most} bytes (--max-reply-bytes), so the episode has failed; \
             grade it, reset the session or create another"
        );
        Problem::new(Kind::Conflict, detail).with("limit", most).with("done", true)
    }

    /// Returns a budget of the bytes that one reply may have.
    #[must_use]
    pub const fn room(&self, of: &'static str) -> Room {
        let most = self.settings.max_reply_bytes;
        Room { of, most, left: most }
    }

    /// Journals an event of a session before it takes effect.
    pub(crate) fn note(&self, live: &mut Live, event: &Event) -> Result<Option<PendingEvent>, Problem> {
        let Some(store) = &self.store else { return Ok(None) };
        store.append(live, event).map_err(|error| error.problem())
    }
}

/// Returns true if lists and objects nest deeper than `levels`.
fn nests(json: &Json, levels: usize) -> bool {
    let inner = |value: &Json| nests(value, levels - 1);
    match json {
        Json::Array(_) | Json::Object(_) if levels == 0 => true,
        Json::Array(items) => items.iter().any(inner),
        Json::Object(members) => members.values().any(inner),
        _ => false,
    }
}

/// The bytes that a reply may still use.
pub struct Room {
    of: &'static str,
    most: u64,
    left: u64,
}

impl Room {
    /// Uses some of the bytes.
    ///
    /// # Errors
    /// A problem that names the limit if too few bytes are left.
    pub fn take(&mut self, bytes: u64) -> Result<(), Problem> {
        let Some(left) = self.left.checked_sub(bytes) else {
            let Self { of, most, .. } = self;
            let detail = format!(
                "{of} come to more than {most} bytes (--max-reply-bytes); ask for fewer at a time with offset and limit"
            );
            return Err(Problem::new(Kind::Invalid, detail).with("limit", *most));
        };
        self.left = left;
        Ok(())
    }
}
