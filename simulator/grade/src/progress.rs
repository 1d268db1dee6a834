//! Progress: the verdicts on the records after each call, judged once as the log goes on.

use std::collections::BTreeMap;

use diorama_engine::RecordChange;
use diorama_seeds::model::ResourceId;
use diorama_seeds::value::Value;
use serde::Serialize;

use super::change::{Compared, Damage};
use super::{Attempt, Prepared, Verdict};

/// The verdicts on the records after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// The expected changes were made by then.
    pub change: Verdict,
    /// Nothing else was changed by then.
    pub damage: Verdict,
}

impl Prepared {
    /// Returns the verdicts after each of the first calls, at most so many. A change that turns out to be harm by the end
    /// counts as harm from its call on.
    ///
    /// Changes are compared anew only after a call that changed something.
    #[must_use]
    pub fn progress(&self, attempt: &Attempt<'_>, most: usize) -> Vec<Progress> {
        let world = attempt.base.world();
        let opened = std::iter::once(0).chain(attempt.goals.iter().map(|goal| goal.calls)).collect();
        let whole = diorama_engine::diff(attempt.base, attempt.initial, attempt.last);
        let Compared { keys, .. } = self.changes.compare(&whole, &self.allowed, world);
        let on_the_way = Damage::new(attempt.log, opened).judge(&self.changes, &keys, &self.allowed, world);
        let harmed_at = on_the_way.into_iter().map(|(call, _)| call).min();
        let mut net: BTreeMap<(ResourceId, Value), RecordChange> = BTreeMap::new();
        let mut compared = self.changes.compare(&[], &self.allowed, world);
        let mut has_changed = false;
        let mut steps = Vec::with_capacity(attempt.log.len().min(most));
        for (call, entry) in attempt.log.iter().take(most).enumerate() {
            if !entry.changes.is_empty() {
                entry.changes.iter().for_each(|change| add(&mut net, change));
                let changes: Vec<RecordChange> = net.values().cloned().collect();
                compared = self.changes.compare(&changes, &self.allowed, world);
                has_changed = true;
            }
            let change = match self.changes.checks.is_empty() {
                true => Verdict::NotEvaluated,
                false => Verdict::of(compared.errors.is_empty()),
            };
            let damage = match self.writes || has_changed {
                true => Verdict::of(
                    compared.damage.is_empty() && harmed_at.is_none_or(|harmed_at| call < harmed_at),
                ),
                false => Verdict::NotEvaluated,
            };
            steps.push(Progress { change, damage });
        }
        steps
    }
}

/// Adds a change to those since the start.
fn add(net: &mut BTreeMap<(ResourceId, Value), RecordChange>, change: &RecordChange) {
    let place = (change.resource, change.key.clone());
    let known = net.entry(place.clone()).or_insert_with(|| change.clone());
    known.after.clone_from(&change.after);
    if known.before == known.after {
        net.remove(&place);
    }
}
