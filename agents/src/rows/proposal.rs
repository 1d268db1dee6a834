//! Plays scenarios as the query agent and the caller agent, without a model.
//!
//! The query agent draws the scenarios of a conversation and their records; the caller agent makes the calls.
//! The tester decides if the task is right.

use diorama_proof::Candidate;
use diorama_seeds::model::DomainId;
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::Ability;
use diorama_seeds::value::Instant;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::scenarios::{self, Detour, Further, Joins, PlayError, PlayOptions, Pool, Push, ScenarioDraw};
use crate::worlds::world::BatchWorld;

/// The reason for not proposing a conversation whose assistant could have read of the refusal.
const FORESEEABLE: &str = "a call is refused by a rule that the tool's text tells";
/// The share of joined conversations that join a third goal.
const THIRD: f64 = 0.25;

/// The task that a row requests from its author; a function of the row alone.
#[derive(Clone, Copy, Debug)]
pub struct TaskSpec {
    /// The ability.
    pub ability: Ability,
    /// The seed of the session in which the task is solved.
    pub session_seed: u64,
    /// The start of that session.
    pub clock: Instant,
    /// The detour of the conversation, if it has one.
    pub detour: Option<Detour>,
    /// The domains of the joined scenarios.
    pub joins: Joins,
    /// The drawn positions among the scenarios and their openings.
    pub drawn: ScenarioDraw,
    /// True if the policy must forbid governed calls, in plots with both ends.
    pub forbids: bool,
    /// The pressure by which the user of a governed plot asks for an exception.
    pub push: Option<Push>,
    /// The number of needless questions after which the user leaves; none for a patient user.
    pub patience: Option<u32>,
    /// The tools beside the needed ones.
    pub pool: Pool,
}

/// A conversation that is proposed.
pub(crate) struct Proposal {
    /// The conversation.
    pub(crate) candidate: Candidate,
    /// The tags that its dialogue shows.
    pub(crate) tags: Vec<&'static str>,
    /// The domain that it is written for.
    pub(crate) domain: DomainId,
}

/// The reason for a missing proposal: the failing agent, and a sentence.
pub(crate) struct NotProposed {
    /// The agent.
    pub(crate) agent: &'static str,
    /// The reason.
    pub(crate) reason: String,
}

impl NotProposed {
    /// Returns true if the conversation had no room for the requested detour.
    pub(crate) fn is_without_detour(&self) -> bool {
        self.reason == PlayError::NoDetour.name()
    }

    /// Returns true if a tool's text foretells the refusal of a call: other records do not help.
    pub(crate) fn is_foreseeable(&self) -> bool {
        self.reason == FORESEEABLE
    }
}

/// Proposes a conversation.
///
/// # Errors
/// Returns the failing agent and the reason.
pub(crate) fn propose(
    world: &BatchWorld,
    spec: &TaskSpec,
    rng: &mut ChaCha8Rng,
) -> Result<Proposal, NotProposed> {
    let failed = |agent, reason: &str| NotProposed { agent, reason: reason.to_owned() };
    let scenario_set = &world.world_template.scenario_set;
    let scenario = scenario_set
        .draw(spec.ability, spec.drawn)
        .ok_or_else(|| failed("query", "no scenario of the ability"))?;
    let count = match spec.joins {
        Joins::Nothing => 0,
        _ if rng.random_bool(THIRD) => 2,
        _ => 1,
    };
    let mut later: Vec<Vec<&Scenario>> = Vec::new();
    for _ in 0..count {
        let mut alternatives = scenario_set.other_matters(scenario, (spec.ability, spec.joins), rng);
        alternatives.retain(|next| !later.iter().flatten().any(|other| scenario_set.repeats(other, next)));
        if !alternatives.is_empty() {
            later.push(alternatives);
        }
    }
    let options = PlayOptions {
        ability: spec.ability,
        seed: spec.session_seed,
        clock: spec.clock,
        opening: Some(spec.drawn.opening),
        detour: spec.detour,
        further: Further::Linked,
        forbids: spec.forbids,
        push: spec.push,
        patience: spec.patience,
        pool: spec.pool,
    };
    let played = scenarios::play(world, scenario, &later, options, rng)
        .map_err(|reason| failed(reason.agent(), reason.name()))?;
    if played.tries_told_rule {
        return Err(failed("caller", FORESEEABLE));
    }
    let tags = played.tags();
    if let Some(label) = scenario_set.drawn_for(scenario).find(|label| !tags.contains(label)) {
        return Err(failed("query", &format!("does not show {label}, which it was drawn for")));
    }
    Ok(Proposal { candidate: played.candidate, tags, domain: scenario.domain })
}
