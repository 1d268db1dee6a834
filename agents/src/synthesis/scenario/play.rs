//! Scenarios played in one session, one after the other.

use diorama_engine::Reading;
use diorama_engine::session::{Session, SessionOptions};
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_proof::Candidate;
use diorama_proof::candidate::CANDIDATE_VERSION;
use diorama_seeds::doc::{ScenarioGoalDoc, ScenarioStepDoc};
use diorama_seeds::model::{ApiId, DomainId};
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::Ability;
use diorama_seeds::value::{Instant, Value};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::hand::Hand;
use super::player::{Player, wording};
use super::sign_in::may_be_signed_in;
use super::unplayed::Unplayed;
use super::words::Scene;
use crate::synthesis::world::BatchWorld;
use crate::synthesis::{caller, system};

/// Scenarios that were played.
#[derive(Clone, Debug)]
pub struct Played<'a> {
    /// The conversation.
    pub candidate: Candidate,
    /// Searches that did not show what was looked for.
    pub missed: usize,
    /// The scenarios, in their order.
    pub scenarios: Vec<&'a Scenario>,
}

/// The settings of one conversation.
#[derive(Clone, Copy, Debug)]
pub struct PlayOptions {
    /// The ability that it exercises.
    pub ability: Ability,
    /// The session's seed: new keys and tokens follow from it.
    pub seed: u64,
    /// The session's start.
    pub clock: Instant,
    /// The place of the first message in the list of the first scenario's wordings, in `0..1`; drawn when not given.
    pub opening: Option<f64>,
}

/// Plays a scenario as a conversation, and one of each list of `later` ones after it: a function of its arguments.
///
/// # Errors
/// Why they could not be played.
pub fn play<'a>(
    world: &'a BatchWorld,
    first: &'a Scenario,
    later: &'a [Vec<&'a Scenario>],
    options: PlayOptions,
    rng: &mut ChaCha8Rng,
) -> Result<Played<'a>, Unplayed> {
    Prepared::new(world, (first, later), options, rng)?.perform(rng)
}

/// Scenarios of which the first one's places are taken: what it speaks of is settled, what is said is not.
pub(super) struct Prepared<'a> {
    world: &'a BatchWorld,
    first: &'a Scenario,
    /// For each further matter, the scenarios of which one is played.
    later: &'a [Vec<&'a Scenario>],
    options: PlayOptions,
    visible: Vec<ApiId>,
    session: Session,
    scene: Scene,
}

