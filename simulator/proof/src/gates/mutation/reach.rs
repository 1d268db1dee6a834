//! Whether the replies of a run reach what the reference solution rests on: from engine facts, without the checks.

use std::cell::OnceCell;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin};
use diorama_grade::evidence::{Answer, History, parsed};
use diorama_seeds::value::Value;
use serde_json::{Map, Value as Json};

use crate::answer::Asked;
use crate::binding::each;
use crate::gates::Trial;
use crate::ground::GroundedGoal;

/// The replies of a run up to a point.
pub(super) struct Reached<'a> {
    trial: &'a Trial<'a>,
    log: &'a [Arc<LogEntry>],
    history: OnceCell<History<'a>>,
}

impl<'a> Reached<'a> {
    pub(super) const fn new(trial: &'a Trial<'a>, log: &'a [Arc<LogEntry>]) -> Self {
        Self { trial, log, history: OnceCell::new() }
    }

    /// Returns true if everything that a goal rests on is in the replies.
    pub(super) fn holds(&self, goal: &GroundedGoal) -> bool {
        let entries = &self.trial.grounded.entries;
        let facts = goal.asked.iter().all(|asked| {
            let Some(entry) = entries.get(asked.call()) else { return false };
            match asked {
                Asked::Leaf { path, .. } => {
                    entry.reply.body.at(path).is_some_and(|leaf| self.shows(leaf, entry, path))
                }
                Asked::Each { array, member, .. } => each(&entry.reply.body, array, member)
                    .is_some_and(|items| items.iter().all(|leaf| self.shows(leaf, entry, array))),
                Asked::Count { path, .. } => match entry.reply.body.at(path) {
                    // So many records, each of which is shown somewhere.
                    Some(Body::List(items)) if !items.is_empty() => items.iter().all(|item| {
                        let first =
                            item.parts().find(|part| matches!(part, Body::Leaf(_, Origin::Field { .. })));
                        first.is_some_and(|leaf| self.shows(leaf, entry, path))
                    }),
                    _ => self.shows_computed(entry, path),
                },
            }
        });
        facts && goal.refused_by.and_then(|call| entries.get(call)).is_none_or(|entry| self.refuses(entry))
    }

    /// Returns true if a reply shows the same value of the same field of the same record; of a new record, of any new one.
    fn shows(&self, leaf: &Body, entry: &LogEntry, path: &str) -> bool {
        let Body::Leaf(wanted, origin) = leaf else { return false };
        let Origin::Field { resource, key, field } = origin else { return self.shows_computed(entry, path) };
        let is_new = self
            .trial
            .expected
            .iter()
            .any(|change| change.before.is_none() && change.resource == *resource && change.key == *key);
        let made_up = is_new && *field == self.trial.world().resource(*resource).key;
        let successes = self.log.iter().filter(|entry| entry.reply.is_success());
        successes.flat_map(|entry| entry.reply.body.values()).any(|(value, from)| {
            let Origin::Field { resource: of, key: whose, field: shown } = from else { return false };
            (of, shown) == (resource, field) && (whose == key || is_new) && (value == wanted || made_up)
        })
    }

    /// Returns true if the same was asked with the same result, or the replies settle it.
    fn shows_computed(&self, entry: &LogEntry, path: &str) -> bool {
        let place = |entry: &LogEntry| entry.reply.body.at(path).cloned();
        let same = |other: &Arc<LogEntry>| self.asks_the_same(entry, other) && place(other) == place(entry);
        self.log.iter().any(same)
            || place(entry)
                .and_then(|body| body.value().map(|value| self.text(value)))
                .is_some_and(|text| self.settles(entry, Answer::Value { path, text: &text }))
    }

    /// Returns true if the same was refused or came back empty, or the replies tell that it would be.
    pub(super) fn refuses(&self, entry: &LogEntry) -> bool {
        let same = |other: &Arc<LogEntry>| {
            other.reply.status == entry.reply.status && self.asks_the_same(entry, other)
        };
        let answer = match entry.reply.is_success() {
            true => Answer::Empty,
            false => Answer::Refused(entry.reply.status),
        };
        self.log.iter().any(same) || self.settles(entry, answer)
    }

    fn settles(&self, entry: &LogEntry, answer: Answer<'_>) -> bool {
        let Some(api) = entry.api.map(|id| self.trial.world().api(id)) else { return false };
        let history = self.history.get_or_init(|| {
            let log = self.log.iter().map(|entry| &**entry);
            History::new(self.trial.context.base, &self.trial.grounded.initial, log)
        });
        history.settles(api, &parsed(&entry.call.api, &self.arguments(entry), self.trial.world()), answer)
    }

    /// Returns true if a call asks for the same as a reference call: all of its arguments but those that choose the view.
    fn asks_the_same(&self, reference: &LogEntry, other: &LogEntry) -> bool {
        let same = |(name, json): (&String, &Json)| other.call.arguments.get(name) == Some(json);
        other.call.api == reference.call.api && self.arguments(reference).iter().all(same)
    }

    fn arguments(&self, reference: &LogEntry) -> Map<String, Json> {
        let entries = &self.trial.grounded.entries;
        let call = entries.iter().position(|entry| std::ptr::eq(&**entry, reference));
        call.map(|call| crate::checks::binding_arguments(self.trial, call)).unwrap_or_default()
    }

    fn text(&self, value: &Value) -> String {
        value.to_text(&self.trial.world().zone)
    }
}
