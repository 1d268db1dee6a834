//! Verdicts: on a criterion, on a goal, and the grade of an episode.

use serde::{Deserialize, Serialize};

use crate::errors::{ErrorClass, GradeError};

/// Version of the grader; a change that alters any verdict makes a new one.
pub const GRADER_VERSION: &str = "grade/4";

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

impl Components {
    /// Nothing failed, and something that had to be shown was.
    pub(crate) fn solved(self) -> bool {
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
    pub(crate) const fn of(holds: bool) -> Self {
        if holds { Self::Passed } else { Self::Failed }
    }

    /// Failed where one failed, passed where one passed and none failed.
    pub(crate) fn over(verdicts: impl Iterator<Item = Self>) -> Self {
        verdicts.fold(Self::NotEvaluated, |all, one| match (all, one) {
            (Self::Failed, _) | (_, Self::Failed) => Self::Failed,
            (Self::Passed, _) | (_, Self::Passed) => Self::Passed,
            _ => Self::NotEvaluated,
        })
    }
}
