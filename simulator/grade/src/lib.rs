//! The grader: the only judge of an episode.
//!
//! A pure function of world, states, log, checks and structured final answers. The gates, `verify`, `eval` and HTTP all
//! call it. It must not read words or a clock, or know who the agent is.

mod about;
mod articles;
mod change;
mod consent;
mod errors;
pub mod evidence;
mod exclusion;
mod fact;
mod goal;
mod prepare;
mod progress;
mod structured;
mod text;

use std::sync::Arc;

use diorama_seeds::task::{Checks, Fact, Outcome, RefusalClass};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

pub use self::articles::{has_read_all, rules_read};
pub use self::change::ChangeError;
pub use self::consent::{Consent, arguments, is_same_call};
pub use self::errors::{CheckError, ErrorClass, GradeError};
pub use self::evidence::EvidenceError;
pub use self::exclusion::{Cause, NeededCall, exclusion};
pub use self::fact::{FactError, filled_fact, made_fact};
pub use self::prepare::Prepared;
pub use self::progress::Progress;

use self::change::{Compared, GoalChanges, Window};
use self::evidence::{NewRecords, Standard, Verdicts};
use self::goal::{Goal, JudgedGoal};
use diorama_engine::session::LogEntry;
use diorama_engine::{Base, State};

/// Version of the grader; a change that alters any verdict makes a new one.
pub const GRADER_VERSION: &str = "grade/4";

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
    /// The faults found. Empty for success.
    pub errors: Vec<GradeError>,
}

impl Grade {
    /// The grade of an episode that cannot be judged, and so has failed: it has so many goals.
    #[must_use]
    pub fn failed(goals: usize, message: &str) -> Self {
        let goal = GoalGrade { outcome: Verdict::Failed, ..GoalGrade::default() };
        Self {
            version: GRADER_VERSION.to_owned(),
            success: false,
            reward: 0.0,
            components: Components { outcome: Verdict::Failed, ..Components::default() },
            goals: vec![goal; goals],
            errors: vec![GradeError::new(ErrorClass::TooLong, message.to_owned())],
        }
    }

    /// Whether each goal holds by itself: none of its verdicts failed, and something that had to be shown was. All goals of a
    /// solved task hold; without a call and an ending none does.
    #[must_use]
    pub fn credited_goals(&self) -> Vec<bool> {
        self.goals.iter().map(|goal| self.success || goal.holds()).collect()
    }
}

impl GoalGrade {
    fn holds(&self) -> bool {
        let all = [self.outcome, self.change, self.damage, self.answer, self.evidence, self.policy];
        !all.contains(&Verdict::Failed)
            && self.outcome == Verdict::Passed
            && [self.change, self.answer, self.evidence].contains(&Verdict::Passed)
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
    /// A reply of the episode shows what was given.
    pub evidence: Verdict,
    /// The rules of the policies that the task tells were kept, and replies had shown what they depend on.
    #[serde(default)]
    pub policy: Verdict,
}

/// Verdicts on one goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalGrade {
    /// It ended as it should.
    pub outcome: Verdict,
    /// The changes that it asks for were made before it ended, with the right values.
    pub change: Verdict,
    /// Nothing else was changed in it, not even for a while.
    pub damage: Verdict,
    /// The expected facts were given, with the right values.
    pub answer: Verdict,
    /// A reply of the episode up to then shows what was given.
    pub evidence: Verdict,
    /// No call in it broke a rule of a policy that the task tells, and replies had shown what the rules depend on.
    #[serde(default)]
    pub policy: Verdict,
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

/// The verdicts on an attempt.
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
        let episode = self.episode(attempt, None);
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

    /// Whether an attempt succeeds: [`Grade::success`], without the reasons. The verdicts are those of earlier attempts at the same
    /// task.
    #[must_use]
    pub fn passes(&self, attempt: &Attempt<'_>, verdicts: &Verdicts) -> bool {
        let episode = self.episode(attempt, Some(verdicts));
        self.judge(&episode, true).components.solved()
    }

    /// Whether the replies tell all that the goals rest on, by a more thorough search than the one that pays an agent.
    #[must_use]
    pub fn tells_all(&self, attempt: &Attempt<'_>, verdicts: &Verdicts) -> bool {
        let episode = self.episode(attempt, Some(verdicts));
        let world = attempt.base.world();
        let Compared { keys, .. } = self.changes.compare(&episode.windows, &self.allowed, world);
        let new = NewRecords { world, resources: &self.changes.created, keys: &keys };
        self.judged_goals(&episode, &new).all(|goal| goal.evidence(Standard::Thorough).1.is_empty())
    }

