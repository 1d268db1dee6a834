//! The pipeline: makes the rows of a batch.
//!
//! Row j is a pure function of (seed, config hash, j): it tries attempts until one passes all gates. World, domain
//! and split follow from the batch. Nothing here knows of threads, files or shards.

use diorama_output::dataset::{BatchRows, DatasetWriter};
use diorama_output::funnel::{Funnel, Mutants};
use diorama_output::plan::Batch;
use diorama_output::row::Dialogue;
use diorama_output::row::parts::Provenance;
use diorama_output::stats::duplicates::{shingles, similar};
use diorama_output::stats::text::words;
use diorama_proof::GateReport;
use diorama_seeds::task::Ability;
use diorama_seeds::value::Instant;
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::domain::DomainAgent;
use super::error::PipelineError;
use super::query::{Proposal, TaskSpec, propose};
use super::recipe::Recipe;
use super::row::{self, About};
use super::scenario::{Drawn, Joins};
use super::tester::{Rejected, TesterAgent};
use super::weights::{self, ability_weight};
use super::world::BatchWorld;

/// Why a row is dropped whose first request is too near to another's.
pub const REPEATS: &str = "near-duplicate of an earlier request in the same world";

/// Attempts at a row before it is given up.
pub(super) const ATTEMPTS: u32 = 400;
/// Attempts at a conversation that joins several matters before a single one will do.
const JOINED_ATTEMPTS: u32 = 24;
/// Attempts at a conversation with a detour before one without will do.
const DETOUR_ATTEMPTS: u32 = 12;
/// Attempts with the domain whose turn it is before any domain will do.
const DOMAIN_ATTEMPTS: u32 = 48;
/// Shares of the conversations that join a matter of another domain, and another one of the same domain, of those whose ability
/// allows for it.
const JOINED: [(Joins, u32); 3] = [(Joins::Domains, 60), (Joins::OneDomain, 10), (Joins::Nothing, 30)];
/// Minutes after the world's start in which sessions begin.
const START_SPAN_MINUTES: i64 = 45;
/// Attempts with the same scenario before another one is drawn.
pub(super) const SAME_SCENARIO: u32 = 4;

/// The agents of the pipeline that a run chooses; the query and the caller agent play the world's scenarios.
pub struct Agents {
    /// Chooses the world template and the records.
    pub domain: Box<dyn DomainAgent>,
    /// Tests.
    pub tester: Box<dyn TesterAgent>,
}

/// Makes the rows of a batch and stores its world.
///
/// # Errors
/// When its world cannot be made or stored.
pub fn batch(
    recipe: &Recipe,
    agents: &Agents,
    batch: &Batch,
    writer: &DatasetWriter,
) -> Result<BatchRows, PipelineError> {
    let world = agents.domain.world(recipe, batch)?;
    let mut rows = Vec::new();
    let mut funnel = Funnel::default();
    let mut requests: Vec<Box<[u64]>> = Vec::new();
    for row_index in batch.row_indexes.clone() {
        if let Some(row) = row_at(recipe, agents, &world, batch, row_index, &mut requests, &mut funnel) {
            rows.push(row);
        }
    }
    if !rows.is_empty() {
        writer.put_world(&world.id, world.canonical.as_bytes())?;
    }
    Ok(BatchRows { batch: batch.index, rows, funnel })
}

