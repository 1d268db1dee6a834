//! The plan of a row: a scenario that was played over sampled records, whose calls the engine has run and the gates have passed. No
//! model has a part in it, so that gold and checks come from what happened.

use diorama_proof::{GateReport, Grounded};
use diorama_seeds::model::DomainId;
use diorama_seeds::task::Ability;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::synthesis::pipeline::{ATTEMPTS, Agents, SAME_SCENARIO, ability};
use crate::synthesis::query::{Proposal, TaskSpec, propose};
use crate::synthesis::recipe::Recipe;
use crate::synthesis::scenario::{Drawn, Joins};
use crate::synthesis::world::BatchWorld;

/// Its name in files.
pub const STEP: &str = "query";

/// A proven conversation whose words are to be written by a model.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The offline conversation, grounded.
    pub grounded: Grounded,
    /// What the gates found.
    pub report: GateReport,
    /// The ability.
    pub ability: Ability,
    /// What is special about it.
    pub tags: Vec<&'static str>,
    /// The domain that it is written for, where its author knows.
    pub domain: Option<DomainId>,
}

/// Plans a conversation for an attempt at a row: a function of the world and of the numbers.
#[must_use]
pub fn plan(recipe: &Recipe, agents: &Agents, world: &BatchWorld, place: (u64, u32)) -> Option<Plan> {
    // The ability is the row's, so that a model's trouble with one of them changes no shares.
    let ability = ability(&recipe.abilities, &mut recipe.stream("row", place.0));
    let mut stream = stream(recipe, "plan", place);
    let scenario_set = &world.world_template.scenario_set;
    let mut drawn = Drawn { domain: None, place: stream.random(), scenario: None };
    for proposal in 0..ATTEMPTS {
        if proposal > 0 && proposal % SAME_SCENARIO == 0 {
            drawn.place = scenario_set.another(ability, drawn, stream.random());
        }
        let mut rng = ChaCha8Rng::seed_from_u64(stream.random());
        let (joins, clock) = (Joins::Nothing, world.base.world().clock);
        let spec = TaskSpec { ability, joins, session_seed: rng.random(), clock, detour: None, drawn };
        let Ok(Proposal { candidate, tags, domain }) = propose(world, &spec, &mut rng) else { continue };
        if let Ok((grounded, report)) = agents.tester.test(world, candidate, &mut rng) {
            return Some(Plan { grounded, report, ability, tags, domain: Some(domain) });
        }
    }
    None
}

/// The choices of one use at a place: a row and an attempt.
pub(super) fn stream(recipe: &Recipe, purpose: &str, (row_index, attempt): (u64, u32)) -> ChaCha8Rng {
    recipe.stream(purpose, row_index.wrapping_mul(1 << 10).wrapping_add(u64::from(attempt)))
}