    /// The goals that the attempt reached, beside what is expected of them.
    fn judged_goals<'a>(
        &'a self,
        episode: &'a Episode<'a>,
        new: &'a NewRecords<'a>,
    ) -> impl Iterator<Item = JudgedGoal<'a>> {
        let goals = self.goals.iter().zip(&episode.goals);
        goals.map(move |(expected, goal)| JudgedGoal { expected, goal, episode, new })
    }

    fn episode<'a>(&'a self, attempt: &'a Attempt<'a>, verdicts: Option<&'a Verdicts>) -> Episode<'a> {
        let mut seen = self.wanted.none();
        let own = own_calls(attempt);
        let goals = attempt.goals.iter().zip(&own);
        let goals = goals.map(|(ended, own)| {
            let log = attempt.log.get(..ended.calls).unwrap_or(attempt.log);
            Goal::new(ended, (log, own), &self.wanted, &mut seen)
        });
        let goals = goals.collect();
        Episode { attempt, goals, windows: own.into_iter().map(Window::new).collect(), verdicts }
    }

    /// Judges an episode; where it is asked only whether it is solved, the first fault ends it.
    fn judge(&self, episode: &Episode<'_>, only_whether: bool) -> Judgement {
        let mut judged = Judgement::default();
        let Compared { keys, goals: changes } =
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
        let shown: Vec<_> = goals.map(|held| (held, held.evidence(Standard::Usual))).collect();
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
                let (change, damage) = changed(number);
                judged.goals.push(GoalGrade {
                    outcome: Verdict::Failed,
                    change,
                    damage,
                    ..GoalGrade::default()
                });
                continue;
            };
            let answer = held.facts(&mut judged.errors);
            if only_whether && answer == Verdict::Failed {
                judged.components.answer = Verdict::Failed;
                return judged;
            }
            judged.errors.extend(missing);
            let outcome = held.outcome(&mut judged.errors);
            let policy = held.policy(&self.policy, &mut judged.errors);
            if only_whether && policy == Verdict::Failed {
                judged.components.policy = Verdict::Failed;
                return judged;
            }
            // A refusal that no call leads to rests on the reason that is given for it.
            let declines = shown == Verdict::NotEvaluated && !held.expected.refusal.is_empty();
            let evidence = if declines { outcome } else { shown };
            let (change, damage) = changed(number);
            judged.goals.push(GoalGrade { outcome, change, damage, answer, evidence, policy });
        }
        let over = |of: fn(&GoalGrade) -> Verdict| Verdict::over(judged.goals.iter().map(of));
        judged.components.outcome = over(|goal| goal.outcome);
        judged.components.change = over(|goal| goal.change);
        judged.components.damage = over(|goal| goal.damage);
        judged.components.answer = over(|goal| goal.answer);
        judged.components.evidence = over(|goal| goal.evidence);
        judged.components.policy = over(|goal| goal.policy);
        judged
    }

    /// The verdicts on what was changed in a goal; `changes` are those of the goal and the ones after it. What was changed after
    /// the last goal is the last one's damage.
    fn judge_changes(
        &self,
        goal: usize,
        changes: &[GoalChanges],
        episode: &Episode<'_>,
    ) -> (Verdict, Verdict) {
        let is_last = goal + 1 == self.goals.len();
        let own = if is_last { changes } else { changes.get(..1).unwrap_or(changes) };
        let change = match self.changes.asks(goal) {
            true => Verdict::of(own.iter().all(|goal| goal.errors.is_empty())),
            false => Verdict::NotEvaluated,
        };
        let is_quiet = episode.windows.get(goal).is_none_or(|window| window.steps.is_empty());
        let harmless = own.iter().all(|goal| goal.damage.is_empty());
        let damage =
            if self.writes || !is_quiet || !harmless { Verdict::of(harmless) } else { Verdict::NotEvaluated };
        (change, damage)
    }
}

/// An attempt with what is read of it once.
struct Episode<'a> {
    attempt: &'a Attempt<'a>,
    goals: Vec<Goal<'a>>,
    /// The changes of each goal, and those of calls after the last.
    windows: Vec<Window<'a>>,
    /// The verdicts on evidence of earlier attempts at the same task, where they are kept.
    verdicts: Option<&'a Verdicts>,
}

/// The calls of each goal; those after the end of the last, where there are any, in one slice more.
fn own_calls<'a>(attempt: &Attempt<'a>) -> Vec<&'a [Arc<LogEntry>]> {
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
    fn made(&self, new: &NewRecords<'_>, number: u32, field: &str) -> Option<Fact> {
        let (resource, key, field) = new.field(number, field)?;
        let changes = self.windows.iter().flat_map(|window| &window.net);
        let mut created = changes.filter(|change| change.before.is_none());
        let record =
            created.find(|change| (change.resource, &change.key) == (resource, key))?.after.as_ref()?;
        let value = record.get(field.index()).filter(|value| !value.is_missing())?;
        Some(made_fact(value, &new.world.zone))
    }
}

impl Components {
    /// Nothing failed, and something that had to be shown was.
    fn solved(self) -> bool {
        let all = [self.outcome, self.change, self.damage, self.answer, self.evidence, self.policy];
        !all.contains(&Verdict::Failed)
            && [self.change, self.answer, self.evidence].contains(&Verdict::Passed)
    }
}

impl Default for Components {
    fn default() -> Self {
        let not = Verdict::NotEvaluated;
        Self { outcome: not, change: not, damage: not, answer: not, evidence: not, policy: not }
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
