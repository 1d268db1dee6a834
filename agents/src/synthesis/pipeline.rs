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
use diorama_proof::{Candidate, GateReport};
use diorama_seeds::model::DomainId;
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::Ability;
use diorama_seeds::value::Instant;
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::caller::CallerAgent;
use super::domain::DomainAgent;
use super::error::PipelineError;
use super::query::{QueryAgent, Shape, TaskSpec};
use super::recipe::Recipe;
use super::row::{self, About};
use super::scenario::{self, Drawn, Joins, PlayOptions, ScenarioSet, Unplayed};
use super::tags;
use super::tester::{Rejected, TesterAgent};
use super::weights::{self, GOLDEN, ability_weight};
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
/// Attempts with the same kind of task before another kind is drawn.
const SAME_SHAPE: u32 = 20;
/// Attempts with the same API before another one is taken.
const SAME_API: u32 = 2;
/// Shares of the conversations that join a matter of another domain, and another one of the same domain, of those whose ability
/// allows for it.
const JOINED: [(Joins, u32); 3] = [(Joins::Domains, 70), (Joins::OneDomain, 12), (Joins::Nothing, 18)];
/// Share of the joined conversations that join a third matter.
const THIRD: f64 = 0.25;
/// Minutes after the world's start in which sessions begin.
const START_SPAN_MINUTES: i64 = 45;
/// Attempts with the same scenario before another one is drawn.
const SAME_SCENARIO: u32 = 4;

/// The agents of the pipeline.
pub struct Agents {
    /// Chooses the world template and the records.
    pub domain: Box<dyn DomainAgent>,
    /// Asks.
    pub query: Box<dyn QueryAgent>,
    /// Solves.
    pub caller: Box<dyn CallerAgent>,
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
    let author = Author::of(world, ability);
    let reads_only = world.world_template.survey.writers.is_empty();
    let mut kind = shape(ability, reads_only, &mut stream);
    let mut drawn = Drawn {
        domain: turn.map(|turn| turn.domain),
        place: turn.map_or_else(|| stream.random(), |turn| turn.place),
    };
    let joins = joins(ability, &mut stream);
    let mut detour = world.world_template.scenario_set.draw_detour(&mut stream);
    let minutes = stream.random_range(0..START_SPAN_MINUTES);
    let clock = Instant(world.base.world().clock.0 + minutes * 60);
    for attempt in 0..ATTEMPTS {
        // A shape that a world has no room for must not hold the row up; one that is merely rare gets its chance.
        if attempt > 0 && attempt % author.patience() == 0 {
            kind = shape(ability, reads_only, &mut stream);
            drawn.place = author.another(ability, drawn, stream.random());
        }
        let mut rng = ChaCha8Rng::seed_from_u64(stream.random());
        let joins = if attempt < JOINED_ATTEMPTS { joins } else { Joins::Nothing };
        if attempt == DOMAIN_ATTEMPTS {
            drawn.domain = None;
        }
        let share = share(drawn.place, attempt);
        let detour_now = detour.filter(|_| attempt < DETOUR_ATTEMPTS);
        let spec = TaskSpec {
            ability,
            shape: kind,
            joins,
            share,
            session_seed: rng.random(),
            split,
            clock,
            detour: detour_now,
        };
        let proposal = author.propose(agents, world, &spec, drawn, &mut rng);
        let Proposal { candidate, tags, domain } = match proposal {
            Ok(proposal) => proposal,
            Err((_, reason)) if reason == Unplayed::NoDetour.name() => {
                detour = None;
                continue;
            }
            Err((goal, reason)) => {
                funnel.propose();
                funnel.drop_at(goal, &reason);
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
                let about =
                    About { ability, tags: &tags, domain, split, provenance: &provenance, model_terms: None };
                return Some(row::row(world.of_rows(), &grounded, &report, &about));
            }
            Err(Rejected::Gate(reason)) => funnel.drop_at(reason.gate.name(), reason.code.name()),
            Err(Rejected::Form(_)) => funnel.drop_at("caller", "not of the form of a candidate"),
        }
    }
    None
}

