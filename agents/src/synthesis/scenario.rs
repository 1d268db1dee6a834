//! Scenarios played: conversations that people wrote whole, over records that make them true.
//!
//! Owns how a scenario becomes a candidate: which records take its places, what its words say of them, and its calls,
//! made in a session. Whether the candidate is right is the tester's business.

mod play;
mod search;
mod words;

use std::sync::Arc;

use diorama_seeds::doc::{DomainDoc, ScenarioDoc, WorldDoc};
use diorama_seeds::model::{DomainId, World};
use diorama_seeds::scenario::{self, Scenario};
use diorama_seeds::task::Ability;
use diorama_seeds::world::Finding;

pub use self::play::{Played, Unplayed, play};
use self::words::check_words;

/// The scenarios of a world that fit it.
#[derive(Clone, Debug, Default)]
pub struct Repertoire {
    scenarios: Vec<Arc<Scenario>>,
}

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
        }
        (repertoire, findings)
    }

    /// All of them.
    #[must_use]
    pub fn scenarios(&self) -> &[Arc<Scenario>] {
        &self.scenarios
    }

    /// Those that exercise an ability: retrieving one API needs a scenario that calls one, planning one that calls
    /// several.
    pub fn for_ability(&self, ability: Ability) -> impl Iterator<Item = &Arc<Scenario>> {
        self.scenarios.iter().filter(move |scenario| {
            let mut apis: Vec<&str> = scenario.doc.calls().filter_map(|call| call.call.as_deref()).collect();
            apis.sort_unstable();
            apis.dedup();
            match ability {
                Ability::Call => true,
                Ability::RetrieveCall => apis.len() == 1,
                Ability::PlanRetrieveCall => apis.len() > 1,
            }
        })
    }
}

fn index_of(domain: &DomainDoc, doc: &ScenarioDoc) -> usize {
    domain.scenarios.iter().position(|other| other.name == doc.name).unwrap_or(0)
}
