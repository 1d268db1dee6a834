//! Returns each gate's verdict on a candidate, for `diorama task check` and `POST /v1/check`.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::candidate::{Candidate, CandidateError};
use crate::context::WorldContext;
use crate::gate::Gate;
use crate::gates::{GateReport, Trial};
use crate::ground::ground;
use crate::reason::{Code, Reason};

/// The verdicts on a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdicts {
    /// True if all gates pass.
    pub passes: bool,
    /// One verdict for each gate, in their order.
    pub gates: Vec<GateVerdict>,
}

/// A gate's verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateVerdict {
    /// The gate.
    pub gate: Gate,
    /// True if it passes. None if the fault of an earlier gate leaves nothing to judge.
    pub passes: Option<bool>,
    /// Why it does not pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// One reason, with its place and its words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The reason in words.
    pub message: String,
    /// The reason.
    #[serde(flatten)]
    pub reason: Reason,
}

/// Checks a candidate against a world: returns each gate's verdict, not only the first failure.
///
/// # Errors
/// Returns [`CandidateError`] when the candidate cannot run, or the client has left.
pub fn check(context: WorldContext<'_>, candidate: Candidate) -> Result<Verdicts, CandidateError> {
    let grounded = ground(context, candidate)?;
    let goal_of_call = |call: usize| grounded.goals.iter().position(|goal| goal.calls.contains(&call));
    let finding = |reason: Reason| Finding {
        message: reason.to_string(),
        reason: Reason { goal: reason.goal.or_else(|| reason.call.and_then(goal_of_call)), ..reason },
    };
    let trial = Trial::new(context, &grounded);
    let mut rng = ChaCha8Rng::seed_from_u64(grounded.seed);
    let mut gates = Vec::with_capacity(Gate::ALL.len());
    for gate in Gate::ALL {
        if context.stop.is_set() {
            return Err(CandidateError::Stopped);
        }
        let mut findings: Vec<Finding> =
            grounded.faults.iter().filter(|fault| fault.gate == gate).cloned().map(finding).collect();
        let mut passes = Some(findings.is_empty());
        if findings.is_empty() {
            match &trial {
                Ok(trial) => {
                    if let Err(reason) = gate.run(trial, &mut GateReport::default(), &mut rng) {
                        findings.push(finding(reason));
                        passes = Some(false);
                    }
                }
                Err(reason) if gate == reason.gate => {
                    findings.push(finding(reason.clone()));
                    passes = Some(false);
                }
                // Without checks anything passes, and the other gates have nothing to replay.
                Err(_) if gate == Gate::Nontrivial => {
                    findings.push(finding(Reason::new(Code::IdlePasses).with("words", "")));
                    passes = Some(false);
                }
                Err(_) if gate != Gate::Grounded => passes = None,
                Err(_) => {}
            }
        }
        gates.push(GateVerdict { gate, passes, findings });
    }
    if context.stop.is_set() {
        return Err(CandidateError::Stopped);
    }
    Ok(Verdicts { passes: gates.iter().all(|verdict| verdict.passes == Some(true)), gates })
}
