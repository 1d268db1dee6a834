//! Plays scenarios in one session, one after the other.

use std::sync::Arc;

use diorama_engine::Reading;
use diorama_engine::session::{LogEntry, Session, SessionOptions};
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_proof::Candidate;
use diorama_proof::candidate::{CANDIDATE_VERSION, CandidateGoal};
use diorama_seeds::doc::{ScenarioGoalDoc, ScenarioStepDoc};
use diorama_seeds::model::{ApiId, DomainId};
use diorama_seeds::scenario::Scenario;
use diorama_seeds::task::{Ability, Outage, Outcome};
use diorama_seeds::value::{Instant, Value};
use indexmap::IndexSet;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::aside;
use super::detour::Detour;
use super::hand::Hand;
use super::look_up;
use super::player::{Player, Words};
use super::policy;
use super::push::Push;
use super::set::{Further, Joins};
use super::sign_in::may_be_signed_in;
use super::state::Manner;
use super::tags::{IMPATIENT, MISSED_SEARCH, SAYS_BEFORE_CALLING, SEARCHES_POLICY, told_by};
use super::tools::Pool;
use super::unplayed::PlayError;
use super::wish::{Wish, Wishes};
use super::words::Scene;
use super::{system, tools};
use crate::draws::WordingTurn;
use crate::worlds::world::BatchWorld;

/// Scenarios that were played.
#[derive(Clone, Debug)]
pub struct PlayResult<'a> {
    /// The resulting candidate.
    pub candidate: Candidate,
    /// The number of searches that did not show the wanted tool.
    pub missed: usize,
    /// True if the assistant had a call confirmed by rule.
    pub has_asked: bool,
    /// True if the assistant searched the articles of a policy.
    pub searches_policy: bool,
    /// True if a call was refused by a rule in the text of its tool.
    pub tries_told_rule: bool,
    /// The scenarios, in their order.
    pub scenarios: Vec<&'a Scenario>,
    /// The detours that were played.
    pub detours: Vec<Detour>,
    /// The tags of the user's attempts to get an exception.
    pub pushes: Vec<&'static str>,
}

impl PlayResult<'_> {
    /// Returns its tags.
    #[must_use]
    pub fn tags(&self) -> Vec<&'static str> {
        let scenarios = &self.scenarios;
        let turns = || self.candidate.goals.iter().flat_map(|goal| &goal.turns);
        let mut arguments = turns().flat_map(|turn| &turn.calls).flat_map(|call| call.arguments.values());
        let labels = [
            (SAYS_BEFORE_CALLING, turns().any(|turn| turn.say.is_some() && !turn.calls.is_empty())),
            (MISSED_SEARCH, self.missed > 0),
            (SEARCHES_POLICY, self.searches_policy),
            ("confirmation", self.has_asked),
            (IMPATIENT, self.candidate.patience.is_some()),
            ("parallel_calls", turns().any(|turn| turn.calls.len() > 1)),
            ("refusal", self.candidate.goals.iter().any(|goal| goal.end().declines.is_some())),
            ("list_argument", arguments.any(|value| value.is_array() || value.is_object())),
        ];
        let first = scenarios.first();
        let several = scenarios.iter().any(|other| first.is_some_and(|first| first.domain != other.domain));
        let joined = [
            ("joined", scenarios.len() > 1),
            ("several_domains", several),
            ("second_request", scenarios.len() > 1),
        ];
        let told = scenarios.iter().flat_map(|scenario| told_by(&scenario.doc));
        let shown = joined.into_iter().chain(labels).filter(|(_, holds)| *holds).map(|(name, _)| name);
        let detours = self.detours.iter().map(|detour| detour.label());
        let pushes = self.pushes.iter().copied();
        told.chain(shown).chain(detours).chain(pushes).collect::<IndexSet<_>>().into_iter().collect()
    }
}

/// The settings of one conversation.
#[derive(Clone, Copy, Debug)]
pub struct PlayOptions {
    /// The ability that it exercises.
    pub ability: Ability,
    /// The session's seed, from which new keys and tokens follow.
    pub seed: u64,
    /// The session's start.
    pub clock: Instant,
    /// The turn of the first message's wordings; drawn when not given.
    pub opening: Option<WordingTurn>,
    /// The detour of the conversation, if it has one.
    pub detour: Option<Detour>,
    /// The condition for a further goal of the user.
    pub further: Further,
    /// True if the policy must forbid governed calls, in plots with both ends.
    pub forbids: bool,
    /// The pressure by which the user of a governed plot asks for an exception.
    pub push: Option<Push>,
    /// The number of needless questions after which the user leaves; none for a patient user.
    pub patience: Option<u32>,
    /// The tools beside the needed ones.
    pub pool: Pool,
}

