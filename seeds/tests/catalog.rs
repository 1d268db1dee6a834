//! Owns the laws of the catalog: each world is valid, materialises from any seed, and has phrases for all its
//! APIs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]

use std::collections::{BTreeMap, BTreeSet, HashSet};

use diorama_catalog as catalog;
use diorama_seeds::doc::{RecordsDoc, ResourceDoc, TypeName, WorldDoc};
use diorama_seeds::materialise::Source;
use diorama_seeds::model::{DomainId, Resource, World};
use diorama_seeds::schema::Type;
use diorama_seeds::value::Value;
use diorama_seeds::{check, scenario, world};

fn text(name: &str) -> &'static [u8] {
    catalog::source(name).unwrap_or_else(|| panic!("{name} has no text")).as_bytes()
}

fn docs() -> impl Iterator<Item = WorldDoc> {
    catalog::names().map(|name| world::read(name, text(name)).unwrap_or_else(|report| panic!("{report}")))
}

/// Fails with all problems at once, so that one run shows them all.
fn none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn no_world_has_a_finding() {
    let reports = catalog::names().map(|name| check::examine(name, text(name)));
    none(
        &reports
            .filter(|report| !report.findings.is_empty())
            .map(|report| report.to_string())
            .collect::<Vec<_>>(),
    );
}

#[test]
fn names_are_in_order_and_unknown_ones_have_no_text() {
    assert!(catalog::names().is_sorted());
    assert!(catalog::names().len() >= 14);
    assert_eq!(catalog::source("atlantis"), None);
}

#[test]
fn each_world_is_of_its_own_sector() {
    let mut sectors = BTreeSet::new();
    for (doc, name) in docs().zip(catalog::names()) {
        let head = doc.domain.unwrap_or_default();
        assert_eq!((&*doc.name, &*head.name), (name, name));
        assert!(doc.clock.starts_with("2026-"), "{name}");
        assert!(sectors.insert(head.sector.clone()), "{name} shares the sector {:?}", head.sector);
    }
}

#[test]
fn every_seed_gives_a_complete_world() {
    let mut problems = Vec::new();
    for doc in docs() {
        let name = doc.name.clone();
        let empty = find_empty_resources(&doc);
        let source = Source::new(doc).unwrap_or_else(|report| panic!("{report}"));
        let mut lacking: BTreeMap<String, u32> = BTreeMap::new();
        for seed in 0..12 {
            match source.materialise(seed) {
                Err(report) => problems.push(format!("{name}, seed {seed}: {report}")),
                Ok(made) => {
                    for what in incomplete(&made.world, &empty) {
                        *lacking.entry(what).or_insert(0) += 1;
                    }
                }
            }
        }
        // A rare value may be missing from one draw, but not from most.
        let often = lacking.into_iter().filter(|(_, seeds)| *seeds > 6);
        problems.extend(often.map(|(what, seeds)| format!("{name}, {seeds} of 12 seeds: {what}")));
    }
    none(&problems);
}

/// Returns the resources without initial records, which have `records: 0`.
fn find_empty_resources(doc: &WorldDoc) -> HashSet<String> {
    let is_empty =
        |resource: &ResourceDoc| resource.records == RecordsDoc::Count(0) && resource.each.is_empty();
    let resources = doc.resources.iter().filter(|(_, resource)| is_empty(resource));
    resources.map(|(name, _)| name.clone()).collect()
}

/// Returns resources without records, enum values that never occur, and display names that two records share.
fn incomplete(world: &World, empty: &HashSet<String>) -> impl Iterator<Item = String> {
    world.resources.iter().filter(|resource| !empty.contains(&*resource.name)).flat_map(|resource| {
        let mut found = Vec::new();
        if resource.records.is_empty() {
            found.push(format!("`{}` has no records", resource.name));
        }
        for (index, field) in resource.fields.iter().enumerate() {
            let Type::Enum(values) = &field.schema.kind else { continue };
            let used: HashSet<&str> =
                resource.records.iter().filter_map(|record| record[index].as_str()).collect();
            let missing = values.iter().filter(|value| !used.contains(&***value));
            found.extend(
                missing.map(|value| format!("no `{}` has the {} {value}", resource.name, field.name)),
            );
        }
        if let Some(twice) = shared_name(resource) {
            found.push(format!("two records of `{}` are called {twice}", resource.name));
        }
        found
    })
}

