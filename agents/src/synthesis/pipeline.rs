//! The pipeline: from a unit of slots to its rows.
//!
//! Slot j is a pure function of (seed, config hash, j): it tries attempts until one passes all gates. World, domain
//! and split follow from the unit. Nothing here knows of threads, files or shards.

use std::cmp::Ordering;
use std::sync::Arc;

use diorama_output::dataset::{DatasetError, DatasetWriter, UnitRows};
use diorama_output::funnel::{Faults, Funnel};
use diorama_output::plan::Unit;
use diorama_output::row::{Dialogue, Split};
use diorama_seeds::task::Ability;
use diorama_seeds::world::Report;
use diorama_simulator::engine::BaseError;
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::caller::CallerAgent;
use super::domain::DomainAgent;
use super::draft::Draft;
use super::query::{QueryAgent, Shape, Wish};
use super::recipe::Recipe;
use super::row::{self, Provenance};
use super::tester::{Dropped, TesterAgent};
use super::world::UnitWorld;

/// Attempts at a slot before it is given up.
const ATTEMPTS: u32 = 400;
/// Attempts with the same kind of task before another kind is drawn.
const SAME_SHAPE: u32 = 20;
/// Share of equal 3-word shingles from which two requests of a unit are near-duplicates.
const NEAR_DUPLICATE: f64 = 0.8;

/// The agents of the pipeline.
pub struct Agents {
    /// Chooses the world family and the records.
    pub domain: Box<dyn DomainAgent>,
    /// Asks.
    pub query: Box<dyn QueryAgent>,
    /// Solves.
    pub caller: Box<dyn CallerAgent>,
    /// Tests.
    pub tester: Box<dyn TesterAgent>,
}

