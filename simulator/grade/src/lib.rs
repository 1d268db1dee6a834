//! The grader: the only judge of an episode.
//!
//! A pure function of world, states, log, checks and structured final answers. The gates, `verify`, `eval` and HTTP all
//! call it. It must not read words or a clock, or know who the agent is.

mod change;
mod errors;
pub mod evidence;
mod fact;
mod goal;
mod prepare;
mod progress;
mod structured;

use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_seeds::task::{Checks, Fact, Outcome, RefusalClass};
use diorama_seeds::value::Value;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

pub use self::change::ChangeError;
pub use self::errors::{CheckError, ErrorClass, GradeError};
pub use self::evidence::EvidenceError;
pub use self::fact::{FactError, filled_fact, made_fact};
pub use self::prepare::Prepared;
pub use self::progress::Progress;

use self::change::{Compared, Damage};
use self::evidence::NewRecords;
use self::goal::{Goal, Held};
use diorama_engine::session::LogEntry;
use diorama_engine::{Base, RecordChange, State, diff};

/// Version of the grader; a change that alters any verdict makes a new one.
pub const GRADER_VERSION: &str = "grade/2";

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
#[derive(Clone, Copy, Debug, Default)]
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
}

/// A verdict on an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// [`GRADER_VERSION`].
    pub version: String,
    /// Whether the task is solved.
    pub success: bool,
    /// 1 for success, else 0.
    pub reward: f64,
    /// Verdicts by criterion, over all goals.
    pub components: Components,
    /// Verdicts of each expected goal.
    pub goals: Vec<GoalGrade>,
    /// What is wrong. Empty for success.
    pub errors: Vec<GradeError>,
}

impl Grade {
    /// Whether each goal holds by itself: none of its verdicts failed, and something that it asks for was shown: a fact, the
    /// evidence of its end, or a change, with nothing else changed. All goals of a solved task hold.
    ///
    /// Credit for parts of a task, and no proof of anything.
    #[must_use]
    pub fn credited_goals(&self, checks: &Checks) -> Vec<bool> {
        if self.success {
            return vec![true; self.goals.len()];
        }
        let Components { change, damage, .. } = self.components;
        let harmed = [change, damage].contains(&Verdict::Failed);
        let writing: Vec<u32> = checks.changes.iter().map(|change| change.goal).collect();
        let credited = (0..).zip(&self.goals).map(|(number, goal)| {
            let writes = writing.contains(&number);
            let shows = [goal.answer, goal.evidence].contains(&Verdict::Passed)
                || (writes && change == Verdict::Passed);
            let fails = [goal.outcome, goal.answer, goal.evidence].contains(&Verdict::Failed);
            shows && !fails && !(writes && harmed)
        });
        credited.collect()
    }
}

/// Verdicts by criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Components {
    /// The episode ended as it should.
    pub outcome: Verdict,
    /// The expected changes were made, with the right values.
    pub change: Verdict,
    /// Nothing else was changed, not even for a while.
    pub damage: Verdict,
    /// The expected facts were given, with the right values.
    pub answer: Verdict,
    /// What was given, a reply of the episode shows.
    pub evidence: Verdict,
}

/// Verdicts on one goal. Changes are judged over the whole episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalGrade {
    /// It ended as it should.
    pub outcome: Verdict,
    /// The expected facts were given, with the right values.
    pub answer: Verdict,
    /// What was given, a reply of the episode up to then shows.
    pub evidence: Verdict,
}

/// A verdict on one criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// The task does not ask for it, or it cannot be judged: neither a pass nor a failure.
    #[default]
    NotEvaluated,
}

/// Grades an attempt once. To grade many against the same checks, prepare them first ([`Prepared`]).
///
/// # Errors
/// [`CheckError`] when the checks do not fit the world, or would pass anything.
pub fn grade(checks: &Checks, attempt: &Attempt<'_>) -> Result<Grade, CheckError> {
    Ok(Prepared::new(checks, attempt.base)?.grade(attempt))
}

/// What an attempt comes to.
#[derive(Default)]
struct Judgement {
    components: Components,
    goals: Vec<GoalGrade>,
    errors: Vec<GradeError>,
}

impl Prepared {
    /// Grades an attempt.
    #[must_use]
    pub fn grade(&self, attempt: &Attempt<'_>) -> Grade {
        let episode = self.episode(attempt);
        let Judgement { components, goals, mut errors } = self.judge(&episode, false);
        let success = components.solved();
        if success {
            errors.clear();
        } else {
            errors.extend(errors::of_calls(attempt.log));
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

    /// Whether an attempt succeeds: [`Grade::success`], without the reasons.
    #[must_use]
    pub fn passes(&self, attempt: &Attempt<'_>) -> bool {
        let episode = self.episode(attempt);
        self.judge(&episode, true).components.solved()
    }

    fn episode<'a>(&'a self, attempt: &'a Attempt<'a>) -> Episode<'a> {
        let opened = std::iter::once(0).chain(attempt.goals.iter().map(|goal| goal.calls)).collect();
        let mut seen = self.leaves.none();
        let goals = (0..).zip(attempt.goals);
        let goals = goals.map(|(number, ended)| Goal::new(number, attempt, ended, &self.leaves, &mut seen));
        Episode {
            attempt,
            goals: goals.collect(),
            changes: diff(attempt.base, attempt.initial, attempt.last),
            damage: Damage::new(attempt.log, opened),
        }
    }

