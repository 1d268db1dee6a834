//! Holds the scenarios of a world that fit it, and draws those of a conversation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diorama_seeds::doc::{DomainDoc, ReactionsDoc, ScenarioDoc, SignInDoc, WorldDoc};
use diorama_seeds::model::{ApiId, DomainId, World};
use diorama_seeds::scenario::{self, Scenario};
use diorama_seeds::task::{Ability, RefusalClass};
use diorama_seeds::world::Finding;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::bridge;
use super::check::check_words;
use super::detour::{self, Detour};
use super::shares::Shares;
use super::sign_in;
use super::tags;
use super::weights::{GOLDEN, ability_weight};
use crate::draws::{WordingTurn, rank};

/// The scenarios of a world that fit it, with their weights.
#[derive(Clone, Debug, Default)]
pub struct ScenarioSet {
    scenarios: Vec<Arc<Scenario>>,
    /// The number of scenarios by people or models; the others were written by rule, each with its weight.
    authored: usize,
    weights: Vec<f64>,
    /// The API of each scenario by rule.
    abouts: Vec<ApiId>,
    /// The reason why an API has no scenario by rule.
    unwritten: BTreeMap<ApiId, String>,
    /// The names of the domains.
    names: Vec<String>,
    /// The APIs that policies govern, by domain.
    governed: Vec<BTreeSet<String>>,
    /// The operators' descriptions of their assistants, by domain.
    personas: Vec<Vec<String>>,
    /// The users' remarks after a finished goal, by domain.
    reactions: Vec<ReactionsDoc>,
    /// The wordings for signing in, by domain.
    sign_ins: Vec<SignInDoc>,
    /// For each ability, the scenarios that exercise it, ordered by the tags with shares that they show.
    draws: [Vec<Draw>; 3],
    /// The tags that have a share.
    shared: Vec<String>,
    /// The shares of conversations with each detour.
    detours: Vec<(Detour, f64)>,
}

/// A position among the scenarios of an ability, and the turn of its openings.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioDraw {
    /// The domain whose scenarios are listed; all when not given.
    pub domain: Option<DomainId>,
    /// The position in the list, in `0..1`.
    pub place: f64,
    /// The index of the scenario, if its turn has come.
    pub scenario: Option<usize>,
    /// The turn of the scenario's openings.
    pub opening: WordingTurn,
}

/// The greatest number of scenarios among which a conversation looks for one that uses a stated fact.
const MAX_ALTERNATIVES: usize = 8;

/// The domains of the scenarios that one conversation joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joins {
    /// The conversation joins no other scenario.
    Nothing,
    /// Another goal of the same domain.
    OneDomain,
    /// A goal of another domain.
    Domains,
    /// A goal of another domain, of those that can use a name or an amount stated before.
    LinkedDomains,
}

impl Joins {
    /// Returns true if the goals are of several domains.
    const fn has_domains(self) -> bool {
        matches!(self, Self::Domains | Self::LinkedDomains)
    }
}

/// The condition for a further goal of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// It uses a record, a name or an amount that the conversation stated; else the conversation ends.
    Linked,
    /// Records fit its bindings.
    Any,
}

/// A scenario that may be drawn.
#[derive(Clone, Debug)]
struct Draw {
    /// Its weight beside others of its ability.
    weight: f64,
    scenario: usize,
    /// True for each tag with a share that it shows, in order.
    shows: Vec<bool>,
}

impl ScenarioSet {
    /// Returns the scenarios of a document, and the faults of those that do not fit.
    #[must_use]
    pub fn new(doc: &WorldDoc, world: &World) -> (Self, Vec<Finding>) {
        Self::with(doc, world, check_words)
    }

    /// Does the same as [`ScenarioSet::new`], where the wordings of all scenarios were checked.
    #[must_use]
    pub fn of_read(doc: &WorldDoc, world: &World) -> (Self, Vec<Finding>) {
        Self::with(doc, world, |_, _| Vec::new())
    }

