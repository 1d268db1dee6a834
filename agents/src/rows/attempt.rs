//! Makes the rows of a batch.
//!
//! A subject is a domain of the catalog or a world from outside. Its row n follows from the seed, the
//! subject's name, n and the drawn texts of its worlds. Attempts run until one passes all gates. The batch
//! decides which subject and n a row of the dataset has. This module knows no threads, files or shards.

use std::collections::BTreeSet;
use std::sync::Arc;

use diorama_output::dataset::BatchRows;
use diorama_output::funnel::{Funnel, Mutants};
use diorama_output::plan::Batch;
use diorama_output::row::parts::Provenance;
use diorama_output::row::{Dialogue, Split};
use diorama_output::stats::duplicates::{shingles, similar};
use diorama_output::stats::text::words;
use diorama_proof::candidate::CandidateGoal;
use diorama_proof::{GateReport, GroundedCandidate};
use diorama_seeds::model::{ApiId, BehaviourKind, DomainId, World};
use diorama_seeds::task::{Ability, Difficulty};
use diorama_seeds::value::Instant;
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::proposal::{Proposal, TaskSpec, propose};
use super::prove::{BandError, Rejection, test, test_band};
use super::row::{self, RowProperties};
use super::source::RowSource;
use super::turns::Turn;
use crate::draws::{RowKey, Streams, WordingTurn};
use crate::scenarios::weights::{self, ability_weight};
use crate::scenarios::{Joins, Pool, Push, ScenarioDraw};
use crate::worlds::domain::make_batch_world;
use crate::worlds::error::PipelineError;
use crate::worlds::recipe::Recipe;
use crate::worlds::world::BatchWorld;

/// The reason for dropping a row whose first request is too near to another's.
pub const REPEATS: &str = "near-duplicate of an earlier request in the same world";

/// Attempts at a row before it is given up.
const ATTEMPTS: u32 = 400;
/// The share of rows that may be declined without a call. Declining everything is right in half of these.
const DECLINED_SHARE: f64 = 0.4;
/// The share of governed rows in which the policy forbids the request. Always refusing and always acting both
/// fail half of them.
const FORBIDDEN_SHARE: f64 = 0.5;
/// The share of rows whose users leave after some needless questions, and the range of these.
const IMPATIENT_SHARE: f64 = 0.04;
const PATIENCE: std::ops::RangeInclusive<u32> = 2..=3;
/// Attempts at a conversation that joins several goals before a single one will do. Hard ones join them in all.
const JOINED_ATTEMPTS: u32 = 24;
/// Attempts at a conversation with a detour before one without it will do.
const DETOUR_ATTEMPTS: u32 = 12;
/// Attempts with the domain whose turn it is before any domain will do.
const DOMAIN_ATTEMPTS: u32 = 48;
/// The shares, in percent, of conversations that go on to a goal of another domain, or to another goal of the
/// same domain.
/// The further goal uses a stated fact.
const JOINED: [(Joins, u32); 3] = [(Joins::Domains, 45), (Joins::OneDomain, 25), (Joins::Nothing, 30)];
/// The same shares for hard conversations.
const HARD_JOINED: [(Joins, u32); 2] = [(Joins::LinkedDomains, 75), (Joins::OneDomain, 25)];
/// Minutes after the world's start within which sessions begin.
const START_SPAN_MINUTES: i64 = 90;
/// Attempts with one scenario before another is drawn.
const SAME_SCENARIO: u32 = 4;

impl RowSource for Recipe {
    type Error = PipelineError;

    fn make_batch(&self, batch: &Batch) -> Result<BatchRows, PipelineError> {
        let world = make_batch_world(self, batch)?;
        let mut maker = RowMaker::new(&world, self.streams(), &self.abilities, batch.split);
        maker.ask_for(self.difficulty);
        let mut rows = Vec::new();
        for row_index in batch.row_indexes.clone() {
            let key = self.row_key(batch, row_index);
            rows.extend(maker.row((row_index, key), self.turn(batch, row_index).map(Start::of)));
        }
        let worlds = [(world.id.clone(), Arc::clone(&world.canonical))].into();
        Ok(BatchRows { batch: batch.index, rows, worlds, funnel: maker.funnel, ..BatchRows::default() })
    }
}

/// The starting point of a row.
pub(crate) struct Start {
    /// The ability, domain and number of the row.
    pub(crate) turn: Turn,
    /// The scenarios to begin with, the first ones first; any scenario of the turn if there are none.
    pub(crate) scenarios: Vec<usize>,
}