fn row_at(
    recipe: &Recipe,
    agents: &Agents,
    world: &BatchWorld,
    batch: &Batch,
    row_index: u64,
    requests: &mut Vec<Box<[u64]>>,
    funnel: &mut Funnel,
) -> Option<Dialogue> {
    let split = batch.split;
    let mut stream = recipe.stream("row", row_index);
    let turn = recipe.turn(batch, row_index);
    let ability = turn.map_or_else(|| ability(&recipe.abilities, &mut stream), |turn| turn.ability);
    let scenario_set = &world.world_template.scenario_set;
    let mut drawn = Drawn {
        domain: turn.map(|turn| turn.domain),
        place: turn.map_or_else(|| stream.random(), |turn| turn.place),
    };
    let joins = joins(ability, &mut stream);
    let mut detour = scenario_set.draw_detour(&mut stream);
    let minutes = stream.random_range(0..START_SPAN_MINUTES);
    let clock = Instant(world.base.world().clock.0 + minutes * 60);
    for attempt in 0..ATTEMPTS {
        if attempt > 0 && attempt % SAME_SCENARIO == 0 {
            drawn.place = scenario_set.another(ability, drawn, stream.random());
        }
        let mut rng = ChaCha8Rng::seed_from_u64(stream.random());
        let joins = if attempt < JOINED_ATTEMPTS { joins } else { Joins::Nothing };
        if attempt == DOMAIN_ATTEMPTS {
            drawn.domain = None;
        }
        let detour_now = detour.filter(|_| attempt < DETOUR_ATTEMPTS);
        let spec = TaskSpec { ability, joins, session_seed: rng.random(), clock, detour: detour_now, drawn };
        let Proposal { candidate, tags, domain } = match propose(world, &spec, &mut rng) {
            Ok(proposal) => proposal,
            Err(failed) if failed.is_without_detour() => {
                detour = None;
                continue;
            }
            Err(failed) => {
                funnel.propose();
                funnel.drop_at(failed.agent, &failed.reason);
                continue;
            }
        };
        funnel.propose();
        let opening = shingles(&words(candidate.goals.first().map_or("", |goal| &goal.user)));
        if requests.iter().any(|other| similar(other, &opening)) {
            funnel.drop_at("duplicate", REPEATS);
            continue;
        }
        match agents.tester.test(world, candidate, &mut rng) {
            Ok((grounded, report)) => {
                count_mutants(funnel, &report);
                requests.push(opening);
                let provenance = Provenance {
                    backend: "scenarios".to_owned(),
                    model: None,
                    prompt_hash: None,
                    seed: recipe.seed,
                    row: row_index,
                    attempt,
                    version: crate::GENERATOR_VERSION.to_owned(),
                    authors: std::collections::BTreeMap::new(),
                };
                let about = About {
                    ability,
                    tags: &tags,
                    domain: Some(domain),
                    split,
                    provenance: &provenance,
                    model_terms: None,
                };
                return Some(row::row(world.of_rows(), &grounded, &report, &about));
            }
            Err(Rejected::Gate(reason)) => funnel.drop_at(reason.gate.name(), reason.code.name()),
            Err(Rejected::Form(_)) => funnel.drop_at("caller", "not of the form of a candidate"),
        }
    }
    None
}

/// Draws the domains that a conversation of an ability joins: none for one that retrieves a single API.
fn joins(ability: Ability, rng: &mut ChaCha8Rng) -> Joins {
    let number = rng.random_range(0..weights::sum(&JOINED, |(_, share)| *share));
    match (ability, weights::pick(&JOINED, |(_, share)| *share, number)) {
        (Ability::Call | Ability::PlanRetrieveCall, Some((joins, _))) => joins,
        _ => Joins::Nothing,
    }
}

/// Draws one of the abilities asked for.
pub(super) fn ability(asked: &[Ability], rng: &mut ChaCha8Rng) -> Ability {
    let weight = |ability: &Ability| ability_weight(*ability);
    let number = rng.random_range(0..weights::sum(asked, weight).max(1));
    weights::pick(asked, weight, number).unwrap_or(Ability::Call)
}

/// Counts a candidate's mutants by their results.
pub(crate) fn count_mutants(funnel: &mut Funnel, report: &GateReport) {
    for (kind, tally) in &report.mutation {
        let mutants = funnel.mutants.entry(kind.clone()).or_default();
        *mutants = Mutants {
            killed: mutants.killed + u64::from(tally.killed),
            survived: mutants.survived + u64::from(tally.survived),
            equivalent: mutants.equivalent + u64::from(tally.equivalent),
        };
    }
}
