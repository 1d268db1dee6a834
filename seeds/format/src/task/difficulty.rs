//! The difficulty of a task: counts from its proof, and the band that follows from them.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A band of difficulty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Difficulty {
    /// Few calls, and nothing to mistake.
    Easy,
    /// Some of what makes a task hard.
    Medium,
    /// Much of what makes a task hard.
    Hard,
}

/// Points from which a task is of the band `medium`.
pub const MIN_MEDIUM_POINTS: u32 = 4;
/// Points from which a task is of the band `hard`.
pub const MIN_HARD_POINTS: u32 = 8;

/// Calls that a task which is made for a band needs at most, and one more.
pub const MAX_CALLS: u32 = 40;

/// The counts whose points count twice: a narrow verdict and a pressing user mislead strong models most.
pub const DOUBLED: [&str; 3] = ["limits", "exceptions", "pushes"];

/// The counts of a proof that make a task hard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DifficultyCounts {
    /// Decisive cells: values of records that the solution takes from replies, and fields that governing rules read.
    pub cells: u32,
    /// Near misses: records that differ from a right one in one condition of the request.
    pub near_misses: u32,
    /// Calls nested through their arguments.
    pub depth: u32,
    /// Visible tools that take what a tool of the solution takes, and are of the same kind.
    pub confusable_tools: u32,
    /// Rules of a policy that govern a call of the solution or a declined one.
    pub rules: u32,
    /// Limits of these rules that decide narrowly: with the next allowed number the verdict would be the opposite.
    pub limits: u32,
    /// Exceptions of these rules that decide: without them the verdict would be the opposite.
    pub exceptions: u32,
    /// Calls of the shortest proven route, searches for tools among them.
    pub calls: u32,
    /// Traps: mutants that the API accepts and that fail the task.
    pub traps: u32,
    /// Pushes: tags by which the user presses, misleads or changes course.
    pub pushes: u32,
}

/// The tag of a user who pleads after a refusal.
pub const PERSISTENT: &str = "persistent";

/// The tags that count as a push of the user.
pub const PUSHES: [&str; 9] = [
    "changed_mind",
    "claim",
    "correction",
    "digression",
    "impatient",
    PERSISTENT,
    "pressure",
    "revised",
    "wrong_belief",
];

/// A count with the values from which it gives one point and two.
#[derive(Clone, Copy, Debug)]
pub struct DifficultyStep {
    /// The name of the count.
    pub name: &'static str,
    /// The count.
    pub count: fn(&DifficultyCounts) -> u32,
    /// The value from which it gives one point.
    pub one_point: u32,
    /// The value from which it gives two points.
    pub two_points: u32,
}

const fn step(
    name: &'static str,
    count: fn(&DifficultyCounts) -> u32,
    one_point: u32,
    two_points: u32,
) -> DifficultyStep {
    DifficultyStep { name, count, one_point, two_points }
}

/// The points of each count. The sum of the points gives the band.
pub const DIFFICULTY_STEPS: [DifficultyStep; 10] = [
    step("cells", |counts| counts.cells, 4, 8),
    step("near_misses", |counts| counts.near_misses, 2, 6),
    step("depth", |counts| counts.depth, 3, 4),
    step("confusable_tools", |counts| counts.confusable_tools, 4, 12),
    step("rules", |counts| counts.rules, 1, 4),
    step("limits", |counts| counts.limits, 1, 2),
    step("exceptions", |counts| counts.exceptions, 1, 2),
    step("calls", |counts| counts.calls, 5, 9),
    step("traps", |counts| counts.traps, 6, 14),
    step("pushes", |counts| counts.pushes, 1, 2),
];

impl DifficultyCounts {
    /// The points that the counts give together.
    #[must_use]
    pub fn points(&self) -> u32 {
        let points = DIFFICULTY_STEPS.iter().map(|step| {
            let count = (step.count)(self);
            let weight = if DOUBLED.contains(&step.name) { 2 } else { 1 };
            weight * (u32::from(count >= step.one_point) + u32::from(count >= step.two_points))
        });
        points.sum()
    }

