//! The names of the six gates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The gates, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The reference solution replays and passes, and its words agree with its replies.
    Solvable,
    /// Doing nothing does not pass.
    Nontrivial,
    /// Single mutations of the reference do not pass.
    Mutation,
    /// Other right ways pass.
    Alternatives,
    /// The request has one reading.
    Unambiguous,
    /// Every argument and statement follows from what was visible.
    Grounded,
}

impl Gate {
    /// All gates, in the order in which a candidate meets them.
    pub const ALL: [Self; 6] = [
        Self::Solvable,
        Self::Nontrivial,
        Self::Mutation,
        Self::Alternatives,
        Self::Unambiguous,
        Self::Grounded,
    ];

    /// Its name in the funnel.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solvable => "solvable",
            Self::Nontrivial => "nontrivial",
            Self::Mutation => "mutation",
            Self::Alternatives => "alternatives",
            Self::Unambiguous => "unambiguous",
            Self::Grounded => "grounded",
        }
    }
}