/// The options of the conversation of a task.
const fn options(spec: &TaskSpec, opening: f64) -> PlayOptions {
    PlayOptions {
        ability: spec.ability,
        seed: spec.session_seed,
        clock: spec.clock,
        opening: Some(opening),
        detour: spec.detour,
    }
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

/// A conversation that an author proposes.
pub(super) struct Proposal {
    /// The conversation.
    pub(super) candidate: Candidate,
    /// Its tags.
    pub(super) tags: Vec<&'static str>,
    /// The domain that it is written for, where its author knows.
    pub(super) domain: Option<DomainId>,
}

/// The author of a row's conversation.
pub(super) enum Author<'a> {
    /// Scenarios that people wrote for the world's domains.
    Scenarios(&'a ScenarioSet),
    /// The grammar, for worlds without: its query and caller agents.
    Grammar,
}

impl<'a> Author<'a> {
    pub(super) fn of(world: &'a BatchWorld, ability: Ability) -> Self {
        let scenario_set = &world.world_template.scenario_set;
        let any = Drawn { domain: None, place: 0.0 };
        if scenario_set.draw(ability, any).is_some() { Self::Scenarios(scenario_set) } else { Self::Grammar }
    }

    /// Where the next draw goes, after one that came to nothing.
    pub(super) fn another(&self, ability: Ability, drawn: Drawn, to: f64) -> f64 {
        match self {
            Self::Scenarios(scenario_set) => scenario_set.another(ability, drawn, to),
            Self::Grammar => to,
        }
    }

    /// Attempts at one kind of conversation.
    pub(super) const fn patience(&self) -> u32 {
        match self {
            Self::Scenarios(_) => SAME_SCENARIO,
            Self::Grammar => SAME_SHAPE,
        }
    }

    /// A conversation; or where it was lost, and why.
    pub(super) fn propose(
        &self,
        agents: &Agents,
        world: &BatchWorld,
        spec: &TaskSpec,
        drawn: Drawn,
        rng: &mut ChaCha8Rng,
    ) -> Result<Proposal, (&'static str, String)> {
        match self {
            Self::Scenarios(scenario_set) => {
                let (scenario, opening) = scenario_set
                    .draw(spec.ability, drawn)
                    .ok_or_else(|| ("scenario", "no scenario of the ability".to_owned()))?;
                let count = match spec.joins {
                    Joins::Nothing => 0,
                    _ if rng.random_bool(THIRD) => 2,
                    _ => 1,
                };
                let later: Vec<Vec<&Scenario>> = (0..count)
                    .map(|_| scenario_set.other_matters(scenario, spec.joins, rng))
                    .filter(|alternatives| !alternatives.is_empty())
                    .collect();
                let played = scenario::play(world, scenario, &later, options(spec, opening), rng)
                    .map_err(|reason| ("scenario", reason.name().to_owned()))?;
                let tags = tags::label(&played);
                if let Some(label) = scenario_set.drawn_for(scenario).find(|label| !tags.contains(label)) {
                    return Err(("scenario", format!("does not show {label}, which it was drawn for")));
                }
                let candidate = played.candidate;
                Ok(Proposal { candidate, tags, domain: Some(scenario.domain) })
            }
            Self::Grammar => {
                let draft =
                    agents.query.propose(world, spec, rng).map_err(|reason| ("query", reason.to_string()))?;
                let candidate = agents
                    .caller
                    .solve(world, &draft, spec.session_seed, rng)
                    .map_err(|reason| ("caller", reason.to_string()))?;
                Ok(Proposal { candidate, tags: draft.tags, domain: None })
            }
        }
    }
}

/// Which API the first request of an attempt is for, from where a row begins: steps of the golden ratio come to each of
/// them. After half of the attempts any API will do.
pub(super) fn share(drawn: f64, attempt: u32) -> Option<f64> {
    let step = f64::from(attempt / SAME_API) * GOLDEN;
    (attempt < ATTEMPTS / 2).then_some((drawn + step).fract())
}

/// Which kind of conversation; the shares make more than a third of the rows change state.
pub(super) fn shape(ability: Ability, reads_only: bool, rng: &mut ChaCha8Rng) -> Shape {
    let draw = rng.random_range(0..100);
    if reads_only {
        return match (ability, draw) {
            (Ability::RetrieveCall, 0..95) | (_, 0..50) => Shape::Read,
            (Ability::Call | Ability::PlanRetrieveCall, 50..80) => Shape::Two,
            (Ability::Call | Ability::PlanRetrieveCall, 80..95) => Shape::Correction,
            _ => Shape::Missing,
        };
    }
    match ability {
        Ability::Call => match draw {
            0..26 => Shape::Write,
            26..46 => Shape::Read,
            46..60 => Shape::Two,
            60..70 => Shape::Branch,
            70..76 => Shape::Correction,
            76..87 => Shape::AskBack,
            87..95 => Shape::Refusal,
            _ => Shape::Missing,
        },
        Ability::RetrieveCall => match draw {
            0..45 => Shape::Write,
            45..85 => Shape::Read,
            85..95 => Shape::Refusal,
            _ => Shape::Missing,
        },
        Ability::PlanRetrieveCall => match draw {
            0..30 => Shape::Write,
            30..42 => Shape::Read,
            42..60 => Shape::Two,
            60..72 => Shape::Branch,
            72..78 => Shape::Correction,
            78..90 => Shape::AskBack,
            _ => Shape::Refusal,
        },
    }
}

/// Counts a candidate's mutants by their results.
pub(super) fn count_mutants(funnel: &mut Funnel, report: &GateReport) {
    for (kind, tally) in &report.mutation {
        let mutants = funnel.mutants.entry(kind.clone()).or_default();
        *mutants = Mutants {
            killed: mutants.killed + u64::from(tally.killed),
            survived: mutants.survived + u64::from(tally.survived),
            equivalent: mutants.equivalent + u64::from(tally.equivalent),
        };
    }
}
