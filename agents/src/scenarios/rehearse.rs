//! Tries scenarios: plays them in a world, and tests the result by the gates.

use std::fmt::Write as _;
use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_proof::{Candidate, GroundedCandidate};
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::Ability;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::play::{BoundScenarios, PlayOptions, play};
use super::set::Further;
use super::shares::Shares;
use super::tools::Pool;
use super::unplayed::PlayError;
use crate::rows::prove::{Rejection, test};
use crate::worlds::error::PipelineError;
use crate::worlds::make::make_world;
use crate::worlds::world::{BatchWorld, WorldTemplate};

/// The reason why a try becomes no row.
#[derive(Debug, thiserror::Error)]
pub enum TryFailure {
    /// It cannot be played.
    #[error(transparent)]
    Unplayed(#[from] PlayError),
    /// The played conversation does not pass.
    #[error("{rejected}")]
    Rejected {
        /// The played conversation.
        candidate: Box<Candidate>,
        /// The reason for its rejection.
        rejected: Box<Rejection>,
    },
}

/// Makes one try: a function of the world, the scenarios and the seed.
///
/// # Errors
/// Returns the reason why it becomes no row.
pub fn rehearse(
    world: &BatchWorld,
    (first, later): (&Scenario, &[Vec<&Scenario>]),
    ability: Ability,
    seed: u64,
) -> Result<(Candidate, GroundedCandidate), TryFailure> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let options = PlayOptions { forbids: seed.is_multiple_of(2), ..options(world, rng.random(), ability) };
    let candidate = play(world, first, later, options, &mut rng)?.candidate;
    match test(world, candidate.clone(), &mut rng) {
        Ok((grounded, _)) => Ok((candidate, grounded)),
        Err(rejected) => {
            Err(TryFailure::Rejected { candidate: Box::new(candidate), rejected: Box::new(rejected) })
        }
    }
}

/// The results of a scenario's tries.
#[derive(Debug, Default)]
pub struct Rehearsal {
    /// The number of tries that became rows.
    pub passed: u64,
    /// The reasons of the others.
    pub lost: Vec<Loss>,
}

/// A reason why tries become no rows.
#[derive(Debug)]
pub struct Loss {
    /// Its class: that it cannot be played, or the gate and its code.
    pub class: String,
    /// The first case in full, with the conversation where there is one.
    pub what: String,
    /// The number of cases.
    pub count: u64,
}

impl Rehearsal {
    /// Lists the reasons why tries become no rows, each with its count; none if enough tries became rows.
    #[must_use]
    pub fn list_reasons(self, enough: u64) -> Vec<String> {
        if self.passed >= enough {
            return Vec::new();
        }
        let tries = self.passed + self.lost.iter().map(|loss| loss.count).sum::<u64>();
        let reason = |Loss { what, count, .. }| format!("{count} of {tries} tries: {what}");
        self.lost.into_iter().map(reason).collect()
    }
}

impl TryFailure {
    /// Returns the class of the loss, which several tries share.
    #[must_use]
    pub fn class(&self) -> String {
        match self {
            Self::Unplayed(reason) => format!("cannot be played: {}", reason.name()),
            Self::Rejected { rejected, .. } => match &**rejected {
                Rejection::Gate(reason) => {
                    format!("does not pass: {} {}", reason.gate.name(), reason.code.name())
                }
                Rejection::Form(_) => "not of the form of a candidate".to_owned(),
            },
        }
    }

    /// Returns the case in full, with the conversation.
    fn describe(&self) -> String {
        match self {
            Self::Unplayed(_) => format!("cannot be played: {self}"),
            Self::Rejected { candidate, .. } => {
                format!("does not pass: {self}. This conversation:\n{}", conversation(candidate, None))
            }
        }
    }
}

/// Tries the only scenario of a world, each time with other records.
///
/// # Errors
/// Returns an error if the world is invalid, or has no playable scenario.
pub fn rehearsal(doc: &WorldDoc, tries: u64) -> Result<Rehearsal, PipelineError> {
    rehearse_worlds(doc, tries, 0)
}