/// Returns a name that two records share. Records with an owner may share names.
fn shared_name(resource: &Resource) -> Option<String> {
    if resource.owner.is_some() {
        return None;
    }
    let display = resource.display?.index();
    let mut seen = HashSet::new();
    let mut names = resource.records.iter().filter_map(|record| record[display].as_str());
    names.find(|name| !seen.insert(name.to_lowercase())).map(str::to_owned)
}

#[test]
fn every_owner_has_records_of_each_owned_resource() {
    for doc in docs() {
        let name = doc.name.clone();
        let empty = find_empty_resources(&doc);
        let made = Source::new(doc)
            .and_then(|source| source.materialise(1))
            .unwrap_or_else(|report| panic!("{report}"));
        let owned = made.world.resources.iter().filter(|resource| resource.owner.is_some());
        for resource in owned.filter(|resource| !empty.contains(&*resource.name)) {
            let owner = resource.owner.map_or(0, |field| field.index());
            let owners: HashSet<&Value> = resource.records.iter().map(|record| &record[owner]).collect();
            assert!(owners.len() >= 6, "{name}: only {} users have a `{}`", owners.len(), resource.name);
        }
    }
}

/// Returns a world with its scenarios.
fn with_scenarios(name: &str) -> WorldDoc {
    let mut doc = world::read(name, text(name)).unwrap();
    let scenarios = catalog::scenarios(name).unwrap_or_else(|| panic!("{name} has no scenarios"));
    world::add_scenarios(&mut doc, name, scenarios.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    if let Some(words) = catalog::words(name) {
        world::add_words(&mut doc, name, words.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    }
    doc
}

#[test]
fn every_scenario_fits_its_world_and_is_worded_in_several_ways() {
    let mut problems = Vec::new();
    for name in catalog::names() {
        let doc = with_scenarios(name);
        let world = world::compile(&doc).unwrap();
        let (_, domains) = doc.into_domains();
        let (fitting, findings) = scenario::compile(&domains[0].scenarios, DomainId(0), &world);
        problems.extend(findings.iter().map(|finding| format!("{name}: {finding}")));
        if fitting.len() < 20 {
            problems.push(format!("{name}: {} scenarios, expected 20 or more", fitting.len()));
        }
        let mut openings = BTreeSet::new();
        for scenario in &fitting {
            let first = &scenario.doc.goals[0];
            if first.user.len() < 3 {
                problems.push(format!("{name}.{}: opens in fewer than three wordings", scenario.doc.name));
            }
            let mut own = BTreeSet::new();
            for opening in &first.user {
                let begins =
                    |letters: usize| opening.to_lowercase().chars().take(letters).collect::<String>();
                // Openings of one scenario differ early, those of a domain within a line.
                if !own.insert(begins(40)) || !openings.insert(begins(72)) {
                    problems.push(format!("{name}.{}: opens like another: {opening}", scenario.doc.name));
                }
            }
        }
    }
    none(&problems);
}

#[test]
fn every_api_has_common_names_for_searches_and_most_are_called() {
    let mut problems = Vec::new();
    for name in catalog::names() {
        let doc = with_scenarios(name);
        let called: BTreeSet<&str> = doc
            .scenarios
            .iter()
            .flat_map(|scenario| scenario.calls().filter_map(|call| call.call.as_deref()))
            .collect();
        let silent = doc.apis.iter().filter(|api| !called.contains(&*api.name)).count();
        if silent > 1 {
            problems.push(format!("{name}: {silent} APIs in no scenario"));
        }
        let unnamed = doc.apis.iter().filter(|api| api.phrases.search.len() < 2);
        problems.extend(unnamed.map(|api| format!("{name}.{}: fewer than two common names", api.name)));
    }
    none(&problems);
}

#[test]
fn fields_that_have_questions_have_statements() {
    for doc in docs() {
        for (resource, described) in &doc.resources {
            for (name, field) in &described.fields {
                let place = format!("{}.{resource}.{name}", doc.name);
                // The answer itself states a boolean.
                let told =
                    !field.say.is_empty() || field.kind == Some(TypeName::Boolean) || name == "enabled";
                assert!(field.ask.is_empty() || told, "{place} has no `say`");
                assert!(
                    field.say.iter().all(|say| say.contains("{value}")),
                    "{place} says nothing of its value"
                );
            }
        }
    }
}
