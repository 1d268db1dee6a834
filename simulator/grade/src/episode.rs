//! Episodes: the calls of an attempt by goal, how each goal ended, and which leaves the replies had shown by then.

use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Base, State};
use diorama_seeds::task::{Fact, Outcome, RefusalClass};
use serde_json::{Map, Value as Json};

use crate::change::Window;
use crate::consent::Consent;
use crate::evidence::{NewRecords, Verdicts, Wanted};
use crate::fact::made_fact;

/// What an agent did in an episode.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The world.
    pub base: &'a Base,
    /// The state at the start.
    pub initial: &'a State,
    /// The state at the end.
    pub last: &'a State,
    /// The calls, oldest first.
    pub log: &'a [Arc<LogEntry>],
    /// How each goal ended, in order. A goal that was not reached is not there.
    pub goals: &'a [Ended<'a>],
}

/// How an agent ended a goal.
#[derive(Clone, Debug, Default)]
pub struct Ended<'a> {
    /// The outcome; none where the agent did not end the goal.
    pub outcome: Option<Outcome>,
    /// For refusals: the class of the reason.
    pub reason: Option<RefusalClass>,
    /// For refusals: the id or name that the agent gave for what they are about.
    pub about: Option<&'a str>,
    /// The facts that the agent gave, by name.
    pub facts: Option<&'a Map<String, Json>>,
    /// How many calls the episode had by then.
    pub calls: usize,
    /// The calls of the goal to which the user said yes.
    pub consents: Vec<Consent<'a>>,
}

/// A goal as it ended, with what is read of it once.
pub(crate) struct Goal<'a> {
    pub(crate) ended: &'a Ended<'a>,
    /// The calls up to its end.
    pub(crate) log: &'a [Arc<LogEntry>],
    /// The calls since the end of the goal before.
    pub(crate) own: &'a [Arc<LogEntry>],
    /// Which leaves the replies up to its end show.
    pub(crate) seen: Vec<bool>,
}

impl<'a> Goal<'a> {
    /// A goal with the calls up to its end, of which the second are those since the goal before. `seen` are the leaves that replies of the
    /// goals before show.
    pub(crate) fn new(
        ended: &'a Ended<'a>,
        (log, own): (&'a [Arc<LogEntry>], &'a [Arc<LogEntry>]),
        wanted: &Wanted,
        seen: &mut [bool],
    ) -> Self {
        wanted.see(own.iter().map(|entry| &**entry), seen);
        Self { ended, log, own, seen: seen.to_vec() }
    }
}

/// An attempt with what is read of it once.
pub(crate) struct Episode<'a> {
    pub(crate) attempt: &'a Attempt<'a>,
    pub(crate) goals: Vec<Goal<'a>>,
    /// The changes of each goal, and those of calls after the last.
    pub(crate) windows: Vec<Window<'a>>,
    /// The verdicts on evidence of earlier attempts at the same task, where they are kept.
    pub(crate) verdicts: Option<&'a Verdicts>,
}

/// The calls of each goal; those after the end of the last, where there are any, in one slice more.
pub(crate) fn own_calls<'a>(attempt: &Attempt<'a>) -> Vec<&'a [Arc<LogEntry>]> {
    let mut rest = attempt.log;
    let mut start = 0;
    let mut own: Vec<&[Arc<LogEntry>]> = Vec::with_capacity(attempt.goals.len() + 1);
    for ended in attempt.goals {
        let calls = ended.calls.saturating_sub(start).min(rest.len());
        let (first, after) = rest.split_at(calls);
        own.push(first);
        rest = after;
        start += calls;
    }
    own.extend((!rest.is_empty()).then_some(rest));
    own
}

impl Episode<'_> {
    /// What the world made for a field of a new record, as a fact.
    pub(crate) fn made(&self, new: &NewRecords<'_>, number: u32, field: &str) -> Option<Fact> {
        let (resource, key, field) = new.field(number, field)?;
        let changes = self.windows.iter().flat_map(|window| &window.net);
        let mut created = changes.filter(|change| change.before.is_none());
        let record =
            created.find(|change| (change.resource, &change.key) == (resource, key))?.after.as_ref()?;
        let value = record.get(field.index()).filter(|value| !value.is_missing())?;
        Some(made_fact(value, &new.world.zone))
    }
}
