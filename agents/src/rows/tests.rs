//! Checks that rows are keyed by names: an addition to a catalog changes only the rows that it takes part in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use diorama_output::plan::{Batch, ROWS_PER_BATCH};
use diorama_output::row::{Dialogue, Split};
use diorama_seeds::doc::{ScenarioDoc, WorldDoc};
use diorama_seeds::task::RefusalClass;
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::source::RowSource;
use crate::catalog::{self, CatalogDomain};
use crate::scenarios::Shares;
use crate::worlds::recipe::{Ingredients, Recipe};
use crate::worlds::split::TestRequest;

/// The domains of the split train.
const DOMAINS: [&str; 3] = ["city_library", "dental_clinic", "event_tickets"];
/// The domain of the split test.
const TEST: &str = "parcel_shipping";
/// The domain that receives additions.
const CHANGED: &str = DOMAINS[0];
/// Batches of each domain.
const VISITS: u64 = 2;
/// The number of rows made of each batch.
const ROWS: u64 = 16;

/// Rows by the domain that counts them, and their number within it.
type Rows = BTreeMap<(String, u64), Dialogue>;

fn docs() -> Vec<WorldDoc> {
    let names = DOMAINS.iter().chain([&TEST]);
    names.map(|name| catalog::world(name).unwrap().unwrap()).collect()
}

/// Makes rows of worlds of two domains, without their position in the dataset.
fn rows(docs: Vec<WorldDoc>) -> Rows {
    let recipe = Recipe::new(Ingredients {
        seed: 11,
        abilities: Vec::new(),
        domains: docs.into_iter().map(CatalogDomain::from_doc).collect(),
        worlds: Vec::new(),
        domains_per_world: 2,
        dialogues: 1_000,
        shares: Shares::new(),
        difficulty: None,
        test_split: TestRequest { domains: vec![TEST.to_owned()], share: None },
        model: None,
    })
    .unwrap();
    let batches = (0..).filter(|index| recipe.split_of(*index) == Split::Train).map(|index| {
        let start = index * u64::from(ROWS_PER_BATCH);
        Batch { index, split: Split::Train, row_indexes: start..start + ROWS }
    });
    let batches: Vec<Batch> = batches.take(recipe.train.len() * VISITS as usize).collect();
    let made = batches.par_iter().flat_map_iter(|batch| {
        let rows = recipe.make_batch(batch).unwrap().rows;
        rows.into_iter().map(|row| {
            let mut provenance: Json = serde_json::from_str(&row.provenance).unwrap();
            let key = recipe.row_key(batch, provenance["row"].take().as_u64().unwrap());
            provenance["row"] = json!(key.number);
            let row = Dialogue { id: String::new(), provenance: provenance.to_string(), ..row };
            ((key.subject.to_owned(), key.number), row)
        })
    });
    made.collect()
}

/// Returns the rows of the unchanged catalog.
fn original_rows() -> &'static Rows {
    static ROWS: OnceLock<Rows> = OnceLock::new();
    ROWS.get_or_init(|| rows(docs()))
}

/// Returns the rows that differ, before and after.
fn changes(after: &Rows) -> Vec<(Option<&Dialogue>, Option<&Dialogue>)> {
    let keys: BTreeSet<_> = original_rows().keys().chain(after.keys()).collect();
    let pairs = keys.into_iter().map(|key| (original_rows().get(key), after.get(key)));
    pairs.filter(|(before, after)| before != after).collect()
}

fn find_scenarios(docs: &mut [WorldDoc]) -> &mut Vec<ScenarioDoc> {
    &mut docs.iter_mut().find(|doc| doc.name == CHANGED).unwrap().scenarios
}

#[test]
fn a_new_domain_changes_only_rows_of_the_worlds_that_it_joins() {
    const NEW: &str = "pharmacy_counter";
    let mut docs = docs();
    docs.push(catalog::world(NEW).unwrap().unwrap());
    let mut after = rows(docs);
    after.retain(|(subject, _), _| subject != NEW);
    let changed = changes(&after);
    assert!(changed.iter().all(|(_, after)| after.is_some_and(|after| after.world_id.contains(NEW))));
    let (changed, all) = (changed.len(), original_rows().len());
    assert!((1..all).contains(&changed), "{changed} of {all}");
}

#[test]
fn a_new_plot_changes_only_rows_of_its_domain() {
    let mut docs = docs();
    let scenarios = find_scenarios(&mut docs);
    let plot = ScenarioDoc { name: "another".to_owned(), ..scenarios[0].clone() };
    scenarios.insert(0, plot);
    let after = rows(docs);
    for (before, after) in changes(&after) {
        let domains = [before, after].into_iter().flatten().flat_map(|row| &row.domains);
        assert!(domains.into_iter().any(|domain| domain == CHANGED), "{before:#?}\n{after:#?}");
    }
    let is_of_worlds = |row: &Dialogue| row.world_id.contains(CHANGED);
    assert!(original_rows().values().filter(|row| is_of_worlds(row)).count() > original_rows().len() / 3);
}

#[test]
fn a_new_wording_changes_only_the_rows_that_it_is_drawn_for() {
    const NEW: &str = " And mark this.";
    let mut docs = docs();
    for scenario in find_scenarios(&mut docs) {
        let goals = &mut scenario.goals;
        // The search for a tool that does not exist uses words that all wordings share.
        if goals.iter().any(|goal| goal.refused.contains(&RefusalClass::NoTool)) {
            continue;
        }
        for wordings in goals.iter_mut().flat_map(|goal| [&mut goal.user, &mut goal.end]) {
            let full =
                wordings.iter().find(|words| words.starts_with(char::is_uppercase) && words.ends_with('.'));
            if let Some(words) = full.map(|words| format!("{words}{NEW}")) {
                wordings.insert(0, words);
            }
        }
    }
    let after = rows(docs);
    let changed = changes(&after);
    for (before, after) in &changed {
        assert!(
            after.is_some_and(|row| row
                .messages
                .iter()
                .any(|message| message.content.as_deref().is_some_and(|words| words.contains(NEW)))),
            "{before:#?}\n{after:#?}"
        );
    }
    let (changed, all) = (changed.len(), original_rows().len());
    assert!((1..all / 3).contains(&changed), "{changed} of {all}");
}
