//! The findings of the gates on one candidate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The findings of the gates, stored with the row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// Reference calls replayed with the same replies and state.
    pub solvable: u32,
    /// Ways of doing nothing that failed.
    pub nontrivial: u32,
    /// Mutants by kind.
    pub mutation: BTreeMap<String, Tally>,
    /// Other right ways that passed, by kind.
    pub alternatives: BTreeMap<String, u32>,
    /// Words and choices that were found to have one reading.
    pub unambiguous: u32,
    /// Arguments derived again.
    pub grounded: u32,
    /// Mutants that the API accepts and that fail: a count of the task's difficulty, stored with it.
    #[serde(skip)]
    pub traps: u32,
}

/// Counts of the mutants of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// They failed the checks, as they must.
    pub killed: u32,
    /// They change nothing: same state, same evidence.
    pub equivalent: u32,
    /// They passed the checks: a row with one is dropped.
    pub survived: u32,
}
