//! The tester: no task leaves without proof.
//!
//! Grounds a candidate and has it meet the six gates. Which author it comes from makes no difference.

use diorama_proof::candidate::CandidateError;
use diorama_proof::{Candidate, GateReport, Grounded, Reason, difficulty, ground, prove};
use diorama_seeds::task::difficulty::{Difficulty, MAX_CALLS};
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

/// Why a candidate that is to be of a band does not pass.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BandError {
    /// It does not pass, whatever its band.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// It is of another difficulty than the one that is asked for.
    #[error("{0}")]
    Band(&'static str),
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

/// Tests a candidate whose dialogue shows these tags, and that is to be of a band.
///
/// # Errors
/// Why it does not pass, or that it is of another band. What cannot be of the band any more does not meet the gates.
pub(crate) fn test_band(
    world: &BatchWorld,
    candidate: Candidate,
    (band, tags): (Difficulty, &[&str]),
    rng: &mut ChaCha8Rng,
) -> Result<(Grounded, GateReport), BandError> {
    let grounded = ground(world.context(), candidate).map_err(Rejected::Form)?;
    let counts = difficulty::measure(&world.base, &grounded, &GateReport::default(), tags);
    if counts.calls >= MAX_CALLS {
        return Err(BandError::Band("needs too many calls"));
    }
    if !counts.bands_of_traps().contains(&band) {
        return Err(BandError::Band("is of another band"));
    }
    let report = prove(world.context(), &grounded, rng).map_err(Rejected::Gate)?;
    if counts.with_traps(report.traps).band() != band {
        return Err(BandError::Band("is of another band"));
    }
    Ok((grounded, report))
}
