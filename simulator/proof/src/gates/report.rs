//! Holds the findings of the gates on one candidate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The findings of the gates, stored with the row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// The number of reference calls that replayed with the same replies and state.
    pub solvable: u32,
    /// The number of idle answers that failed.
    pub nontrivial: u32,
    /// The counts of mutants, by kind.
    pub mutation: BTreeMap<String, Tally>,
    /// The number of other right solutions that passed, by kind.
    pub alternatives: BTreeMap<String, u32>,
    /// The number of words and choices with one reading.
    pub unambiguous: u32,
    /// The number of arguments that were derived again.
    pub grounded: u32,
    /// The number of mutants that the API accepts and that fail. It measures the task's difficulty.
    #[serde(skip)]
    pub traps: u32,
}

/// Counts of the mutants of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Mutants that failed the checks, as they must.
    pub killed: u32,
    /// Mutants without an effect: same state, same evidence.
    pub equivalent: u32,
    /// Mutants that passed the checks; the row is then dropped.
    pub survived: u32,
}
