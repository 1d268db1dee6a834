//! Runs the six gates, one file each: a task needs the proof of all of them.
//!
//! A gate is a function of the world and the grounded candidate. It replays and grades, and trusts no claim
//! of the author. It returns the typed reason why a candidate does not pass.

mod alternatives;
mod finish;
mod mutation;
mod nontrivial;
mod report;
mod texts;
mod trial;
mod unambiguous;

use rand_chacha::ChaCha8Rng;

pub use self::mutation::Mutant;
pub use self::report::{GateReport, Tally};
pub use self::trial::{Run, Trial};
use crate::context::{Stop, WorldContext};
use crate::gate::Gate;
use crate::grounded::GroundedCandidate;
use crate::reason::Reason;

impl Gate {
    /// Returns the first fault of this gate that grounding found.
    fn fault(self, grounded: &GroundedCandidate) -> Option<&Reason> {
        grounded.faults.iter().find(|fault| fault.gate == self)
    }

    /// Runs the gate.
    ///
    /// # Errors
    /// Returns the reason why the candidate does not pass.
    pub fn run(self, trial: &Trial<'_>, report: &mut GateReport, rng: &mut ChaCha8Rng) -> Result<(), Reason> {
        if let Some(fault) = self.fault(trial.grounded) {
            return Err(fault.clone());
        }
        match self {
            Self::Solvable => trial::prove_reference(trial, report),
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
/// Returns a reason if the task has no checks.
pub fn find_rejected(
    context: WorldContext<'_>,
    grounded: &GroundedCandidate,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<Mutant>, Reason> {
    Ok(mutation::find_rejected(&Trial::new(context, grounded)?, rng))
}

/// Runs the gates on a grounded candidate, in order. It ignores the stop flag, because a gate that ends early
/// proves nothing.
///
/// # Errors
/// Returns the reason of the first gate that it does not pass.
pub fn prove(
    context: WorldContext<'_>,
    grounded: &GroundedCandidate,
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
