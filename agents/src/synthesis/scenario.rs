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
    /// For each ability, the scenarios that exercise it, with the running sum of their weights.
    draws: [Vec<(f64, usize)>; 3],
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
        let draws = &self.draws[ability as usize];
        let (all, _) = draws.last()?;
        let position = draws.partition_point(|(sum, _)| *sum <= at * all).min(draws.len() - 1);
        self.scenarios.get(draws[position].1)
    }

    /// Plays scenarios as often as it takes for the given shares to show what they are to show: iterative proportional
    /// fitting over the labels. What no scenario shows, or all, stays as it is.
    pub fn weigh(&mut self, shares: &Shares) {
        const ROUNDS: usize = 60;
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
            let mut sum = 0.0;
            let draws = fitting.into_iter().zip(weights).map(|(at, weight)| {
                sum += weight;
                (sum, at)
            });
            self.draws[ability as usize] = draws.collect();
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
