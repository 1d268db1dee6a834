//! Episodes: the calls of an attempt by goal, how each goal ended, and which leaves the replies had shown by then.

use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Base, State};
use diorama_seeds::task::{Fact, Outcome, RefusalClass};
use serde_json::{Map, Value as Json};

use crate::change::Window;
use crate::consent::Consent;
use crate::evidence::{EvidenceNeeds, NewRecords, Verdicts};
use crate::fact::fact_from_value;

/// The result of an agent in an episode.
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
    /// The ends of the goals, in order. Goals that the conversation did not reach are missing.
    pub goals: &'a [GoalEnd<'a>],
}

/// The end of a goal, as the agent declared it.
#[derive(Clone, Debug, Default)]
pub struct GoalEnd<'a> {
    /// The outcome, or none if the agent did not end the goal.
    pub outcome: Option<Outcome>,
    /// The class of the reason, for refusals.
    pub reason: Option<RefusalClass>,
    /// The id or name of the refusal's subject, as the agent gave it.
    pub about: Option<&'a str>,
    /// The facts that the agent gave, by name.
    pub facts: Option<&'a Map<String, Json>>,
    /// Number of calls in the episode when the goal ended.
    pub calls: usize,
    /// The calls of the goal to which the user said yes.
    pub consents: Vec<Consent<'a>>,
}

/// A goal of an episode, with its calls and the leaves that replies show by its end.
pub(crate) struct Goal<'a> {
    pub(crate) ended: &'a GoalEnd<'a>,
    /// All calls of the episode up to the end of the goal.
    pub(crate) log: &'a [Arc<LogEntry>],
    /// The calls since the end of the previous goal.
    pub(crate) own: &'a [Arc<LogEntry>],
    /// For each leaf of [`EvidenceNeeds`], true if a reply up to the goal's end shows it.
    pub(crate) seen: Vec<bool>,
}

impl<'a> Goal<'a> {
    /// Takes all calls up to the goal's end, and those since the previous goal. Adds the leaves that its own
    /// replies show to `seen`.
    pub(crate) fn new(
        ended: &'a GoalEnd<'a>,
        (log, own): (&'a [Arc<LogEntry>], &'a [Arc<LogEntry>]),
        wanted: &EvidenceNeeds,
        seen: &mut [bool],
    ) -> Self {
        wanted.mark_seen(own.iter().map(|entry| &**entry), seen);
        Self { ended, log, own, seen: seen.to_vec() }
    }
}

/// An attempt, with its calls and changes split by goal.
pub(crate) struct Episode<'a> {
    pub(crate) attempt: &'a Attempt<'a>,
    pub(crate) goals: Vec<Goal<'a>>,
    /// The changes of each goal, then those of the calls after the last goal.
    pub(crate) windows: Vec<Window<'a>>,
    /// The cached verdicts on evidence, if the caller keeps them.
    pub(crate) verdicts: Option<&'a Verdicts>,
}

/// Splits the calls by goal. Calls after the end of the last goal become one more slice.
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
    /// Returns the value that the world generated for a field of a new record, as a fact.
    pub(crate) fn generated_fact(&self, new: &NewRecords<'_>, number: u32, field: &str) -> Option<Fact> {
        let (resource, key, field) = new.field(number, field)?;
        let changes = self.windows.iter().flat_map(|window| &window.net);
        let mut created = changes.filter(|change| change.before.is_none());
        let record =
            created.find(|change| (change.resource, &change.key) == (resource, key))?.after.as_ref()?;
        let value = record.get(field.index()).filter(|value| !value.is_missing())?;
        Some(fact_from_value(value, &new.world.zone))
    }
}
