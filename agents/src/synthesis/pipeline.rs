//! The pipeline: makes the rows of a batch.
//!
//! Row j is a pure function of (seed, config hash, j): it tries attempts until one passes all gates. World, domain
//! and split follow from the batch. Nothing here knows of threads, files or shards.

use std::sync::Arc;

use diorama_output::dataset::BatchRows;
use diorama_output::funnel::{Funnel, Mutants};
use diorama_output::plan::Batch;
use diorama_output::row::parts::Provenance;
use diorama_output::row::{Dialogue, Split};
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
use super::recipe::{Recipe, Streams};
use super::row::{self, About};
use super::scenario::{Drawn, Joins};
use super::tester::{Rejected, TesterAgent};
use super::turns::Turn;
use super::weights::{self, ability_weight};
use super::world::BatchWorld;

/// Why a row is dropped whose first request is too near to another's.
pub const REPEATS: &str = "near-duplicate of an earlier request in the same world";

/// Attempts at a row before it is given up.
pub(super) const ATTEMPTS: u32 = 400;
/// Share of the rows that may be declined without a call: to decline whatever is asked is right in half of these.
const DECLINED_SHARE: f64 = 0.4;
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

/// Makes the rows of a batch, with its world.
///
/// # Errors
/// When its world cannot be made.
pub fn batch(recipe: &Recipe, agents: &Agents, batch: &Batch) -> Result<BatchRows, PipelineError> {
    let world = agents.domain.world(recipe, batch)?;
    let tester = agents.tester.as_ref();
    let mut maker = RowMaker::new(&world, recipe.streams(), &recipe.abilities, tester, batch.split);
    let mut rows = Vec::new();
    for row_index in batch.row_indexes.clone() {
        let turn = recipe.turn(batch, row_index);
        rows.extend(maker.row(row_index, turn.map(|turn| Start { turn, scenarios: Vec::new() })));
    }
    let funnel = maker.funnel;
    let worlds = [(world.id.clone(), Arc::clone(&world.canonical))].into();
    Ok(BatchRows { batch: batch.index, rows, worlds, funnel, ..BatchRows::default() })
}

/// What a row begins with.
pub(super) struct Start {
    /// Its ability, domain and place.
    pub(super) turn: Turn,
    /// The scenarios to begin with, those to try first before others; any scenario of the place if there are none.
    pub(super) scenarios: Vec<usize>,
}

/// Makes the rows of a batch, one after the other: no two of them may ask for the same in nearly the same words.
pub(super) struct RowMaker<'a> {
    world: &'a BatchWorld,
    streams: Streams,
    abilities: &'a [Ability],
    tester: &'a dyn TesterAgent,
    split: Split,
    /// Shares of the conversations that join several matters.
    pub(super) joined: &'a [(Joins, u32)],
    /// Attempts at a row before it is given up.
    pub(super) attempts: u32,
    requests: Vec<Box<[u64]>>,
    /// The tasks proposed so far.
    pub(super) funnel: Funnel,
}

impl<'a> RowMaker<'a> {
    pub(super) fn new(
        world: &'a BatchWorld,
        streams: Streams,
        abilities: &'a [Ability],
        tester: &'a dyn TesterAgent,
        split: Split,
    ) -> Self {
        let (requests, funnel) = (Vec::new(), Funnel::default());
        Self {
            world,
            streams,
            abilities,
            tester,
            split,
            joined: &JOINED,
            attempts: ATTEMPTS,
            requests,
            funnel,
        }
    }

    /// The row of an index; none if no attempt passes.
    pub(super) fn row(&mut self, row_index: u64, start: Option<Start>) -> Option<Dialogue> {
        let Self { world, tester, split, .. } = *self;
        let mut stream = self.streams.stream("row", row_index);
        let turn = start.as_ref().map(|start| start.turn);
        let ability = turn.map_or_else(|| ability(self.abilities, &mut stream), |turn| turn.ability);
        let scenario_set = &world.world_template.scenario_set;
        let scenarios = start.map(|start| start.scenarios).unwrap_or_default();
        let mut drawn = Drawn {
            domain: turn.map(|turn| turn.domain),
            place: turn.map_or_else(|| stream.random(), |turn| turn.place),
            scenario: scenarios.first().copied(),
        };
        let joins = joins(ability, self.joined, &mut stream);
        let mut detour = scenario_set.draw_detour(&mut stream);
        let minutes = stream.random_range(0..START_SPAN_MINUTES);
        let clock = Instant(world.base.world().clock.0 + minutes * 60);
        let takes_declined = self.streams.stream("declined", row_index).random_bool(DECLINED_SHARE);
        for attempt in 0..self.attempts {
            if attempt > 0 && attempt % SAME_SCENARIO == 0 {
                drawn.place = match scenarios.get((attempt / SAME_SCENARIO) as usize % scenarios.len().max(1))
                {
                    Some(scenario) => {
                        drawn.scenario = Some(*scenario);
                        stream.random()
                    }
                    None => scenario_set.another(ability, drawn, stream.random()),
                };
            }
            let mut rng = ChaCha8Rng::seed_from_u64(stream.random());
            let joins = if attempt < JOINED_ATTEMPTS { joins } else { Joins::Nothing };
            if attempt == DOMAIN_ATTEMPTS {
                (drawn.domain, drawn.scenario) = (None, None);
            }
            let detour_now = detour.filter(|_| attempt < DETOUR_ATTEMPTS);
            let spec =
                TaskSpec { ability, joins, session_seed: rng.random(), clock, detour: detour_now, drawn };
            let Proposal { candidate, tags, domain } = match propose(world, &spec, &mut rng) {
                Ok(proposal) => proposal,
                Err(failed) if failed.is_without_detour() => {
                    detour = None;
                    continue;
                }
                Err(failed) => {
                    self.funnel.propose();
                    self.funnel.drop_at(failed.agent, &failed.reason);
                    continue;
                }
            };
            self.funnel.propose();
            if !takes_declined && candidate.calls().next().is_none() {
                self.funnel.drop_at("query", "is declined without a call");
                continue;
            }
            let opening = shingles(&words(candidate.goals.first().map_or("", |goal| &goal.user)));
            if self.requests.iter().any(|other| similar(other, &opening)) {
                self.funnel.drop_at("duplicate", REPEATS);
                continue;
            }
            match tester.test(world, candidate, &mut rng) {
                Ok((grounded, report)) => {
                    count_mutants(&mut self.funnel, &report);
                    self.requests.push(opening);
                    let provenance = Provenance {
                        backend: "scenarios".to_owned(),
                        model: None,
                        prompt_hash: None,
                        seed: self.streams.seed(),
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
                Err(Rejected::Gate(reason)) => self.funnel.drop_at(reason.gate.name(), reason.code.name()),
                Err(Rejected::Form(_)) => self.funnel.drop_at("caller", "not of the form of a candidate"),
            }
        }
        None
    }
}

/// Draws the domains that a conversation of an ability joins: none for one that retrieves a single API.
fn joins(ability: Ability, joined: &[(Joins, u32)], rng: &mut ChaCha8Rng) -> Joins {
    let number = rng.random_range(0..weights::sum(joined, |(_, share)| *share).max(1));
    match (ability, weights::pick(joined, |(_, share)| *share, number)) {
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