impl Start {
    /// Returns a row that begins with any scenario of its turn.
    pub(crate) fn of(turn: Turn) -> Self {
        Self { turn, scenarios: Vec::new() }
    }
}

/// A conversation that passed the gates.
#[derive(Clone, Debug)]
pub struct ProvenDialogue {
    /// The candidate with its sources.
    pub grounded: GroundedCandidate,
    /// The findings of the gates.
    pub report: GateReport,
    /// The ability that it exercises.
    pub ability: Ability,
    /// The tags that its dialogue shows.
    pub tags: Vec<&'static str>,
    /// The domain that it is written for.
    pub domain: DomainId,
    /// The attempt that passed.
    pub attempt: u32,
}

/// Makes the rows of a batch in order. Two rows must not ask for the same in nearly the same words.
pub(crate) struct RowMaker<'a> {
    world: &'a BatchWorld,
    streams: Streams,
    abilities: &'a [Ability],
    split: Split,
    /// The shares of conversations that join several goals.
    pub(crate) joined: &'a [(Joins, u32)],
    /// Attempts at a row before it is given up.
    pub(crate) attempts: u32,
    /// The band that all rows must have; any where none is requested.
    difficulty: Option<Difficulty>,
    requests: Vec<Box<[u64]>>,
    /// The tasks proposed so far.
    pub(crate) funnel: Funnel,
}

impl<'a> RowMaker<'a> {
    pub(crate) fn new(
        world: &'a BatchWorld,
        streams: Streams,
        abilities: &'a [Ability],
        split: Split,
    ) -> Self {
        let (requests, funnel) = (Vec::new(), Funnel::default());
        let (joined, attempts, difficulty) = (&JOINED, ATTEMPTS, None);
        Self { world, streams, abilities, split, joined, attempts, difficulty, requests, funnel }
    }

    /// Requests rows of one band. Hard ones go on to goals of other domains, and have many tools.
    pub(crate) fn ask_for(&mut self, difficulty: Option<Difficulty>) {
        self.difficulty = difficulty;
        if difficulty == Some(Difficulty::Hard) {
            self.joined = &HARD_JOINED;
        }
    }

