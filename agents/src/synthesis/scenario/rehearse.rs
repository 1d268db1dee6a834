//! Trying a scenario: played in a world, and held against the gates.

use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_proof::{Candidate, Grounded};
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::Ability;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::play::Prepared;
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
    let options = options(world, rng.random(), ability);
    let candidate = play(world, first, later, options, &mut rng)?.candidate;
    match SixGates.test(world, candidate.clone(), &mut rng) {
        Ok((grounded, _)) => Ok((candidate, grounded)),
        Err(rejected) => Err(Lost::Rejected { candidate: Box::new(candidate), rejected: Box::new(rejected) }),
    }
}

/// The calls of a scenario that is played alone, with their replies: a function of the world, the scenario and the seed.
///
/// # Errors
/// Why it cannot be played.
pub(in crate::synthesis) fn calls(
    world: &BatchWorld,
    scenario: &Scenario,
    seed: u64,
) -> Result<Vec<Arc<LogEntry>>, Unplayed> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let options = options(world, rng.random(), Ability::Call);
    Prepared::new(world, (scenario, &[]), options, &mut rng)?.calls(&mut rng)
}

fn options(world: &BatchWorld, seed: u64, ability: Ability) -> PlayOptions {
    PlayOptions { ability, seed, clock: world.base.world().clock, opening: None, detour: None }
}