/// Plays a scenario as a conversation, then one of each list in `later`: a function of its arguments.
///
/// # Errors
/// Returns the reason why they could not be played.
pub fn play<'a>(
    world: &'a BatchWorld,
    first: &'a Scenario,
    later: &'a [Vec<&'a Scenario>],
    options: PlayOptions,
    rng: &mut ChaCha8Rng,
) -> Result<PlayResult<'a>, PlayError> {
    let is_hard = options.pool == Pool::Large;
    let mut wishes = Wishes::draw(world.base.world(), first, (options.forbids, is_hard), rng);
    let mut played = BoundScenarios::new(world, (first, later), options, rng)?.perform(wishes.next(), rng);
    // Both verdicts of a policy must reach their shares, even if few records lead to one of them.
    for draw in 1..MAX_VERDICT_DRAWS {
        match &played {
            Err(PlayError::OtherVerdict { .. }) => {}
            Err(reason) if wishes.count_miss(reason) => {}
            _ => break,
        }
        let wish = if draw < MAX_WISHED_DRAWS { wishes.next() } else { Wish::default() };
        played = BoundScenarios::new(world, (first, later), options, rng)?.perform(wish, rng);
    }
    played
}

/// The greatest number of draws of records until the policy gives the wanted verdict.
const MAX_VERDICT_DRAWS: u32 = 64;
/// The greatest number of these that must show what is wished for.
const MAX_WISHED_DRAWS: u32 = 24;

/// Scenarios of which the first one is bound: its records are fixed, and its wordings are not.
pub(crate) struct BoundScenarios<'a> {
    world: &'a BatchWorld,
    first: &'a Scenario,
    /// For each further goal, the scenarios of which one is played.
    later: &'a [Vec<&'a Scenario>],
    options: PlayOptions,
    /// The scenarios of which the user requests one and takes it back.
    taken_back: Vec<&'a Scenario>,
    outages: Vec<Outage>,
    visible: Vec<ApiId>,
    session: Session,
    scene: Scene,
}

