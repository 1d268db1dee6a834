//! The six gates, one file each: no task leaves without proof.
//!
//! A gate is a function of the world and the grounded candidate. It replays and grades, and believes nothing that an
//! author says. A gate gives the typed reason why a candidate does not pass.

mod alternatives;
mod finish;
mod mutation;
mod nontrivial;
mod texts;
mod trial;
mod unambiguous;

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::mutation::Mutant;
pub use self::trial::{Run, Trial};
use crate::ground::Grounded;
use crate::reason::Reason;
use crate::{Stop, WorldContext};

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

    /// The first fault that was found while the candidate was grounded, and is this gate's to name.
    fn fault(self, grounded: &Grounded) -> Option<&Reason> {
        grounded.faults.iter().find(|fault| fault.gate == self)
    }

    /// Runs the gate.
    ///
    /// # Errors
    /// The reason why the candidate does not pass.
    pub fn run(self, trial: &Trial<'_>, report: &mut GateReport, rng: &mut ChaCha8Rng) -> Result<(), Reason> {
        if let Some(fault) = self.fault(trial.grounded) {
            return Err(fault.clone());
        }
        match self {
            Self::Solvable => trial::gold(trial, report),
            Self::Nontrivial => nontrivial::run(trial, report),
            Self::Mutation => mutation::run(trial, report, rng),
            Self::Alternatives => alternatives::run(trial, report, rng),
            Self::Unambiguous => unambiguous::run(trial, report),
            Self::Grounded => {
                report.grounded = trial.grounded.gold.iter().map(|call| call.sources.len() as u32).sum();
                Ok(())
            }
        }
    }
}

/// Finds the mutants of a proven task that the gate `mutation` rejects.
///
/// # Errors
/// That the task has no checks.
pub fn find_rejected(
    context: WorldContext<'_>,
    grounded: &Grounded,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<Mutant>, Reason> {
    Ok(mutation::find_rejected(&Trial::new(context, grounded)?, rng))
}

/// Runs the gates on a grounded candidate, one after the other. A wish to stop is not heard: a gate that ends early proves nothing.
///
/// # Errors
/// The reason of the first gate that it does not pass.
pub fn prove(
    context: WorldContext<'_>,
    grounded: &Grounded,
    rng: &mut ChaCha8Rng,
) -> Result<GateReport, Reason> {
    // Faults that grounding found need no replay, so they come first.
    for gate in Gate::ALL {
        if let Some(reason) = gate.fault(grounded) {
            return Err(reason.clone());
        }
    }
    let trial = Trial::new(WorldContext { stop: Stop::NEVER, ..context }, grounded)?;
    let mut report = GateReport::default();
    for gate in Gate::ALL {
        gate.run(&trial, &mut report, rng)?;
    }
    Ok(report)
}
