//! Owns the grader: the only judge of an episode.
//!
//! A pure function of world, states, log, checks and structured final answers. The gates, `verify`, `eval`
//! and HTTP all call it. It must not read prose or a clock, or know the agent.

mod about;
mod articles;
mod change;
mod consent;
mod episode;
mod errors;
pub mod evidence;
mod exclusion;
mod fact;
mod goal;
mod prepare;
mod progress;
mod structured;
mod text;
mod verdict;

use diorama_seeds::task::Checks;

pub use self::articles::{has_read_all, rules_read};
pub use self::consent::{Consent, arguments, is_same_call};
pub use self::episode::{Attempt, GoalEnd};
pub use self::errors::{ChangeError, CheckError, ErrorClass, GradeError};
pub use self::evidence::EvidenceError;
pub use self::exclusion::{Cause, NeededCall, exclusion};
pub use self::fact::{FactError, fact_from_value, fill_fact};
pub use self::prepare::PreparedChecks;
pub use self::progress::Progress;
pub use self::verdict::{Components, GRADER_VERSION, GoalGrade, Grade, Verdict};

use self::change::{ChangeComparison, GoalChanges, Window};
use self::episode::{Episode, Goal, own_calls};
use self::evidence::{NewRecords, Standard, Verdicts};
use self::goal::JudgedGoal;

/// Grades an attempt once. To grade many against the same checks, prepare them first ([`PreparedChecks`]).
///
/// # Errors
/// [`CheckError`] when the checks do not fit the world, or would pass anything.
pub fn grade(checks: &Checks, attempt: &Attempt<'_>) -> Result<Grade, CheckError> {
    Ok(PreparedChecks::new(checks, attempt.base)?.grade(attempt))
}

/// The verdicts on an attempt.
#[derive(Default)]
struct Judgement {
    components: Components,
    goals: Vec<GoalGrade>,
    errors: Vec<GradeError>,
}

impl PreparedChecks {
    /// Grades an attempt.
    #[must_use]
    pub fn grade(&self, attempt: &Attempt<'_>) -> Grade {
        let episode = self.episode(attempt, None);
        let Judgement { components, goals, mut errors } = self.judge(&episode, false);
        let success = components.solved();
        if success {
            errors.clear();
        } else {
            errors.extend(errors::find_call_errors(attempt.log));
        }
        Grade {
            version: GRADER_VERSION.to_owned(),
            success,
            reward: if success { 1.0 } else { 0.0 },
            components,
            goals,
            errors,
        }
    }

    /// Returns [`Grade::success`] without the errors. Stops at the first fault. `verdicts` caches those of
    /// earlier attempts at the same task.
    #[must_use]
    pub fn passes(&self, attempt: &Attempt<'_>, verdicts: &Verdicts) -> bool {
        let episode = self.episode(attempt, Some(verdicts));
        self.judge(&episode, true).components.solved()
    }

    /// Returns true if replies show everything that the goals rest on. The search is more thorough than the
    /// one of [`Self::grade`].
    #[must_use]
    pub fn tells_all(&self, attempt: &Attempt<'_>, verdicts: &Verdicts) -> bool {
        let episode = self.episode(attempt, Some(verdicts));
        let world = attempt.base.world();
        let ChangeComparison { keys, .. } = self.changes.compare(&episode.windows, &self.allowed, world);
        let new = NewRecords { world, resources: &self.changes.created, keys: &keys };
        self.judged_goals(&episode, &new).all(|goal| goal.judge_evidence(Standard::Thorough).1.is_empty())
    }

