//! Trying a scenario: played in a world, and held against the gates.

use diorama_proof::{Candidate, Grounded};
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::Ability;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{PlayOptions, Unplayed, play};
use crate::synthesis::tester::{Rejected, SixGates, TesterAgent};
use crate::synthesis::world::BatchWorld;

/// Why a try becomes no row.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// It cannot be played.
    #[error(transparent)]
    Unplayed(#[from] Unplayed),
    /// What was played does not pass.
    #[error("{rejected}")]
    Rejected {
        /// What was played.
        candidate: Box<Candidate>,
        /// What is wrong with it.
        rejected: Box<Rejected>,
    },
}

/// One try: a function of the world, the scenarios and the seed.
///
/// # Errors
/// Why it becomes no row.
pub fn rehearse(
    world: &BatchWorld,
    (first, later): (&Scenario, &[Vec<&Scenario>]),
    ability: Ability,
    seed: u64,
) -> Result<(Candidate, Grounded), Lost> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let options = PlayOptions {
        ability,
        seed: rng.random(),
        clock: world.base.world().clock,
        opening: None,
        detour: None,
    };
    let candidate = play(world, first, later, options, &mut rng)?.candidate;
    match SixGates.test(world, candidate.clone(), &mut rng) {
        Ok((grounded, _)) => Ok((candidate, grounded)),
        Err(rejected) => Err(Lost::Rejected { candidate: Box::new(candidate), rejected: Box::new(rejected) }),
    }
}
