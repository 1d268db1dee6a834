//! Progress: judges the changes of an episode after each call.

use serde::Serialize;

use super::change::{ChangeComparison, Window};
use super::episode::{Attempt, own_calls};
use super::prepare::PreparedChecks;
use super::verdict::Verdict;

/// The verdicts on changes after one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// The episode made the expected changes by then.
    pub change: Verdict,
    /// The episode changed no other record by then.
    pub damage: Verdict,
}

impl PreparedChecks {
    /// Returns the verdicts after each of the first `most` calls. Compares again only after calls that
    /// changed a record.
    #[must_use]
    pub fn progress(&self, attempt: &Attempt<'_>, most: usize) -> Vec<Progress> {
        let world = attempt.base.world();
        let compare = |calls: usize| {
            let log = attempt.log.get(..calls).unwrap_or(attempt.log);
            let ChangeComparison { goals, .. } = self.changes.compare(
                &own_calls(&Attempt { log, ..*attempt }).into_iter().map(Window::new).collect::<Vec<_>>(),
                &self.allowed,
                world,
            );
            let errors = goals.iter().any(|goal| !goal.errors.is_empty());
            (errors, goals.iter().any(|goal| !goal.damage.is_empty()))
        };
        let (mut wrong, mut harmed) = compare(0);
        let mut has_changed = false;
        let mut steps = Vec::with_capacity(attempt.log.len().min(most));
        for (call, entry) in attempt.log.iter().take(most).enumerate() {
            if !entry.changes.is_empty() {
                (wrong, harmed) = compare(call + 1);
                has_changed = true;
            }
            let change = match self.changes.checks.is_empty() {
                true => Verdict::NotEvaluated,
                false => Verdict::from_bool(!wrong),
            };
            let damage =
                if self.writes || has_changed { Verdict::from_bool(!harmed) } else { Verdict::NotEvaluated };
            steps.push(Progress { change, damage });
        }
        steps
    }
}