    /// Returns the goals that the attempt reached, with their expectations.
    fn judged_goals<'a>(
        &'a self,
        episode: &'a Episode<'a>,
        new: &'a NewRecords<'a>,
    ) -> impl Iterator<Item = JudgedGoal<'a>> {
        let goals = self.goals.iter().zip(&episode.goals);
        goals.map(move |(expected, goal)| JudgedGoal { expected, goal, episode, new })
    }

    fn episode<'a>(&'a self, attempt: &'a Attempt<'a>, verdicts: Option<&'a Verdicts>) -> Episode<'a> {
        let mut seen = self.wanted.initial_seen();
        let own = own_calls(attempt);
        let goals = attempt.goals.iter().zip(&own);
        let goals = goals.map(|(ended, own)| {
            let log = attempt.log.get(..ended.calls).unwrap_or(attempt.log);
            Goal::new(ended, (log, own), &self.wanted, &mut seen)
        });
        let goals = goals.collect();
        Episode { attempt, goals, windows: own.into_iter().map(Window::new).collect(), verdicts }
    }

    /// Judges an episode. With `only_whether`, returns a failed judgement at the first fault.
    fn judge(&self, episode: &Episode<'_>, only_whether: bool) -> Judgement {
        let mut judged = Judgement::default();
        let ChangeComparison { keys, goals: changes } =
            self.changes.compare(&episode.windows, &self.allowed, episode.attempt.base.world());
        let wrong =
            changes.iter().flat_map(|goal| &goal.errors).chain(changes.iter().flat_map(|goal| &goal.damage));
        judged.errors.extend(wrong.cloned());
        if only_whether && !judged.errors.is_empty() {
            return Judgement::default();
        }
        let changed =
            |goal: usize| self.judge_changes(goal, changes.get(goal..).unwrap_or_default(), episode);
        let new =
            NewRecords { world: episode.attempt.base.world(), resources: &self.changes.created, keys: &keys };
        let goals = self.judged_goals(episode, &new);
        let shown: Vec<_> = goals.map(|held| (held, held.judge_evidence(Standard::Usual))).collect();
        let reached = shown.len() == self.goals.len();
        // Changes and evidence are judged first. A fault in them saves the comparison of answers.
        let lacks = || shown.iter().any(|(_, (_, missing))| !missing.is_empty());
        if only_whether && (!reached || lacks()) {
            return Judgement::default();
        }
        let mut shown = shown.into_iter();
        for number in 0..self.goals.len() {
            let Some((held, (shown, missing))) = shown.next() else {
                let message = format!("goal {number} of the conversation was not reached");
                judged.errors.push(GradeError::new(ErrorClass::MissingGoal, message));
                let (change, damage) = changed(number);
                judged.goals.push(GoalGrade {
                    outcome: Verdict::Failed,
                    change,
                    damage,
                    ..GoalGrade::default()
                });
                continue;
            };
            let answer = held.judge_facts(&mut judged.errors);
            if only_whether && answer == Verdict::Failed {
                judged.components.answer = Verdict::Failed;
                return judged;
            }
            judged.errors.extend(missing);
            let outcome = held.judge_outcome(&mut judged.errors);
            let policy = held.judge_policy(&self.policy, &mut judged.errors);
            if only_whether && policy == Verdict::Failed {
                judged.components.policy = Verdict::Failed;
                return judged;
            }
            // A refusal that no call leads to has no evidence, so its given reason decides.
            let declines = shown == Verdict::NotEvaluated && !held.expected.refusal.is_empty();
            let evidence = if declines { outcome } else { shown };
            let (change, damage) = changed(number);
            judged.goals.push(GoalGrade { outcome, change, damage, answer, evidence, policy });
        }
        let combine = |of: fn(&GoalGrade) -> Verdict| Verdict::combine(judged.goals.iter().map(of));
        judged.components.outcome = combine(|goal| goal.outcome);
        judged.components.change = combine(|goal| goal.change);
        judged.components.damage = combine(|goal| goal.damage);
        judged.components.answer = combine(|goal| goal.answer);
        judged.components.evidence = combine(|goal| goal.evidence);
        judged.components.policy = combine(|goal| goal.policy);
        judged
    }

    /// Judges the changes of a goal. `changes` starts with those of this goal. Changes after the last goal
    /// count as damage of the last goal.
    fn judge_changes(
        &self,
        goal: usize,
        changes: &[GoalChanges],
        episode: &Episode<'_>,
    ) -> (Verdict, Verdict) {
        let is_last = goal + 1 == self.goals.len();
        let own = if is_last { changes } else { changes.get(..1).unwrap_or(changes) };
        let change = match self.changes.asks(goal) {
            true => Verdict::from_bool(own.iter().all(|goal| goal.errors.is_empty())),
            false => Verdict::NotEvaluated,
        };
        let is_quiet = episode.windows.get(goal).is_none_or(|window| window.steps.is_empty());
        let harmless = own.iter().all(|goal| goal.damage.is_empty());
        let damage = if self.writes || !is_quiet || !harmless {
            Verdict::from_bool(harmless)
        } else {
            Verdict::NotEvaluated
        };
        (change, damage)
    }
}

#[cfg(test)]
mod tests;