/// Why a unit cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// A world cannot be materialised.
    #[error("{0}")]
    World(#[from] Report),
    /// The engine cannot take a world.
    #[error(transparent)]
    Engine(#[from] BaseError),
    /// A world cannot be stored.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

/// Makes the rows of a unit and stores its world.
///
/// # Errors
/// When its world cannot be made or stored.
pub fn unit(
    recipe: &Recipe,
    agents: &Agents,
    unit: &Unit,
    writer: &DatasetWriter,
) -> Result<UnitRows, PipelineError> {
    let world = agents.domain.world(recipe, unit)?;
    let mut rows = Vec::new();
    let mut funnel = Funnel::default();
    let mut requests = Requests::default();
    for slot in unit.slots.clone() {
        if let Some(row) = slot_row(recipe, agents, &world, unit.split, slot, &mut requests, &mut funnel) {
            rows.push(row);
        }
    }
    if !rows.is_empty() {
        writer.put_world(&world.id, world.canonical.as_bytes())?;
    }
    Ok(UnitRows { unit: unit.index, rows, funnel })
}

fn slot_row(
    recipe: &Recipe,
    agents: &Agents,
    world: &UnitWorld,
    split: Split,
    slot: u64,
    requests: &mut Requests,
    funnel: &mut Funnel,
) -> Option<Dialogue> {
    let mut stream = recipe.stream("slot", slot);
    let ability = recipe.abilities[stream.random_range(0..recipe.abilities.len())];
    let reads_only = world.family.survey.writers.is_empty();
    let mut kind = shape(ability, reads_only, &mut stream);
    for attempt in 0..ATTEMPTS {
        // A shape that a world has no room for must not hold the slot up; one that is merely rare gets its chance.
        if attempt > 0 && attempt % SAME_SHAPE == 0 {
            kind = shape(ability, reads_only, &mut stream);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(stream.random());
        let wish = Wish { ability, shape: kind, session_seed: rng.random(), split };
        funnel.propose();
        let draft = match agents.query.propose(world, &wish, &mut rng) {
            Ok(draft) => draft,
            Err(reason) => {
                funnel.drop_at("query", reason);
                continue;
            }
        };
        if requests.near_duplicate(&draft) {
            funnel.drop_at("duplicate", "near-duplicate of an earlier request of the unit");
            continue;
        }
        let solution = match agents.caller.solve(world, &draft, wish.session_seed, &mut rng) {
            Ok(solution) => solution,
            Err(reason) => {
                funnel.drop_at("caller", reason);
                continue;
            }
        };
        match agents.tester.test(world, &draft, &solution, &mut rng) {
            Ok(report) => {
                for (kind, tally) in &report.damage {
                    let faults = funnel.faults.entry(kind.clone()).or_default();
                    *faults = Faults {
                        killed: faults.killed + u64::from(tally.killed),
                        survived: faults.survived + u64::from(tally.survived),
                        equivalent: faults.equivalent + u64::from(tally.equivalent),
                    };
                }
                requests.add(&draft);
                let provenance = Provenance {
                    backend: "offline".to_owned(),
                    model: None,
                    prompt_hash: None,
                    seed: recipe.seed,
                    slot,
                    attempt,
                    version: crate::GENERATOR_VERSION.to_owned(),
                };
                return Some(row::row(world, &draft, &solution, &report, split, &provenance));
            }
            Err(Dropped { gate, reason }) => funnel.drop_at(gate.name(), reason),
        }
    }
    None
}

/// Which kind of task; the shares make more than a third of the rows change state.
fn shape(ability: Ability, reads_only: bool, rng: &mut ChaCha8Rng) -> Shape {
    let draw = rng.random_range(0..100);
    if reads_only {
        return match (ability, draw) {
            (Ability::RetrieveCall, 0..95) | (_, 0..65) => Shape::Read,
            (Ability::Call | Ability::PlanRetrieveCall, 65..95) => Shape::Two,
            _ => Shape::Missing,
        };
    }
    match ability {
        Ability::Call => match draw {
            0..34 => Shape::Write,
            34..58 => Shape::Read,
            58..76 => Shape::Two,
            76..86 => Shape::AskBack,
            86..95 => Shape::Refusal,
            _ => Shape::Missing,
        },
        Ability::RetrieveCall => match draw {
            0..45 => Shape::Write,
            45..85 => Shape::Read,
            85..95 => Shape::Refusal,
            _ => Shape::Missing,
        },
        Ability::PlanRetrieveCall => match draw {
            0..40 => Shape::Write,
            40..55 => Shape::Read,
            55..80 => Shape::Two,
            80..90 => Shape::AskBack,
            _ => Shape::Refusal,
        },
    }
}

/// The requests of a unit so far, as sets of shingles.
#[derive(Default)]
struct Requests {
    seen: Vec<Vec<u64>>,
}

impl Requests {
    fn near_duplicate(&self, draft: &Draft) -> bool {
        let mine = shingles(draft);
        self.seen.iter().any(|other| {
            let (fewer, more) = (mine.len().min(other.len()), mine.len().max(other.len()));
            // The share can reach the limit only where the sets are about as large.
            fewer as f64 >= NEAR_DUPLICATE * more as f64 && {
                let shared = shared(&mine, other);
                shared as f64 >= NEAR_DUPLICATE * (mine.len() + other.len() - shared) as f64
            }
        })
    }

    fn add(&mut self, draft: &Draft) {
        self.seen.push(shingles(draft));
    }
}

/// How many numbers two sorted lists share.
fn shared(left: &[u64], right: &[u64]) -> usize {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let mut count = 0;
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        match a.cmp(b) {
            Ordering::Less => _ = left.next(),
            Ordering::Greater => _ = right.next(),
            Ordering::Equal => {
                count += 1;
                _ = (left.next(), right.next());
            }
        }
    }
    count
}

/// Hashes of the first turn's runs of three words (of all its words where it is shorter), sorted, each once.
fn shingles(draft: &Draft) -> Vec<u64> {
    let text = draft.turns.first().map(|turn| turn.text.to_lowercase()).unwrap_or_default();
    // FNV-1a of each word, then of three of them: stable everywhere, and nobody attacks it.
    let fnv = |bytes: &mut dyn Iterator<Item = u8>| {
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let words: Vec<u64> = text.split_whitespace().map(|word| fnv(&mut word.bytes())).collect();
    let hash = |words: &[u64]| fnv(&mut words.iter().flat_map(|word| word.to_le_bytes()));
    let mut found: Vec<u64> =
        if words.len() < 3 { vec![hash(&words)] } else { words.windows(3).map(hash).collect() };
    found.sort_unstable();
    found.dedup();
    found
}

/// Shared worlds by unit are cheap to hand around.
pub type SharedWorld = Arc<UnitWorld>;
