//! Verdicts: on a criterion, on a goal, and the grade of an episode.

use serde::{Deserialize, Serialize};

use crate::errors::{ErrorClass, GradeError};

/// Version of the grader. A change that alters any verdict needs a new version.
pub const GRADER_VERSION: &str = "grade/4";

/// A verdict on an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// [`GRADER_VERSION`].
    pub version: String,
    /// True if the attempt solves the task.
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
    /// Returns the grade of an episode that cannot be judged. It fails with all of its `goals` goals.
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

    /// Returns, for each goal, true if it holds by itself: no verdict failed, and at least one of change,
    /// answer and evidence passed. All goals of a solved task hold. A goal without calls and without an end
    /// does not.
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
    /// The agent changed no other record, not even temporarily.
    pub damage: Verdict,
    /// The expected facts were given, with the right values.
    pub answer: Verdict,
    /// A reply of the episode shows each given fact.
    pub evidence: Verdict,
    /// The agent kept the rules of its policies, and replies first showed the records that the rules read.
    #[serde(default)]
    pub policy: Verdict,
}

/// Verdicts on one goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalGrade {
    /// The goal ended as it should.
    pub outcome: Verdict,
    /// The agent made the changes that the goal asks for before it ended, with the right values.
    pub change: Verdict,
    /// The agent changed no other record during the goal, not even temporarily.
    pub damage: Verdict,
    /// The expected facts were given, with the right values.
    pub answer: Verdict,
    /// A reply up to the goal's end shows each given fact.
    pub evidence: Verdict,
    /// No call of the goal broke a policy rule, and replies first showed the records that the rules read.
    #[serde(default)]
    pub policy: Verdict,
}

/// A verdict on one criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The criterion is met.
    Passed,
    /// The criterion is not met.
    Failed,
    /// The task does not ask for it, or it cannot be judged. Neither a pass nor a failure.
    #[default]
    NotEvaluated,
}

impl Components {
    /// Returns true if no verdict failed, and at least one of change, answer and evidence passed.
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
    pub(crate) const fn from_bool(holds: bool) -> Self {
        if holds { Self::Passed } else { Self::Failed }
    }

    /// Returns failed if any verdict failed, else passed if any passed.
    pub(crate) fn combine(verdicts: impl Iterator<Item = Self>) -> Self {
        verdicts.fold(Self::NotEvaluated, |all, one| match (all, one) {
            (Self::Failed, _) | (_, Self::Failed) => Self::Failed,
            (Self::Passed, _) | (_, Self::Passed) => Self::Passed,
            _ => Self::NotEvaluated,
        })
    }
}
