//! Tests candidates: a task needs the proof of all gates.
//!
//! Grounds a candidate and runs the six gates on it. The author makes no difference.

use diorama_proof::candidate::CandidateError;
use diorama_proof::{Candidate, GateReport, GroundedCandidate, Reason, difficulty, ground, prove};
use diorama_seeds::task::difficulty::{Difficulty, MAX_CALLS};
use rand_chacha::ChaCha8Rng;

use crate::worlds::world::BatchWorld;

/// The reason for rejecting a candidate.
#[derive(Debug, thiserror::Error)]
pub enum Rejection {
    /// It cannot be run.
    #[error(transparent)]
    Form(#[from] CandidateError),
    /// A gate rejects it.
    #[error("{}: {}", .0.gate.name(), .0)]
    Gate(Reason),
}

/// The reason for rejecting a candidate that must have a band.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BandError {
    /// The candidate fails in any band.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// It has another difficulty than the requested one.
    #[error("{0}")]
    Band(&'static str),
}

/// Tests a candidate. Returns it with its sources, and the findings of the gates.
///
/// # Errors
/// Returns the reason for rejecting it.
pub fn test(
    world: &BatchWorld,
    candidate: Candidate,
    rng: &mut ChaCha8Rng,
) -> Result<(GroundedCandidate, GateReport), Rejection> {
    let grounded = ground(world.context(), candidate)?;
    let report = prove(world.context(), &grounded, rng).map_err(Rejection::Gate)?;
    Ok((grounded, report))
}

/// Tests a candidate with these tags that must have a band.
///
/// # Errors
/// Returns the reason for rejecting it, or its other band. A candidate that cannot have the band skips the
/// gates.
pub(crate) fn test_band(
    world: &BatchWorld,
    candidate: Candidate,
    (band, tags): (Difficulty, &[&str]),
    rng: &mut ChaCha8Rng,
) -> Result<(GroundedCandidate, GateReport), BandError> {
    let grounded = ground(world.context(), candidate).map_err(Rejection::Form)?;
    let counts = difficulty::measure(&world.base, &grounded, &GateReport::default(), tags);
    if counts.calls >= MAX_CALLS {
        return Err(BandError::Band("needs too many calls"));
    }
    if !counts.bands_of_traps().contains(&band) {
        return Err(BandError::Band("is of another band"));
    }
    let report = prove(world.context(), &grounded, rng).map_err(Rejection::Gate)?;
    if counts.with_traps(report.traps).band() != band {
        return Err(BandError::Band("is of another band"));
    }
    Ok((grounded, report))
}