    fn with(
        doc: &WorldDoc,
        world: &World,
        check: fn(&ScenarioDoc, usize) -> Vec<Finding>,
    ) -> (Self, Vec<Finding>) {
        let domains = doc.to_domains();
        let mut scenario_set = Self::default();
        let mut findings = Vec::new();
        for (position, domain) in domains.iter().enumerate() {
            let id = DomainId(position as u16);
            let (scenarios, mut found) = scenario::compile(&domain.scenarios, id, world);
            findings.append(&mut found);
            for scenario in scenarios {
                let position = index_of(domain, &scenario.doc);
                let mut wrong = check(&scenario.doc, position);
                if wrong.is_empty() {
                    scenario_set.scenarios.push(Arc::new(scenario));
                }
                findings.append(&mut wrong);
            }
            scenario_set.names.push(domain.domain.name.clone());
            let rules = domain.domain.house.iter().flat_map(|house| &house.rules);
            scenario_set.governed.push(rules.flat_map(|rule| rule.calls.iter().cloned()).collect());
            scenario_set.personas.push(domain.system.clone());
            scenario_set.reactions.push(domain.reactions.clone());
            scenario_set.sign_ins.push(sign_in::words(&domain.sign_in, world, id));
        }
        scenario_set.authored = scenario_set.scenarios.len();
        (scenario_set, findings)
    }

    /// Adds scenarios that were written by rule. They serve the abilities that no authored one exercises.
    pub fn add_written(
        &mut self,
        written: impl Iterator<Item = (ScenarioDoc, DomainId, f64, ApiId)>,
        unwritten: BTreeMap<ApiId, String>,
        world: &World,
    ) {
        self.unwritten = unwritten;
        for (doc, domain, weight, about) in written {
            let (compiled, _) = scenario::compile(std::slice::from_ref(&doc), domain, world);
            self.abouts.extend(compiled.iter().map(|_| about));
            self.weights.extend(compiled.iter().map(|_| weight));
            self.scenarios.extend(compiled.into_iter().map(Arc::new));
        }
    }

    /// Returns the APIs of a domain that have scenarios by rule.
    #[must_use]
    pub fn askable(&self, domain: DomainId) -> BTreeSet<ApiId> {
        let written = self.scenarios.iter().skip(self.authored).zip(&self.abouts);
        written.filter(|(scenario, _)| scenario.domain == domain).map(|(_, about)| *about).collect()
    }

    /// Returns the indices of the scenarios by rule about an API that exercise an ability.
    #[must_use]
    pub fn about(&self, api: ApiId, ability: Ability) -> Vec<usize> {
        let written = (self.authored..).zip(self.scenarios.iter().skip(self.authored)).zip(&self.abouts);
        let fitting = written
            .filter(|((_, scenario), about)| **about == api && exercises(scenario, ability))
            .map(|((position, _), _)| position);
        fitting.collect()
    }

    /// Returns the reason why an API has no scenario by rule.
    #[must_use]
    pub fn unwritten(&self, api: ApiId) -> Option<&str> {
        self.unwritten.get(&api).map(String::as_str)
    }

    /// Returns true if an authored scenario exercises an ability.
    #[must_use]
    pub fn has_any(&self, ability: Ability) -> bool {
        self.authored().iter().any(|scenario| exercises(scenario, ability))
    }

    /// Returns the scenarios by people or models.
    fn authored(&self) -> &[Arc<Scenario>] {
        self.scenarios.get(..self.authored).unwrap_or_default()
    }

    /// Returns the scenarios of the same origin as one of them: by people, or by rule.
    fn alike(&self, first: &Scenario) -> &[Arc<Scenario>] {
        let is_authored = self.authored().iter().any(|scenario| std::ptr::eq(&**scenario, first));
        let written = self.scenarios.get(self.authored..).unwrap_or_default();
        if is_authored { self.authored() } else { written }
    }

