//! Scenarios played: conversations that people wrote whole, over records that make them true.
//!
//! Owns how a scenario becomes a candidate: which records take its places, what its words say of them, and its calls,
//! made in a session. Whether the candidate is right is the tester's business.

mod play;
pub mod rehearse;
mod search;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_seeds::doc::{DomainDoc, ScenarioDoc, WorldDoc};
use diorama_seeds::model::{DomainId, World};
use diorama_seeds::scenario::{self, Scenario};
use diorama_seeds::task::Ability;
use diorama_seeds::world::Finding;

pub use self::play::{Played, Unplayed, play};
pub use self::search::Names;
use self::words::check_words;
use super::pipeline::ability_weight;
use super::tags;

/// The scenarios of a world that fit it, and how often each is played.
#[derive(Clone, Debug, Default)]
pub struct ScenarioSet {
    scenarios: Vec<Arc<Scenario>>,
    /// What operators tell their assistants, by domain.
    personas: Vec<Vec<String>>,
    /// For each ability, the scenarios that exercise it, those that show the same of what has a share side by side.
    draws: [Vec<Draw>; 3],
    /// What has a share.
    shared: Vec<String>,
}

/// A scenario that may be drawn.
#[derive(Clone, Debug)]
struct Draw {
    /// The running sum of weights up to it.
    until: f64,
    scenario: usize,
    /// What it shows of what has a share, one after the other.
    shows: Vec<bool>,
}

/// Shares of the conversations that are to show something, by its label.
pub type Shares = BTreeMap<String, f64>;

impl ScenarioSet {
    /// The scenarios of a document, and what is wrong with those that don't fit.
    #[must_use]
    pub fn new(doc: &WorldDoc, world: &World) -> (Self, Vec<Finding>) {
        Self::with(doc, world, check_words)
    }

    /// As [`ScenarioSet::new`], where the words of all scenarios were checked.
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
            let (scenarios, mut found) = scenario::compile(domain, DomainId(position as u16), world);
            findings.append(&mut found);
            for scenario in scenarios {
                let mut wrong = check(&scenario.doc, index_of(domain, &scenario.doc));
                if wrong.is_empty() {
                    scenario_set.scenarios.push(Arc::new(scenario));
                }
                findings.append(&mut wrong);
            }
            scenario_set.personas.push(domain.system.clone());
        }
        (scenario_set, findings)
    }

    /// All of them.
    #[must_use]
    pub fn scenarios(&self) -> &[Arc<Scenario>] {
        &self.scenarios
    }

    /// What operators of a domain tell their assistants of who they are.
    #[must_use]
    pub fn personas(&self, domain: DomainId) -> &[String] {
        self.personas.get(domain.index()).map_or(&[], Vec::as_slice)
    }

    /// A scenario that exercises an ability; none where none does. `at` is where it stands, from 0 to 1.
    #[must_use]
    pub fn draw(&self, ability: Ability, at: f64) -> Option<&Arc<Scenario>> {
        self.scenarios.get(self.draws[ability as usize].get(self.place(ability, at)?)?.scenario)
    }

    /// Where another scenario stands that shows the same of what has a share as the one at a place: a conversation that is
    /// harder to make is not made less often. `to` is where among them, from 0 to 1.
    #[must_use]
    pub fn another(&self, ability: Ability, at: f64, to: f64) -> f64 {
        let draws = &self.draws[ability as usize];
        let (Some(place), Some(last)) = (self.place(ability, at), draws.last()) else { return to };
        let shows = &draws[place].shows;
        let first = draws.partition_point(|draw| draw.shows < *shows);
        let end = draws.partition_point(|draw| draw.shows <= *shows);
        let from = first.checked_sub(1).map_or(0.0, |before| draws[before].until);
        let until = draws[end - 1].until;
        (from + to * (until - from)) / last.until
    }

    /// What a scenario is drawn for: what it can show of what has a share.
    pub fn drawn_for<'r>(&'r self, scenario: &'r Scenario) -> impl Iterator<Item = &'r str> {
        let told = tags::told_by(&scenario.doc);
        self.shared.iter().map(String::as_str).filter(move |label| told.contains(label))
    }

    fn place(&self, ability: Ability, at: f64) -> Option<usize> {
        let draws = &self.draws[ability as usize];
        let all = draws.last()?.until;
        Some(draws.partition_point(|draw| draw.until <= at * all).min(draws.len() - 1))
    }

    /// Plays scenarios as often as it takes for the given shares of all conversations to show what they are to show, while each
    /// of the abilities keeps its share: iterative proportional fitting over labels and abilities. What no scenario shows, or
    /// all, stays as it is.
    pub fn weigh(&mut self, shares: &Shares, abilities: &[Ability]) {
        const ROUNDS: usize = 60;
        self.shared = shares.keys().cloned().collect();
        let exercised = |ability: &Ability| {
            let scenarios = self.scenarios.iter().enumerate();
            let fitting = scenarios.filter(|(_, scenario)| exercises(scenario, *ability));
            fitting.map(|(at, scenario)| Weighed::new(*ability, at, scenario, shares)).collect::<Vec<_>>()
        };
        let mut all: Vec<Weighed> = abilities.iter().flat_map(exercised).collect();
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
        for Weighed { ability, scenario, shows, weight } in all {
            let draws = &mut self.draws[ability as usize];
            let before = draws.last().map_or(0.0, |draw: &Draw| draw.until);
            draws.push(Draw { until: before + weight, scenario, shows });
        }
    }
}

/// A scenario as it is weighed for an ability.
struct Weighed {
    ability: Ability,
    scenario: usize,
    shows: Vec<bool>,
    weight: f64,
}

impl Weighed {
    fn new(ability: Ability, scenario: usize, of: &Scenario, shares: &Shares) -> Self {
        let told = tags::told_by(&of.doc);
        let shows = shares.keys().map(|label| told.contains(&label.as_str())).collect();
        Self { ability, scenario, shows, weight: 1.0 }
    }
}

/// Whether a scenario exercises an ability: retrieving one API needs a scenario that calls one, planning one that calls
/// several.
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

/// What is wrong with the words of the scenarios of a document.
#[must_use]
pub fn read_words(doc: &WorldDoc) -> Vec<Finding> {
    let domains = doc.to_domains();
    let scenarios = domains.iter().flat_map(|domain| domain.scenarios.iter().enumerate());
    scenarios.flat_map(|(position, scenario)| check_words(scenario, position)).collect()
}

fn index_of(domain: &DomainDoc, doc: &ScenarioDoc) -> usize {
    domain.scenarios.iter().position(|other| other.name == doc.name).unwrap_or(0)
}

/// The same conversation in several wordings: one play after the other over the same records.
#[cfg(test)]
pub(crate) fn takes(
    world: &super::world::BatchWorld,
    scenario: &Scenario,
    seed: u64,
    count: u64,
) -> Vec<Played> {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    let take = |number| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let prepared = play::Prepared::new(world, scenario, Ability::Call, seed, &mut rng).ok()?;
        prepared.perform(&mut ChaCha8Rng::seed_from_u64(number)).ok()
    };
    (0..count).filter_map(take).collect()
}

#[cfg(test)]
mod tests;