    /// Judges an episode; where it is asked only whether it is solved, the first fault ends it.
    fn judge(&self, episode: &Episode<'_>, only_whether: bool) -> Judgement {
        let mut judged = Judgement::default();
        let keys = self.judge_changes(episode, &mut judged);
        if only_whether && !judged.errors.is_empty() {
            return Judgement::default();
        }
        let new =
            NewRecords { world: episode.attempt.base.world(), resources: &self.changes.created, keys: &keys };
        let goals = self.goals.iter().zip(&episode.goals);
        let goals = goals.map(|(expected, goal)| Held { expected, goal, episode, new: &new });
        let shown: Vec<_> = goals.map(|held| (held, held.evidence())).collect();
        let reached = shown.len() == self.goals.len();
        // What was done and what replies show decides without a look at the answers.
        let lacks = || shown.iter().any(|(_, (_, missing))| !missing.is_empty());
        if only_whether && (!reached || lacks()) {
            return Judgement::default();
        }
        let mut shown = shown.into_iter();
        for number in 0..self.goals.len() {
            let Some((held, (shown, missing))) = shown.next() else {
                let message = format!("goal {number} of the conversation was not reached");
                judged.errors.push(GradeError::new(ErrorClass::MissingGoal, message));
                judged.goals.push(GoalGrade { outcome: Verdict::Failed, ..GoalGrade::default() });
                continue;
            };
            let answer = held.facts(&mut judged.errors);
            if only_whether && answer == Verdict::Failed {
                judged.components.answer = Verdict::Failed;
                return judged;
            }
            judged.errors.extend(missing);
            let outcome = held.outcome(&mut judged.errors);
            // A refusal that no call leads to rests on the reason that is given for it.
            let declines = shown == Verdict::NotEvaluated && !held.expected.refusal.is_empty();
            let evidence = if declines { outcome } else { shown };
            judged.goals.push(GoalGrade { outcome, answer, evidence });
        }
        let over = |of: fn(&GoalGrade) -> Verdict| Verdict::over(judged.goals.iter().map(of));
        judged.components.outcome = over(|goal| goal.outcome);
        judged.components.answer = over(|goal| goal.answer);
        judged.components.evidence = over(|goal| goal.evidence);
        judged
    }

    /// What was changed: as expected, when it was asked for, and nothing else. Gives the keys of the new records, by
    /// number.
    fn judge_changes(&self, episode: &Episode<'_>, judged: &mut Judgement) -> BTreeMap<u32, Value> {
        let world = episode.attempt.base.world();
        let Compared { keys, errors: wrong, damage } =
            self.changes.compare(&episode.changes, &self.allowed, world);
        if !self.changes.checks.is_empty() {
            judged.components.change = Verdict::of(wrong.is_empty());
        }
        judged.errors.extend(wrong);
        let mut harm = damage;
        for (_, error) in episode.damage.judge(&self.changes, &keys, &self.allowed, world) {
            if !harm.contains(&error) {
                harm.push(error);
            }
        }
        if self.writes || !episode.damage.is_empty() || !harm.is_empty() {
            judged.components.damage = Verdict::of(harm.is_empty());
        }
        judged.errors.extend(harm);
        keys
    }
}

/// An attempt with what is read of it once.
struct Episode<'a> {
    attempt: &'a Attempt<'a>,
    goals: Vec<Goal<'a>>,
    changes: Vec<RecordChange>,
    damage: Damage<'a>,
}

impl Episode<'_> {
    /// What the world made for a field of a new record, as a fact.
    fn made(&self, new: &NewRecords<'_>, number: u32, field: &str) -> Option<Fact> {
        let (resource, key, field) = new.field(number, field)?;
        let record = self.attempt.last.get(self.attempt.base, resource, key)?;
        let value = record.get(field.index()).filter(|value| !value.is_missing())?;
        Some(made_fact(value, &new.world.zone))
    }
}

impl Components {
    /// Nothing failed, and something that had to be shown was.
    fn solved(self) -> bool {
        let all = [self.outcome, self.change, self.damage, self.answer, self.evidence];
        !all.contains(&Verdict::Failed)
            && [self.change, self.answer, self.evidence].contains(&Verdict::Passed)
    }
}

impl Default for Components {
    fn default() -> Self {
        let not = Verdict::NotEvaluated;
        Self { outcome: not, change: not, damage: not, answer: not, evidence: not }
    }
}

impl Verdict {
    const fn of(holds: bool) -> Self {
        if holds { Self::Passed } else { Self::Failed }
    }

    /// Failed where one failed, passed where one passed and none failed.
    fn over(verdicts: impl Iterator<Item = Self>) -> Self {
        verdicts.fold(Self::NotEvaluated, |all, one| match (all, one) {
            (Self::Failed, _) | (_, Self::Failed) => Self::Failed,
            (Self::Passed, _) | (_, Self::Passed) => Self::Passed,
            _ => Self::NotEvaluated,
        })
    }
}

#[cfg(test)]
mod tests;