    /// The same counts with this many traps.
    #[must_use]
    pub const fn with_traps(self, traps: u32) -> Self {
        Self { traps, ..self }
    }

    /// The bands that the task may be of, whatever its traps.
    #[must_use]
    pub fn bands_of_traps(self) -> RangeInclusive<Difficulty> {
        self.with_traps(0).band()..=self.with_traps(u32::MAX).band()
    }

    /// The band.
    #[must_use]
    pub fn band(&self) -> Difficulty {
        match self.points() {
            MIN_HARD_POINTS.. => Difficulty::Hard,
            MIN_MEDIUM_POINTS.. => Difficulty::Medium,
            _ => Difficulty::Easy,
        }
    }
}

impl Difficulty {
    /// All bands, the easiest first.
    pub const ALL: [Self; 3] = [Self::Easy, Self::Medium, Self::Hard];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Hard => "hard",
        }
    }
}

/// A text that names no band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDifficulty(String);

impl fmt::Display for NoDifficulty {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "found difficulty `{}`, expected one of easy, medium, hard", self.0)
    }
}

impl std::error::Error for NoDifficulty {}

impl FromStr for Difficulty {
    type Err = NoDifficulty;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|band| band.name() == text).ok_or_else(|| NoDifficulty(text.to_owned()))
    }
}

impl fmt::Display for Difficulty {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_summed_and_bands_begin_at_their_bounds() {
        let check = |counts: DifficultyCounts, points: u32, band: Difficulty| {
            assert_eq!((counts.points(), counts.band()), (points, band), "{counts:?}");
        };
        check(DifficultyCounts::default(), 0, Difficulty::Easy);
        let few = DifficultyCounts { cells: 4, depth: 3, calls: 5, ..DifficultyCounts::default() };
        check(few, 3, Difficulty::Easy);
        check(DifficultyCounts { rules: 1, ..few }, 4, Difficulty::Medium);
        check(DifficultyCounts { rules: 1, limits: 1, exceptions: 1, ..few }, 8, Difficulty::Hard);
        let many = DifficultyCounts { cells: 8, depth: 4, calls: 9, ..few };
        check(many, 6, Difficulty::Medium);
        check(DifficultyCounts { pushes: 1, ..many }, 8, Difficulty::Hard);
        assert_eq!(many.bands_of_traps(), Difficulty::Medium..=Difficulty::Hard);
        assert_eq!(few.bands_of_traps(), Difficulty::Easy..=Difficulty::Medium);
        // A count gives two points at most.
        check(DifficultyCounts { traps: 1_000, ..DifficultyCounts::default() }, 2, Difficulty::Easy);
    }

    #[test]
    fn the_page_tells_the_points_of_each_count() {
        let page = include_str!("../../../../docs/difficulty.md");
        for DifficultyStep { name, one_point, two_points, .. } in DIFFICULTY_STEPS {
            let is_told = page.lines().any(|line| {
                line.starts_with(&format!("| `{name}` |"))
                    && line.ends_with(&format!("| {one_point} | {two_points} |"))
            });
            assert!(is_told, "docs/difficulty.md lacks `{name}` with {one_point} and {two_points}");
        }
        for bound in [MIN_MEDIUM_POINTS, MIN_HARD_POINTS] {
            assert!(page.contains(&format!("from {bound} points")), "docs/difficulty.md lacks {bound}");
        }
        let [one, other, third] = DOUBLED;
        assert!(page.contains(&format!("The points of `{one}`, `{other}` and `{third}` count twice")));
        for tag in PUSHES {
            assert!(page.contains(&format!("`{tag}`")), "docs/difficulty.md lacks the tag {tag}");
        }
    }
}
