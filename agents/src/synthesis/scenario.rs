//! Scenarios played: conversations that people wrote whole, over records that make them true.
//!
//! Owns how a scenario becomes a candidate: which records take its places, what its words say of them, and its calls,
//! made in a session. Whether the candidate is right is the tester's business.

mod play;
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
use self::words::check_words;
use super::phenomena;

/// The scenarios of a world that fit it, and how often each is played.
#[derive(Clone, Debug, Default)]
pub struct Repertoire {
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

impl Repertoire {
    /// The scenarios of a document, and what is wrong with those that don't fit.
    #[must_use]
    pub fn new(doc: &WorldDoc, world: &World) -> (Self, Vec<Finding>) {
        let (_, domains) = doc.clone().into_domains();
        let mut repertoire = Self::default();
        let mut findings = Vec::new();
        for (position, domain) in domains.iter().enumerate() {
            let (scenarios, mut found) = scenario::compile(domain, DomainId(position as u16), world);
            findings.append(&mut found);
            for scenario in scenarios {
                let mut wrong = check_words(&scenario.doc, index_of(domain, &scenario.doc));
                if wrong.is_empty() {
                    repertoire.scenarios.push(Arc::new(scenario));
                }
                findings.append(&mut wrong);
            }
            repertoire.personas.push(domain.system.clone());
        }
        (repertoire, findings)
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
        let told = phenomena::told_by(&scenario.doc);
        self.shared.iter().map(String::as_str).filter(move |label| told.contains(label))
    }

    fn place(&self, ability: Ability, at: f64) -> Option<usize> {
        let draws = &self.draws[ability as usize];
        let all = draws.last()?.until;
        Some(draws.partition_point(|draw| draw.until <= at * all).min(draws.len() - 1))
    }

    /// Plays scenarios as often as it takes for the given shares to show what they are to show: iterative proportional
    /// fitting over the labels. What no scenario shows, or all, stays as it is.
    pub fn weigh(&mut self, shares: &Shares) {
        const ROUNDS: usize = 60;
        self.shared = shares.keys().cloned().collect();
        for ability in [Ability::Call, Ability::RetrieveCall, Ability::PlanRetrieveCall] {
            let fitting: Vec<usize> =
                (0..self.scenarios.len()).filter(|at| exercises(&self.scenarios[*at], ability)).collect();
            let labels: Vec<Vec<&str>> =
                fitting.iter().map(|at| phenomena::told_by(&self.scenarios[*at].doc)).collect();
            let mut weights = vec![1.0; fitting.len()];
            for _ in 0..ROUNDS {
                for (label, share) in shares {
                    let has = |at: &usize| labels[*at].contains(&label.as_str());
                    let all: f64 = weights.iter().sum();
                    let with: f64 = (0..weights.len()).filter(has).map(|at| weights[at]).sum();
                    if with <= 0.0 || with >= all {
                        continue;
                    }
                    let (more, less) = (share * all / with, (1.0 - share) * all / (all - with));
                    for (at, weight) in weights.iter_mut().enumerate() {
                        *weight *= if has(&at) { more } else { less };
                    }
                }
            }
            let shows =
                labels.iter().map(|told| shares.keys().map(|share| told.contains(&share.as_str())).collect());
            let mut draws: Vec<Draw> = fitting
                .into_iter()
                .zip(weights)
                .zip(shows)
                .map(|((scenario, weight), shows)| Draw { until: weight, scenario, shows })
                .collect();
            draws.sort_by(|one, other| one.shows.cmp(&other.shows));
            let mut sum = 0.0;
            for draw in &mut draws {
                sum += draw.until;
                draw.until = sum;
            }
            self.draws[ability as usize] = draws;
        }
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

fn index_of(domain: &DomainDoc, doc: &ScenarioDoc) -> usize {
    domain.scenarios.iter().position(|other| other.name == doc.name).unwrap_or(0)
}

#[cfg(test)]
mod tests;