    /// Returns a few scenarios of the same user that may follow a first one, of its domain or of others.
    /// If each request must need one API alone, these do, too. Without a need for links the domain is drawn
    /// first, so that large domains are not preferred.
    pub fn other_matters(
        &self,
        first: &Scenario,
        (ability, joins): (Ability, Joins),
        rng: &mut ChaCha8Rng,
    ) -> Vec<&Scenario> {
        let several = joins.has_domains();
        // Another domain may have the tool that the scenario says is missing.
        let stays = |scenario: &Scenario| {
            scenario.doc.goals.iter().any(|goal| goal.refused.contains(&RefusalClass::NoTool))
        };
        if joins == Joins::Nothing || (several && stays(first)) {
            return Vec::new();
        }
        // A policy may forbid the action of another scenario of its domain.
        let governed = self.governed.get(first.domain.index()).filter(|_| first.doc.policy && !several);
        let may_break = |next: &Scenario| {
            let mut called = next.doc.calls().filter_map(|call| call.call.as_ref());
            governed.is_some_and(|governed| called.any(|call| governed.contains(call)))
        };
        let fits = |next: &&Arc<Scenario>| {
            (next.domain != first.domain) == several
                && !next.doc.later.is_empty()
                && !next.doc.policy
                && !may_break(next)
                && (joins != Joins::LinkedDomains || next.may_take_up())
                && (ability != Ability::RetrieveCall || exercises(next, ability))
                && !(several && stays(next))
                && next.doc.speaker == first.doc.speaker
                // Two people of one service with different names cannot be one user.
                && (several || next.doc.caller.is_none() || first.doc.caller.is_none())
                && (next.doc.name != first.doc.name || next.domain != first.domain)
                && !self.repeats(first, next)
        };
        let fitting: Vec<&Scenario> = self.alike(first).iter().filter(fits).map(|next| &**next).collect();
        let key = rng.random();
        let name = |domain: DomainId| self.names.get(domain.index()).map_or("", String::as_str);
        let domains: BTreeSet<DomainId> = fitting.iter().map(|next| next.domain).collect();
        let domain = domains.into_iter().max_by_key(|domain| rank(key, name(*domain)));
        let is_any = joins == Joins::LinkedDomains;
        let of_domain = fitting.into_iter().filter(|next| is_any || Some(next.domain) == domain);
        let (for_same_reason, others): (Vec<&Scenario>, Vec<&Scenario>) =
            of_domain.partition(|next| bridge::share_occasion(&first.doc, &next.doc));
        let mut chosen = if for_same_reason.is_empty() { others } else { for_same_reason };
        chosen.sort_by_cached_key(|next| rank(key, &next.doc.name));
        chosen.truncate(MAX_ALTERNATIVES);
        chosen
    }

    /// Returns true if one of two scenarios by rule ends with a call that the other makes, too: users do not
    /// repeat a request.
    pub(crate) fn repeats(&self, first: &Scenario, next: &Scenario) -> bool {
        let calls = |scenario: &Scenario| -> Vec<String> {
            scenario.doc.calls().filter_map(|call| call.call.clone()).collect()
        };
        let (of_first, of_next) = (calls(first), calls(next));
        let is_authored = self.authored().iter().any(|scenario| std::ptr::eq(&**scenario, first));
        first.domain == next.domain
            && !is_authored
            && (of_next.last().is_some_and(|last| of_first.contains(last))
                || of_first.last().is_some_and(|last| of_next.contains(last)))
    }

    /// Draws the detour of a conversation; mostly none.
    pub fn draw_detour(&self, rng: &mut ChaCha8Rng) -> Option<Detour> {
        detour::draw(&self.detours, rng)
    }

    /// Returns true if a share of a detour was requested: conversations that drew it must make it.
    #[must_use]
    pub fn is_asked(&self, detour: Detour) -> bool {
        self.shared.iter().any(|label| label == detour.label())
    }

    /// Returns all scenarios, authored ones first.
    #[must_use]
    pub fn scenarios(&self) -> &[Arc<Scenario>] {
        &self.scenarios
    }