    /// Returns the row of an index; none if no attempt passes.
    pub(crate) fn row(
        &mut self,
        (row_index, key): (u64, RowKey<'_>),
        start: Option<Start>,
    ) -> Option<Dialogue> {
        let proven = self.prove(key, self.streams.make_row_stream("row", key), start)?;
        count_mutants(&mut self.funnel, &proven.report);
        let provenance = Provenance {
            backend: "scenarios".to_owned(),
            model: None,
            prompt_hash: None,
            seed: self.streams.seed(),
            row: row_index,
            attempt: proven.attempt,
            version: crate::GENERATOR_VERSION.to_owned(),
            authors: std::collections::BTreeMap::new(),
            difficulty: None,
        };
        let about = RowProperties {
            ability: proven.ability,
            tags: &proven.tags,
            domain: Some(proven.domain),
            split: self.split,
            provenance: &provenance,
            model_terms: None,
        };
        Some(row::row(self.world.of_rows(), &proven.grounded, &proven.report, &about))
    }

    /// Makes attempts at a row, whose choices follow from the stream. Returns the first that passes; none if
    /// none does.
    pub(crate) fn prove(
        &mut self,
        key: RowKey<'_>,
        mut stream: ChaCha8Rng,
        start: Option<Start>,
    ) -> Option<ProvenDialogue> {
        let world = self.world;
        let turn = start.as_ref().map(|start| start.turn);
        let ability = turn.map_or_else(|| ability(self.abilities, &mut stream), |turn| turn.ability);
        let scenario_set = &world.world_template.scenario_set;
        let scenarios = start.map(|start| start.scenarios).unwrap_or_default();
        let mut drawn = ScenarioDraw {
            domain: turn.map(|turn| turn.domain),
            place: stream.random(),
            scenario: scenarios.first().copied(),
            opening: WordingTurn::draw(&mut stream),
        };
        if let Some(number) = turn.and_then(|turn| turn.number) {
            let openings = self.streams.number(&format!("openings/{}", key.subject), 0);
            drawn.opening = WordingTurn { key: openings, number };
            if drawn.scenario.is_none() {
                let order =
                    |round| self.streams.stream(&format!("scenarios/{}/{ability:?}", key.subject), round);
                drawn = scenario_set.take_turn(ability, number, drawn, order);
            }
        }
        let joins = joins(self.joined, &mut stream);
        let mut detour = scenario_set.draw_detour(&mut stream);
        let minutes = stream.random_range(0..START_SPAN_MINUTES);
        let clock = Instant(world.base.world().clock.0 + minutes * 60);
        let takes_declined = self.streams.make_row_stream("declined", key).random_bool(DECLINED_SHARE);
        let is_hard = self.difficulty == Some(Difficulty::Hard);
        let forbids = self.streams.make_row_stream("policy", key).random_bool(FORBIDDEN_SHARE);
        let push = Push::draw(&mut self.streams.make_row_stream("push", key));
        let mut manner = self.streams.make_row_stream("patience", key);
        let patience = manner.random_bool(IMPATIENT_SHARE).then(|| manner.random_range(PATIENCE));
        // A requested detour is tried in other scenarios if one has no room for it.
        let is_asked = detour.is_some_and(|detour| scenario_set.is_asked(detour));
        let detour_attempts = if is_asked { self.attempts / 2 } else { DETOUR_ATTEMPTS };
        let mut needs_other = false;
        for attempt in 0..self.attempts {
            if (attempt > 0 && attempt % SAME_SCENARIO == 0) || std::mem::take(&mut needs_other) {
                drawn.opening = WordingTurn::draw(&mut stream);
                let place = stream.random();
                match scenarios.get((attempt / SAME_SCENARIO) as usize % scenarios.len().max(1)) {
                    Some(scenario) => drawn.scenario = Some(*scenario),
                    None => drawn.place = scenario_set.another(ability, drawn, place),
                }
            }
            let mut rng = ChaCha8Rng::seed_from_u64(stream.random());
            let joins = if attempt < JOINED_ATTEMPTS || is_hard { joins } else { Joins::Nothing };
            if attempt == DOMAIN_ATTEMPTS {
                (drawn.domain, drawn.scenario) = (None, None);
            }
            let detour_now = detour.filter(|_| attempt < detour_attempts);
            let spec = TaskSpec {
                ability,
                joins,
                session_seed: rng.random(),
                clock,
                detour: detour_now,
                drawn,
                forbids,
                push,
                patience,
                pool: if is_hard { Pool::Large } else { Pool::Usual },
            };
            let Proposal { candidate, tags, domain } = match propose(world, &spec, &mut rng) {
                Ok(proposal) => proposal,
                Err(failed) if failed.is_without_detour() => {
                    needs_other = is_asked;
                    detour = detour.filter(|_| is_asked);
                    continue;
                }
                Err(failed) => {
                    needs_other = failed.is_foreseeable();
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
            let model = world.base.world();
            if ability == Ability::RetrieveCall
                && candidate.goals.iter().any(|goal| apis_of(goal, model).len() > 1)
            {
                self.funnel.drop_at("query", "needs several APIs for one request");
                continue;
            }
            let opening = shingles(&words(candidate.goals.first().map_or("", |goal| &goal.user)));
            if self.requests.iter().any(|other| similar(other, &opening)) {
                self.funnel.drop_at("duplicate", REPEATS);
                continue;
            }
            let tested = match self.difficulty {
                Some(band) => test_band(world, candidate, (band, &tags), &mut rng),
                None => test(world, candidate, &mut rng).map_err(BandError::Rejected),
            };
            match tested {
                Ok((grounded, report)) => {
                    self.requests.push(opening);
                    return Some(ProvenDialogue { grounded, report, ability, tags, domain, attempt });
                }
                Err(BandError::Rejected(Rejection::Gate(reason))) => {
                    self.funnel.drop_at(reason.gate.name(), reason.code.name())
                }
                Err(BandError::Band(reason)) => self.funnel.drop_at("difficulty", reason),
                Err(BandError::Rejected(Rejection::Form(_))) => {
                    self.funnel.drop_at("caller", "not of the form of a candidate")
                }
            }
        }
        None
    }
}

/// Returns the APIs that a goal calls, without searches and sign-ins.
fn apis_of<'a>(goal: &'a CandidateGoal, world: &World) -> BTreeSet<&'a str> {
    let signs_in = |id: ApiId| matches!(world.api(id).behaviour.kind, BehaviourKind::SignIn { .. });
    let calls = goal.turns.iter().flat_map(|turn| &turn.calls).map(|call| &*call.api);
    calls.filter(|api| world.api_named(api).is_some_and(|id| !signs_in(id))).collect()
}

/// Draws whether a conversation joins domains.
fn joins(joined: &[(Joins, u32)], rng: &mut ChaCha8Rng) -> Joins {
    let number = rng.random_range(0..weights::sum(joined, |(_, share)| *share).max(1));
    weights::pick(joined, |(_, share)| *share, number).map_or(Joins::Nothing, |(joins, _)| joins)
}

/// Draws one of the requested abilities.
fn ability(asked: &[Ability], rng: &mut ChaCha8Rng) -> Ability {
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

#[cfg(test)]
mod tests {
    use diorama_output::plan::Batch;

    use super::*;
    use crate::scenarios::Shares;
    use crate::worlds::recipe::Ingredients;

    const ROWS: u64 = 60;

    /// Returns a recipe of rows over one domain of the catalog, or over worlds of three.
    fn recipe(only: Option<&str>, ability: Ability, shares: Shares) -> Recipe {
        let worlds = crate::catalog::worlds().unwrap().into_iter().filter(|world| only == Some(&*world.name));
        let domains = if only.is_none() { crate::catalog::domains() } else { Vec::new() };
        Recipe::new(Ingredients {
            seed: 1,
            abilities: vec![ability],
            domains,
            worlds: worlds.collect(),
            difficulty: None,
            test_split: Default::default(),
            domains_per_world: if only.is_none() { 3 } else { 1 },
            dialogues: ROWS,
            shares,
            model: None,
        })
        .unwrap()
    }

    #[test]
    fn rows_have_the_requested_difficulty() {
        for band in [Difficulty::Easy, Difficulty::Hard] {
            let recipe = recipe(None, Ability::Call, Shares::new());
            let batch = Batch { index: 0, split: Split::Train, row_indexes: 0..8 };
            let world = make_batch_world(&recipe, &batch).unwrap();
            let mut maker = RowMaker::new(&world, recipe.streams(), &recipe.abilities, batch.split);
            maker.ask_for(Some(band));
            let rows: Vec<Dialogue> = batch
                .row_indexes
                .clone()
                .filter_map(|row| maker.row((row, recipe.row_key(&batch, row)), None))
                .collect();
            assert!(rows.len() > 3, "{band}: {} rows", rows.len());
            for row in &rows {
                assert_eq!(row.difficulty, Some(band));
                let provenance: Provenance = serde_json::from_str(&row.provenance).unwrap();
                let counts = provenance.difficulty.unwrap();
                assert_eq!(counts.band(), band);
                let tools: Vec<serde_json::Value> = serde_json::from_str(&row.tools).unwrap();
                let most = world.base.world().apis.len();
                assert!(band == Difficulty::Easy || tools.len() >= most.min(30), "{} tools", tools.len());
            }
        }
    }

    /// Makes the conversations of a recipe's only batch.
    fn prove_all(recipe: &Recipe) -> Vec<ProvenDialogue> {
        let batch = Batch { index: 0, split: Split::Train, row_indexes: 0..ROWS };
        let world = make_batch_world(recipe, &batch).unwrap();
        let mut maker = RowMaker::new(&world, recipe.streams(), &recipe.abilities, batch.split);
        let prove = |row| {
            let key = recipe.row_key(&batch, row);
            maker.prove(key, recipe.streams().make_row_stream("row", key), None)
        };
        batch.row_indexes.clone().filter_map(prove).collect()
    }

    #[test]
    fn each_goal_of_a_retrieve_call_conversation_needs_at_most_one_api() {
        let mut all: Vec<Vec<BTreeSet<String>>> = Vec::new();
        for domain in ["rail_travel", "personal_bank", "parcel_shipping", "city_library"] {
            let recipe = recipe(Some(domain), Ability::RetrieveCall, Shares::new());
            let batch = Batch { index: 0, split: Split::Train, row_indexes: 0..ROWS };
            let world = make_batch_world(&recipe, &batch).unwrap();
            let model = world.base.world();
            all.extend(prove_all(&recipe).iter().map(|one| {
                let goals = one.grounded.candidate.goals.iter().map(|goal| apis_of(goal, model));
                goals.map(|apis| apis.into_iter().map(str::to_owned).collect()).collect()
            }));
        }
        let several =
            |goals: &&Vec<BTreeSet<String>>| goals.iter().flatten().collect::<BTreeSet<_>>().len() > 1;
        let count = all.iter().filter(several).count();
        assert!(count > 5, "{count} of {} need several", all.len());
        assert!(all.iter().flatten().all(|apis| apis.len() <= 1), "{all:#?}");
    }

    #[test]
    fn a_detour_share_counts_conversations_and_not_tries() {
        let rows =
            prove_all(&recipe(Some("city_library"), Ability::Call, [("digression".to_owned(), 0.5)].into()));
        let digressions = rows.iter().filter(|row| row.tags.contains(&"digression")).count() as f64;
        let share = digressions / rows.len() as f64;
        assert!(
            rows.len() as u64 >= ROWS - 2 && (0.35..0.65).contains(&share),
            "{digressions} of {}",
            rows.len()
        );
    }
}
