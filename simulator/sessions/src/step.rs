//! One step of a session: a call, by whichever way it came, is refused by the caps or made, written down and counted.

use std::sync::Arc;

use diorama_seeds::task::Call;
use serde_json::Value as Json;

use super::after::{After, Saved};
use super::live::Live;
use super::problem::{Kind, Problem};
use super::sessions::Sessions;
use super::store::Event;
use super::store::restore::recall;
use diorama_engine::session::LogEntry;

/// Levels that the arguments of a call may nest. No type takes more than half of them, and what is written down nests
/// a few levels more, of which a reader of JSON takes 128.
const MAX_NESTING: usize = 64;

impl Sessions {
    /// Makes a call. Where it cannot be written down it has not been made.
    ///
    /// # Errors
    /// [`Kind::Conflict`] once the episode has ended, [`Kind::TooMany`] at a cap.
    pub fn step(&self, live: &mut Live, call: Call) -> Result<(Arc<LogEntry>, After), Problem> {
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
        let after = After::of(&entry.faults, saved);
        Ok((entry, after))
    }

    /// Has a session know its calls, and not only where they led: what is to read its log asks for this first.
    ///
    /// # Errors
    /// [`Kind::Failed`] where the state folder lacks them.
    pub fn recall(&self, live: &mut Live) -> Result<(), Problem> {
        let Some(store) = &self.store else { return Ok(()) };
        recall(store, live).map_err(|error| {
            tracing::error!(%error, "the state folder");
            Problem::new(Kind::Failed, format!("the session's calls cannot be made again: {error}"))
        })?;
        live.weigh();
        Ok(())
    }

    /// All calls of a session with what came of them, where that is not more than may be looked at together.
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

    /// The calls of an episode, to go on with it or to judge it; none where they are more than may be looked at together.
    pub(crate) fn judged_log(&self, live: &mut Live) -> Result<Option<Vec<Arc<LogEntry>>>, Problem> {
        match self.whole_log(live) {
            Ok(log) => Ok(Some(log)),
            Err(problem) if problem.kind() == Kind::Invalid => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// The problem of an episode that has outgrown what can be judged.
    pub(crate) fn outgrown(&self) -> Problem {
        let most = self.settings.max_reply_bytes;
        let detail = format!(
            "the session's calls and replies come to more than {most} bytes (--max-reply-bytes), so the episode has failed; \
             grade it, reset the session or create another"
        );
        Problem::new(Kind::Conflict, detail).with("limit", most).with("done", true)
    }

    /// Room for as many bytes as one reply may have.
    #[must_use]
    pub const fn room(&self, of: &'static str) -> Room {
        let most = self.settings.max_reply_bytes;
        Room { of, most, left: most }
    }

    /// Writes down what happens to a session, before it does.
    pub(crate) fn note(&self, live: &mut Live, event: &Event) -> Result<Option<Saved>, Problem> {
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

/// The bytes that a reply may still have.
pub struct Room {
    of: &'static str,
    most: u64,
    left: u64,
}

impl Room {
    /// Takes some of it.
    ///
    /// # Errors
    /// When there is not so much: the problem names the cap.
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