    /// Returns the operators' descriptions of a domain's assistants.
    #[must_use]
    pub fn personas(&self, domain: DomainId) -> &[String] {
        self.personas.get(domain.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the users' remarks of a domain after a finished goal.
    pub(crate) fn reactions(&self, domain: DomainId) -> &ReactionsDoc {
        static NONE: ReactionsDoc = ReactionsDoc { done: Vec::new(), refused: Vec::new() };
        self.reactions.get(domain.index()).unwrap_or(&NONE)
    }

    /// Returns the wordings for signing in to a domain.
    pub(crate) fn sign_in(&self, domain: DomainId) -> &SignInDoc {
        static NONE: SignInDoc = SignInDoc { ask: Vec::new(), tell: Vec::new() };
        self.sign_ins.get(domain.index()).unwrap_or(&NONE)
    }

    /// Returns the scenario at a position; none if no scenario exercises the ability.
    #[must_use]
    pub fn draw(&self, ability: Ability, drawn: ScenarioDraw) -> Option<&Arc<Scenario>> {
        let drawn_scenario = || {
            let draws: Vec<&Draw> = self.draws_of(ability, drawn.domain).collect();
            draws.get(position_at(&draws, drawn.place)).map(|draw| draw.scenario)
        };
        self.scenarios.get(drawn.scenario.or_else(drawn_scenario)?)
    }

    /// Takes the turn of a number in the list of scenarios for an ability and a domain.
    /// Rounds go through the list, each in its own order. A scenario comes as often as it weighs; with equal
    /// weights, once.
    pub fn take_turn(
        &self,
        ability: Ability,
        number: u64,
        drawn: ScenarioDraw,
        order: impl Fn(u64) -> ChaCha8Rng,
    ) -> ScenarioDraw {
        let draws: Vec<&Draw> = self.draws_of(ability, drawn.domain).collect();
        let count = draws.len().max(1) as u64;
        let (round, at) = (number / count, (number % count) as usize);
        let mut turns: Vec<u64> = (0..count).collect();
        turns.shuffle(&mut order(round));
        // The offset keeps positions off the borders between scenarios.
        let offset = ((round as f64 + 0.5) * GOLDEN).fract();
        let place = |turn: u64| (turn as f64 + offset) / count as f64;
        let turn = turns.get(at).copied().unwrap_or_default();
        let scenario = position_at(&draws, place(turn));
        let weight: f64 = draws.iter().map(|draw| draw.weight).sum();
        let most =
            draws.get(scenario).map_or(1.0, |draw| (draw.weight / weight * count as f64 - 1e-9).ceil());
        let before = (0..turn).rev().take_while(|turn| position_at(&draws, place(*turn)) == scenario).count();
        let uses = round * most as u64 + before as u64;
        // A scenario is played for two abilities: to call, and to search for one API or for several.
        let number = 2 * uses + u64::from(ability != Ability::Call);
        ScenarioDraw { place: place(turn), opening: WordingTurn { number, ..drawn.opening }, ..drawn }
    }

    /// Returns the scenarios that may be drawn for an ability: those of the domain, if it has any.
    fn draws_of(&self, ability: Ability, domain: Option<DomainId>) -> impl Iterator<Item = &Draw> {
        let draws = &self.draws[ability as usize];
        let of_domain =
            move |draw: &&Draw| domain.is_none_or(|domain| self.scenarios[draw.scenario].domain == domain);
        let any = draws.iter().any(|draw| of_domain(&draw));
        draws.iter().filter(move |draw| !any || of_domain(draw))
    }

    /// Returns the position of another scenario with the same shared tags as the drawn one, so that hard
    /// conversations keep their share.
    /// `to` is the position among them, in `0..1`.
    #[must_use]
    pub fn another(&self, ability: Ability, drawn: ScenarioDraw, to: f64) -> f64 {
        let draws: Vec<&Draw> = self.draws_of(ability, drawn.domain).collect();
        let weight: f64 = draws.iter().map(|draw| draw.weight).sum();
        let mut before = 0.0;
        let Some(shows) = draws.get(position_at(&draws, drawn.place)).map(|draw| &draw.shows) else {
            return to;
        };
        let of: f64 = draws.iter().filter(|draw| draw.shows == *shows).map(|draw| draw.weight).sum();
        let mut left = to * of;
        for draw in draws {
            if draw.shows == *shows {
                if left < draw.weight {
                    return (before + left) / weight;
                }
                left -= draw.weight;
            }
            before += draw.weight;
        }
        to
    }

    /// Returns the tags with shares that a scenario can show.
    pub fn drawn_for<'r>(&'r self, scenario: &'r Scenario) -> impl Iterator<Item = &'r str> {
        let told = tags::told_by(&scenario.doc);
        self.shared.iter().map(String::as_str).filter(move |label| told.contains(label))
    }

    /// Weighs scenarios so that conversations show the requested shares, and each ability keeps its own.
    /// The method is iterative proportional fitting over tags and abilities. A tag that no scenario shows, or
    /// all do, is ignored.
    pub fn weigh(&mut self, shares: &Shares, abilities: &[Ability]) {
        const ROUNDS: usize = 60;
        self.shared = shares.keys().cloned().collect();
        self.detours = Detour::shares(shares, self.authored == 0);
        let exercised = |ability: &Ability| {
            let from =
                if self.has_any(*ability) { 0..self.authored } else { self.authored..self.scenarios.len() };
            let scenarios = from.filter_map(|at| Some((at, self.scenarios.get(at)?)));
            let fitting = scenarios.filter(|(_, scenario)| exercises(scenario, *ability));
            let weight = |at: usize| at.checked_sub(self.authored).and_then(|at| self.weights.get(at));
            let weighed = fitting.map(|(at, scenario)| ScenarioWeight {
                weight: weight(at).copied().unwrap_or(1.0),
                ..ScenarioWeight::new(*ability, at, scenario, shares)
            });
            weighed.collect::<Vec<_>>()
        };
        let mut all: Vec<ScenarioWeight> = abilities.iter().flat_map(exercised).collect();
        for _ in 0..ROUNDS {
            for ability in abilities {
                let to = f64::from(ability_weight(*ability));
                let of: f64 = all.iter().filter(|one| one.ability == *ability).map(|one| one.weight).sum();
                all.iter_mut().filter(|one| one.ability == *ability).for_each(|one| one.weight *= to / of);
            }
            for (label, share) in shares.values().enumerate() {
                let sum: f64 = all.iter().map(|one| one.weight).sum();
                let with: f64 = all.iter().filter(|one| one.shows[label]).map(|one| one.weight).sum();
                if with <= 0.0 || with >= sum {
                    continue;
                }
                let (more, less) = (share * sum / with, (1.0 - share) * sum / (sum - with));
                all.iter_mut().for_each(|one| one.weight *= if one.shows[label] { more } else { less });
            }
        }
        all.sort_by(|one, other| one.shows.cmp(&other.shows));
        self.draws = Default::default();
        for ScenarioWeight { ability, scenario, shows, weight } in all {
            self.draws[ability as usize].push(Draw { weight, scenario, shows });
        }
    }
}

/// A scenario as it is weighed for an ability.
struct ScenarioWeight {
    ability: Ability,
    scenario: usize,
    shows: Vec<bool>,
    weight: f64,
}

impl ScenarioWeight {
    fn new(ability: Ability, scenario: usize, of: &Scenario, shares: &Shares) -> Self {
        let told = tags::told_by(&of.doc);
        let shows = shares.keys().map(|label| told.contains(&label.as_str())).collect();
        Self { ability, scenario, shows, weight: 1.0 }
    }
}

/// Returns true if a scenario exercises an ability: retrieving one API needs a scenario that calls one,
/// planning one with several.
fn exercises(scenario: &Scenario, ability: Ability) -> bool {
    let mut apis: Vec<&str> = scenario.doc.calls().filter_map(|call| call.call.as_deref()).collect();
    apis.sort_unstable();
    apis.dedup();
    match ability {
        Ability::Call => true,
        Ability::RetrieveCall => apis.len() == 1,
        Ability::PlanRetrieveCall => apis.len() > 1,
    }
}

/// Returns the index of the draw at a position in `0..1`, with the draws side by side.
fn position_at(draws: &[&Draw], place: f64) -> usize {
    let weight: f64 = draws.iter().map(|draw| draw.weight).sum();
    let mut until = 0.0;
    let found = draws.iter().position(|draw| {
        until += draw.weight;
        place * weight < until
    });
    found.unwrap_or(draws.len().saturating_sub(1))
}

fn index_of(domain: &DomainDoc, doc: &ScenarioDoc) -> usize {
    domain.scenarios.iter().position(|other| other.name == doc.name).unwrap_or(0)
}