/// Tries the wordings of the only scenario of a world. Records, and not wordings, can make it impossible.
/// A world without suitable records does not count, up to the number of tries.
///
/// # Errors
/// Returns an error if the world is invalid, or has no playable scenario.
pub fn rehearsal_of_words(doc: &WorldDoc, tries: u64) -> Result<Rehearsal, PipelineError> {
    rehearse_worlds(doc, tries, tries)
}

/// Makes tries with different records, and skips up to `spare` worlds without records for the scenario.
fn rehearse_worlds(doc: &WorldDoc, tries: u64, mut spare: u64) -> Result<Rehearsal, PipelineError> {
    let world_template = WorldTemplate::new(doc, 0x5eed, &Shares::new(), &Ability::ALL)?;
    let mut found = Rehearsal::default();
    let [scenario] = world_template.scenario_set.scenarios() else {
        return Ok(Rehearsal {
            lost: vec![Loss {
                class: "not a scenario that can be played".to_owned(),
                what: "not a scenario that can be played".to_owned(),
                count: tries,
            }],
            ..found
        });
    };
    let mut made = 0;
    for seed in 0..tries + spare {
        if made == tries {
            break;
        }
        let world = make_world(&world_template, seed)?;
        let tried = rehearse(&world, (scenario, &[]), Ability::Call, seed);
        if matches!(tried, Err(TryFailure::Unplayed(PlayError::NoBindings(_)))) && spare > 0 {
            spare -= 1;
            continue;
        }
        made += 1;
        let Err(error) = tried else {
            found.passed += 1;
            continue;
        };
        let class = error.class();
        match found.lost.iter_mut().find(|loss| loss.class == class) {
            Some(loss) => loss.count += 1,
            None => found.lost.push(Loss { class, what: error.describe(), count: 1 }),
        }
    }
    Ok(found)
}

/// Returns the calls of a scenario that is played alone, with their replies: a function of the world, the
/// scenario and the seed.
///
/// # Errors
/// Returns the reason why it cannot be played.
pub(crate) fn calls(
    world: &BatchWorld,
    scenario: &Scenario,
    seed: u64,
) -> Result<Vec<Arc<LogEntry>>, PlayError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let options = options(world, rng.random(), Ability::Call);
    BoundScenarios::new(world, (scenario, &[]), options, &mut rng)?.calls(&mut rng)
}

fn options(world: &BatchWorld, seed: u64, ability: Ability) -> PlayOptions {
    let clock = world.base.world().clock;
    PlayOptions {
        ability,
        seed,
        clock,
        opening: None,
        detour: None,
        further: Further::Any,
        forbids: false,
        push: None,
        patience: None,
        pool: Pool::Usual,
    }
}

/// Returns a conversation for people: the speakers, the calls and their replies.
#[must_use]
pub fn conversation(candidate: &Candidate, run: Option<(&GroundedCandidate, &BatchWorld)>) -> String {
    let mut out = String::new();
    let mut number = 0;
    for goal in &candidate.goals {
        let _ = writeln!(out, "  USER: {}", goal.user);
        for turn in &goal.turns {
            if let Some(words) = &turn.user {
                let _ = writeln!(out, "  USER: {words}");
            }
            if let Some(words) = &turn.say {
                let _ = writeln!(out, "  ASSISTANT: {words}");
            }
            for call in &turn.calls {
                let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
                let _ = write!(out, "  - {}{arguments}", call.api);
                if let Some((grounded, world)) = run
                    && let Some(entry) = grounded.entries.get(number)
                {
                    let reply: String =
                        entry.reply.to_json(&world.base.world().zone).chars().take(400).collect();
                    let _ = write!(out, " -> {} {reply}", entry.reply.status);
                }
                out.push('\n');
                number += 1;
            }
        }
    }
    out
}
