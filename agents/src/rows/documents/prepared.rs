//! Prepares a document for rows: its world, the scenarios written for it, and a report.

use std::collections::BTreeMap;

use diorama_output::documents::{DocumentReport, NO_TURN};
use diorama_seeds::doc::{ScenarioDoc, WorldDoc};
use diorama_seeds::model::DomainId;
use diorama_seeds::world::{self, Report};
use serde::{Deserialize, Serialize};

use crate::scenarios::Shares;
use crate::scenarios::by_rule;
use crate::worlds::recipe::alternate_seed;
use crate::worlds::world::WorldTemplate;

/// The greatest number of characters of a reason in a report.
const MAX_REASON_CHARS: usize = 120;

/// The world of a document with the scenarios that were written for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PreparedWorld {
    /// The source world of the document.
    pub doc: WorldDoc,
    /// The scenarios that were written for it.
    pub scenarios: Vec<PreparedScenario>,
}

/// A scenario that was written by rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PreparedScenario {
    /// The scenario itself.
    pub doc: ScenarioDoc,
    /// Its weight beside the other scenarios.
    pub weight: f64,
    /// The name of the API that it is about.
    pub about: String,
}

/// Writes scenarios for the world of a document. The report lacks path, provider and service.
///
/// # Errors
/// Returns an error if the world cannot be compiled, or the world for trying scenarios cannot be made.
pub fn prepare(doc: WorldDoc, seed: u64) -> Result<(PreparedWorld, DocumentReport), Report> {
    let template = WorldTemplate::new(&doc, alternate_seed(seed), &Shares::new(), &[])?;
    let (written, unwritten) = by_rule::scenarios(&template)?;
    let world = template.world();
    let name_of = |api| world.api(api).name.to_string();
    let mut unasked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (api, reason) in &unwritten {
        unasked.entry(class_of(reason)).or_default().push(name_of(*api));
    }
    let scenarios: Vec<PreparedScenario> = written
        .into_iter()
        .map(|one| PreparedScenario { about: name_of(one.api), doc: one.doc, weight: one.weight })
        .collect();
    let mut askable: Vec<String> = scenarios.iter().map(|one| one.about.clone()).collect();
    askable.dedup();
    let report = DocumentReport {
        name: doc.name.clone(),
        license: doc.license().to_owned(),
        source: doc.source().to_owned(),
        operations: world.apis.len() as u64,
        fidelity: world::fidelity_counts(world),
        askable: askable.len() as u64,
        unasked: {
            if !askable.is_empty() {
                unasked.insert(NO_TURN.to_owned(), askable);
            }
            unasked
        },
        ..DocumentReport::default()
    };
    Ok((PreparedWorld { doc, scenarios }, report))
}

/// Returns a reason without the details of its operation.
/// `read lost every try: grounded: call 0: ...` becomes `lost every try: grounded`.
fn class_of(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or_default();
    let class = match line.split_once(" lost every try: ") {
        Some((_, why)) => format!("lost every try: {}", why.split(':').next().unwrap_or_default()),
        None => line.split(':').next().unwrap_or_default().to_owned(),
    };
    class.chars().take(MAX_REASON_CHARS).collect()
}

impl PreparedWorld {
    /// Renames the world and its domain.
    pub fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.doc.name);
        if let Some(head) = &mut self.doc.domain {
            name.clone_into(&mut head.name);
        }
    }

    /// Moves the scenarios into the world's domain, where joining worlds keeps their names valid.
    pub(crate) fn into_doc(mut self) -> (WorldDoc, Vec<PreparedScenario>) {
        self.doc.scenarios = self.scenarios.iter().map(|one| one.doc.clone()).collect();
        (self.doc, self.scenarios)
    }
}

/// Returns the id of a domain by its position in a joined world.
pub(crate) const fn domain_at(position: usize) -> DomainId {
    DomainId(position as u16)
}

#[cfg(test)]
mod tests {
    use super::class_of;

    #[test]
    fn a_reason_is_classed_without_its_details() {
        let check = |reason: &str, expect: &str| assert_eq!(class_of(reason), expect);
        check("read lost every try: grounded: call 0: `Get` is from nowhere", "lost every try: grounded");
        check("no call of it worked: Get was refused: {\"title\"", "no call of it worked");
        check("it has no words: give it `phrases.do`", "it has no words");
        check(
            "its reply shows nothing of the record to ask for",
            "its reply shows nothing of the record to ask for",
        );
    }
}
