//! The tester: no task leaves without proof.
//!
//! Grounds a candidate and has it meet the six gates. Which author it comes from makes no difference.

use diorama_proof::candidate::CandidateError;
use diorama_proof::{Candidate, GateReport, Grounded, Reason, ground, prove};
use rand_chacha::ChaCha8Rng;

use crate::worlds::world::BatchWorld;

/// Why a candidate does not pass.
#[derive(Debug, thiserror::Error)]
pub enum Rejected {
    /// It cannot be run.
    #[error(transparent)]
    Form(#[from] CandidateError),
    /// A gate does not let it pass.
    #[error("{}: {}", .0.gate.name(), .0)]
    Gate(Reason),
}

/// Tests a candidate: returns it with its sources, and what the gates found.
///
/// # Errors
/// Why it does not pass.
pub fn test(
    world: &BatchWorld,
    candidate: Candidate,
    rng: &mut ChaCha8Rng,
) -> Result<(Grounded, GateReport), Rejected> {
    let grounded = ground(world.context(), candidate)?;
    let report = prove(world.context(), &grounded, rng).map_err(Rejected::Gate)?;
    Ok((grounded, report))
}