impl<'a> Prepared<'a> {
    /// Chooses what is visible, and the records of the first scenario.
    ///
    /// # Errors
    /// When no records take its places, or a later scenario has no words for coming later.
    pub(super) fn new(
        world: &'a BatchWorld,
        (first, later): (&'a Scenario, &'a [Vec<&'a Scenario>]),
        options: PlayOptions,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, Unplayed> {
        let model = world.base.world();
        let listed = || later.iter().flatten().copied();
        if let Some(wordless) = listed().find(|scenario| scenario.doc.later.is_empty()) {
            return Err(Unplayed::NotLater(wordless.doc.name.clone()));
        }
        let visible = match options.ability {
            Ability::Call => {
                caller::tools_among(model, needed(std::iter::once(first).chain(listed()), world), rng)
            }
            Ability::RetrieveCall | Ability::PlanRetrieveCall => Vec::new(),
        };
        let session = SessionOptions {
            seed: options.seed,
            clock: Some(options.clock),
            visible: Some(visible.clone()),
            ..SessionOptions::default()
        };
        let session = Session::new(world.base.clone(), session);
        let reading = Reading::new(&world.base, session.state());
        let bindings =
            first.bind(world.record_source(&reading, options.clock), rng).ok_or(Unplayed::NoBindings)?;
        let casing = model.domains[first.domain.index()].casing;
        let scene = Scene::new(world.base.clone(), casing, bindings, session.state().clone());
        Ok(Self { world, first, later, options, visible, session, scene })
    }

    /// Makes the calls and fills in the words.
    ///
    /// # Errors
    /// Why they could not be played.
    pub(super) fn perform(self, rng: &mut ChaCha8Rng) -> Result<Played<'a>, Unplayed> {
        let Self { world, first, later, options, visible, session, scene } = self;
        let PlayOptions { ability, seed, clock, opening } = options;
        let model = world.base.world();
        let listed = || std::iter::once(first).chain(later.iter().flatten().copied());
        let rules = wording(&scene, &first.doc.policy, rng)?;
        let mut domains: Vec<DomainId> = listed().map(|scenario| scenario.domain).collect();
        domains.dedup();
        let personas = match domains.as_slice() {
            [domain] => world.world_template.scenario_set.personas(*domain),
            _ => &[],
        };
        let system = system::message((model, clock), &domains, personas, &rules, ability, rng);
        let (hand, opening) = Hand::draw(&listed().collect::<Vec<_>>(), opening, rng);
        let is_signed_in = may_be_signed_in(model, first) && rng.random_bool(SIGNED_IN);
        let settings = (hand, system.clone(), ability != Ability::Call, is_signed_in);
        let mut player = Player::new(world, (first, scene), session, settings, rng);
        let mut goals = Vec::new();
        let mut scenarios = vec![first];
        for number in 0..=later.len() {
            if let Some(alternatives) = number.checked_sub(1).and_then(|at| later.get(at)) {
                let new: Vec<&Scenario> = alternatives
                    .iter()
                    .copied()
                    .filter(|next| scenarios.iter().all(|played| !std::ptr::eq(*played, *next)))
                    .collect();
                scenarios.push(player.go_on(&new)?);
            }
            let Some(scenario) = scenarios.last() else { break };
            let mut docs = scenario.doc.goals.as_slice();
            // A user who has another matter does not say goodbye yet.
            while let [rest @ .., closing] = docs
                && number < later.len()
                && !rest.is_empty()
                && closes(closing)
            {
                docs = rest;
            }
            let ends_there = later.is_empty()
                && ability == Ability::Call
                && docs.first().is_some_and(declines_at_once)
                && player.chance(LEAVES);
            for (position, doc) in docs.iter().take(if ends_there { 1 } else { usize::MAX }).enumerate() {
                let words = match (number, position) {
                    (0, 0) => Some(opening),
                    (_, 0) => Some(scenario.doc.later.as_slice()),
                    _ => None,
                };
                goals.push(player.play(doc, words)?);
            }
        }
        let tools = match ability {
            Ability::Call => visible.iter().map(|api| model.api(*api).name.to_string()).collect(),
            Ability::RetrieveCall | Ability::PlanRetrieveCall => vec![TOOL_SEARCHER.to_owned()],
        };
        let system = system::with_tokens(model, system, player.standing());
        let missed = player.missed();
        let candidate = Candidate {
            candidate: CANDIDATE_VERSION,
            world: None,
            clock: (clock != model.clock).then(|| Value::DateTime(clock).to_text(&model.zone)),
            seed,
            system: Some(system),
            tools: Some(tools),
            goals,
        };
        Ok(Played { candidate, missed, scenarios })
    }
}

/// Returns true if a goal only says goodbye: nothing is called, stated or refused.
fn closes(goal: &ScenarioGoalDoc) -> bool {
    goal.does.is_empty() && goal.facts.is_empty() && goal.refused.is_none() && goal.when.is_none()
}

/// Share of the conversations in which the operator has signed the user in, of those that may be so.
const SIGNED_IN: f64 = 0.85;

/// Share of the conversations whose first request is declined without a call that end with that.
const LEAVES: f64 = 0.8;

/// Returns true if a goal is a refusal that needs no call.
fn declines_at_once(goal: &ScenarioGoalDoc) -> bool {
    let calls = |step: &ScenarioStepDoc| step.call.is_some() || !step.together.is_empty();
    goal.refused.is_some() && !goal.does.iter().any(calls)
}

/// The APIs that scenarios call.
fn needed<'a>(scenarios: impl Iterator<Item = &'a Scenario>, world: &BatchWorld) -> Vec<ApiId> {
    let calls = scenarios.flat_map(|scenario| scenario.doc.calls());
    let names = calls.filter_map(|call| call.call.as_deref());
    let mut apis: Vec<ApiId> = names.filter_map(|name| world.base.world().api_named(name)).collect();
    apis.sort_unstable();
    apis.dedup();
    apis
}