impl<'a> BoundScenarios<'a> {
    /// Chooses the visible tools, and the records of the first scenario.
    ///
    /// # Errors
    /// Returns an error if no records fit its bindings, or a later scenario has no later wordings.
    pub(crate) fn new(
        world: &'a BatchWorld,
        (first, later): (&'a Scenario, &'a [Vec<&'a Scenario>]),
        options: PlayOptions,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, PlayError> {
        let model = world.base.world();
        let listed = || later.iter().flatten().copied();
        if let Some(wordless) = listed().find(|scenario| scenario.doc.later.is_empty()) {
            return Err(PlayError::NotLater(wordless.doc.name.clone()));
        }
        let kind = options.detour.and_then(|detour| detour.outage(rng));
        let outage = kind.map(|kind| aside::outage(model, &first.doc, kind, rng).ok_or(PlayError::NoDetour));
        let outages: Vec<Outage> = outage.transpose()?.into_iter().collect();
        let mut taken_back = Vec::new();
        if options.detour == Some(Detour::ChangedMind) {
            taken_back = world.world_template.scenario_set.other_matters(
                first,
                (Ability::Call, Joins::OneDomain),
                rng,
            );
            taken_back.retain(|scenario| aside::changes_at_once(model, scenario));
            if taken_back.is_empty() {
                return Err(PlayError::NoDetour);
            }
        }
        let visible = match options.ability {
            Ability::Call => {
                let all = std::iter::once(first).chain(listed()).chain(taken_back.iter().copied());
                tools::tools_among(model, needed(all, world), options.pool, rng)
            }
            Ability::RetrieveCall | Ability::PlanRetrieveCall => Vec::new(),
        };
        let session = SessionOptions {
            seed: options.seed,
            clock: Some(options.clock),
            visible: Some(visible.clone()),
            outages: outages.clone(),
            ..SessionOptions::default()
        };
        let session = Session::new(world.base.clone(), session);
        let reading = Reading::new(&world.base, session.state());
        let bindings = first
            .bind(world.record_source(&reading, options.clock), rng)
            .map_err(|place| PlayError::NoBindings(place.to_owned()))?;
        let casing = model.domains[first.domain.index()].casing;
        let scene = Scene::new(world, casing, bindings, session.state().clone());
        Ok(Self { world, first, later, options, taken_back, outages, visible, session, scene })
    }

    /// Makes the calls of the first scenario, with a signed-in user.
    ///
    /// # Errors
    /// Returns the reason why they could not be made.
    pub(crate) fn calls(self, rng: &mut ChaCha8Rng) -> Result<Vec<Arc<LogEntry>>, PlayError> {
        let manner = Manner {
            hand: Hand::Careful,
            system: String::new(),
            retrieves: false,
            is_signed_in: true,
            forbids: self.options.forbids,
            wish: Wish::default(),
            push: None,
            is_impatient: false,
            misleads: false,
        };
        let mut player = Player::new(self.world, (self.first, self.scene), self.session, manner, rng);
        for goal in &self.first.doc.goals {
            player.play(goal, None)?;
        }
        Ok(player.calls.made)
    }

    /// Makes the calls and fills in the wordings.
    ///
    /// # Errors
    /// Returns the reason why they could not be played, or that the records do not show what is wished for.
    pub(crate) fn perform(self, wish: Wish, rng: &mut ChaCha8Rng) -> Result<PlayResult<'a>, PlayError> {
        let Self { world, first, later, options, taken_back, outages, visible, session, scene } = self;
        let PlayOptions { ability, seed, clock, opening, detour, further, forbids, push, patience, pool: _ } =
            options;
        let model = world.base.world();
        let listed = || std::iter::once(first).chain(later.iter().flatten().copied());
        let rules = match model.domains.get(first.domain.index()).filter(|_| first.doc.policy) {
            Some(domain) => match model.policy_search(first.domain) {
                Some(search) => policy::refer(&model.api(search).name, rng),
                None => policy::document(domain, rng),
            },
            None => String::new(),
        };
        let has_tools = |domain: &DomainId| {
            ability != Ability::Call || visible.iter().any(|api| model.api(*api).domain == *domain)
        };
        let others = (0..model.domains.len()).map(|at| DomainId(at as u16)).filter(has_tools);
        let others = others.filter(|domain| *domain != first.domain);
        let domains: Vec<DomainId> = std::iter::once(first.domain).chain(others).collect();
        let personas = world.world_template.scenario_set.personas(first.domain);
        let system = system::message((model, clock), &domains, personas, &rules, ability, rng);
        let turn = opening;
        let (hand, opening) = Hand::draw(&listed().collect::<Vec<_>>(), opening, rng);
        let is_signed_in = detour != Some(Detour::ExpiredToken)
            && may_be_signed_in(model, first)
            // A sign-in would be a second API.
            && (ability == Ability::RetrieveCall || rng.random_bool(SIGNED_IN));
        // A detour beside all goals comes after one of them.
        let aside_after = detour
            .filter(|detour| matches!(detour, Detour::ChangedMind | Detour::Digression))
            .map(|_| rng.random_range(0..=later.len()));
        let retrieves = ability != Ability::Call;
        let has_replaced = first.doc.policy && world.base.replaced_shadow().is_some();
        let misleads = has_replaced && rng.random_bool(MISLEADS);
        let is_impatient = patience.is_some();
        let manner = Manner {
            hand,
            system: system.clone(),
            retrieves,
            is_signed_in,
            forbids,
            wish,
            push,
            is_impatient,
            misleads,
        };
        let mut player = Player::new(world, (first, scene), session, manner, rng);
        player.talk.turn = turn;
        let mut goals = Vec::new();
        let mut scenarios = vec![first];
        let mut bridge = String::new();
        for number in 0..=later.len() {
            let scenario = *scenarios.last().unwrap_or(&first);
            let (docs, closings) = part_closings(&scenario.doc.goals);
            let ends_there = later.is_empty()
                && ability == Ability::Call
                && docs.first().is_some_and(declines_at_once)
                && player.chance(LEAVES);
            for (position, doc) in docs.iter().take(if ends_there { 1 } else { usize::MAX }).enumerate() {
                // A goal that does not open ends the conversation.
                let opens = doc.when.as_ref().and_then(|when| when.outcome);
                let ended = goals.last().filter(|_| position > 0).and_then(outcome_of);
                if opens.zip(ended).is_some_and(|(opens, ended)| opens != ended) {
                    break;
                }
                let mut corrected = None;
                let wording = opening.first().map_or("", String::as_str);
                let is_misspelt = (number, position, detour) == (0, 0, Some(Detour::Misspelt));
                if is_misspelt {
                    let (goal, words) = player.misspell(doc, wording)?;
                    goals.push(goal);
                    corrected = Some([words]);
                } else if (number, position, detour) == (0, 0, Some(Detour::Revised)) {
                    corrected = Some([player.revise(doc, wording)?]);
                }
                let words = match (number, position, &corrected) {
                    (.., Some(corrected)) => Some(Words::of(corrected)),
                    (0, 0, _) => Some(Words::of(opening)),
                    (_, 0, _) => Some(Words { before: &bridge, ..Words::of(&scenario.doc.later) }),
                    _ => None,
                };
                let mut goal = player.play(doc, words)?;
                if is_misspelt {
                    goal.when = Some(Player::after_refusal());
                }
                goals.push(goal);
            }
            let outcome = goals.last().and_then(outcome_of).unwrap_or(Outcome::Done);
            let is_new = |next: &&Scenario| scenarios.iter().all(|played| !std::ptr::eq(*played, *next));
            let alternatives = later.get(number).map_or(&[][..], Vec::as_slice);
            let new: Vec<&Scenario> = alternatives.iter().copied().filter(is_new).collect();
            let next = player.find_next(&new, further)?;
            let has_aside =
                aside_after.is_some_and(|after| after == number || (after > number && next.is_none()));
            // A user who has another message does not say goodbye yet.
            if next.is_none() && !has_aside && !ends_there {
                for doc in closings {
                    goals.push(player.play(doc, None)?);
                }
            }
            if has_aside {
                goals.push(match detour {
                    Some(Detour::ChangedMind) => player.change_mind(&taken_back)?,
                    _ => player.digress(next.is_none())?,
                });
            }
            let Some((next, bindings)) = next else { break };
            player.go_on(next, bindings);
            bridge = player.bridge(scenario, outcome, next);
            scenarios.push(next);
        }
        let tools = match ability {
            Ability::Call => visible.iter().map(|api| model.api(*api).name.to_string()).collect(),
            Ability::RetrieveCall | Ability::PlanRetrieveCall => vec![TOOL_SEARCHER.to_owned()],
        };
        let system = system::with_tokens(model, system, &player.user.standing);
        let missed = player.searches.missed;
        let detours = player.detours.clone();
        let (has_asked, tries_told_rule) = (player.talk.has_asked, player.talk.tries_told_rule);
        let pushes = std::mem::take(&mut player.talk.pushes);
        let searches_policy = player.talk.searches_policy;
        let candidate = Candidate {
            candidate: CANDIDATE_VERSION,
            world: None,
            clock: (clock != model.clock).then(|| Value::DateTime(clock).to_text(&model.zone)),
            seed,
            system: Some(system),
            tools: Some(tools),
            outages,
            patience,
            goals,
        };
        Ok(PlayResult {
            candidate,
            missed,
            has_asked,
            searches_policy,
            tries_told_rule,
            scenarios,
            detours,
            pushes,
        })
    }
}

/// Returns the outcome of a goal.
fn outcome_of(goal: &CandidateGoal) -> Option<Outcome> {
    goal.turns.last()?.ends.as_ref().map(|end| end.outcome)
}

/// Splits off the goals at the end of a scenario that only say goodbye.
fn part_closings(goals: &[ScenarioGoalDoc]) -> (&[ScenarioGoalDoc], &[ScenarioGoalDoc]) {
    let closing = goals.iter().skip(1).rev().take_while(|goal| closes(goal)).count();
    goals.split_at(goals.len() - closing)
}

/// Returns true if a goal only says goodbye: it calls, states and refuses nothing.
fn closes(goal: &ScenarioGoalDoc) -> bool {
    goal.does.is_empty() && goal.facts.is_empty() && goal.refused.is_empty() && goal.when.is_none()
}

/// The share of conversations in which the operator has signed the user in, of those that allow it.
const SIGNED_IN: f64 = 0.6;

/// The share of conversations with a policy in articles whose replaced article must give the opposite
/// verdict.
const MISLEADS: f64 = 0.8;

/// The share of conversations with an immediately declined first request that end there.
const LEAVES: f64 = 0.8;

/// Returns true if a goal is a refusal without a call.
fn declines_at_once(goal: &ScenarioGoalDoc) -> bool {
    let calls = |step: &ScenarioStepDoc| step.call.is_some() || !step.together.is_empty();
    !goal.refused.is_empty() && !goal.does.iter().any(calls)
}

/// Returns the APIs that scenarios call, those that find their records, and those that sign users in for
/// both.
fn needed<'a>(scenarios: impl Iterator<Item = &'a Scenario>, world: &BatchWorld) -> Vec<ApiId> {
    let (model, survey) = (world.base.world(), &world.world_template.survey);
    let called = scenarios.flat_map(|scenario| {
        let names = scenario.doc.calls().filter_map(|call| call.call.as_deref());
        let called = names.filter_map(|name| model.api_named(name));
        let search = model.policy_search(scenario.domain).filter(|_| scenario.doc.policy);
        called.chain(look_up::finders(world, scenario)).chain(search)
    });
    let mut apis: Vec<ApiId> = called
        .flat_map(|id| {
            let api = model.api(id);
            [Some(id), api.token.and_then(|_| survey.sign_in(api.domain))]
        })
        .flatten()
        .collect();
    apis.sort_unstable();
    apis.dedup();
    apis
}
