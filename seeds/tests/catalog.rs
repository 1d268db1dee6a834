//! Laws of the catalog: every world is sound, can be materialised from any seed, and speaks of all it does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]

use std::collections::{BTreeSet, HashSet};

use diorama_seeds::doc::{ApiDoc, WorldDoc};
use diorama_seeds::materialise::Source;
use diorama_seeds::model::{Resource, World};
use diorama_seeds::schema::Type;
use diorama_seeds::value::Value;
use diorama_seeds::{catalog, world};

fn text(name: &str) -> &'static [u8] {
    catalog::source(name).unwrap_or_else(|| panic!("{name} has no text")).as_bytes()
}

fn docs() -> impl Iterator<Item = WorldDoc> {
    catalog::names()
        .iter()
        .map(|name| world::read(name, text(name)).unwrap_or_else(|report| panic!("{report}")))
}

/// Fails with all problems at once: they are mended in one reading.
fn none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn no_world_has_a_finding() {
    let reports = catalog::names().iter().map(|name| world::examine(name, text(name)));
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
fn each_world_is_of_its_own_sector_and_archetype() {
    let mut sectors = BTreeSet::new();
    let mut archetypes = BTreeSet::new();
    for (doc, name) in docs().zip(catalog::names()) {
        let head = doc.domain.unwrap_or_default();
        assert_eq!((&*doc.name, &*head.name), (*name, *name));
        assert!(doc.clock.starts_with("2026-"), "{name}");
        assert!(sectors.insert(head.sector.clone()), "{name} shares the sector {:?}", head.sector);
        assert!(
            archetypes.insert(head.archetype.clone()),
            "{name} shares the archetype {:?}",
            head.archetype
        );
    }
}

#[test]
fn every_seed_gives_a_complete_world() {
    let mut problems = Vec::new();
    for doc in docs() {
        let name = doc.name.clone();
        let source = Source::new(doc).unwrap_or_else(|report| panic!("{report}"));
        for seed in 0..12 {
            match source.materialise(seed) {
                Err(report) => problems.push(format!("{name}, seed {seed}: {report}")),
                Ok(made) => problems
                    .extend(incomplete(&made.world).map(|what| format!("{name}, seed {seed}: {what}"))),
            }
        }
    }
    none(&problems);
}

/// Resources without records, enum values that occur nowhere, display names that two records share.
fn incomplete(world: &World) -> impl Iterator<Item = String> {
    world.resources.iter().flat_map(|resource| {
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

fn shared_name(resource: &Resource) -> Option<String> {
    let display = resource.display?.index();
    let mut seen = HashSet::new();
    let mut names = resource.records.iter().filter_map(|record| record[display].as_str());
    names.find(|name| !seen.insert(name.to_lowercase())).map(str::to_owned)
}

#[test]
fn every_owner_has_records_of_each_owned_resource() {
    for doc in docs() {
        let name = doc.name.clone();
        let made = Source::new(doc)
            .and_then(|source| source.materialise(1))
            .unwrap_or_else(|report| panic!("{report}"));
        for resource in made.world.resources.iter().filter(|resource| resource.owner.is_some()) {
            let owner = resource.owner.map_or(0, |field| field.index());
            let owners: HashSet<&Value> = resource.records.iter().map(|record| &record[owner]).collect();
            assert!(owners.len() >= 6, "{name}: only {} users have a `{}`", owners.len(), resource.name);
        }
    }
}

#[test]
fn every_api_has_words_for_all_who_speak() {
    let mut problems = Vec::new();
    for doc in docs() {
        for api in &doc.apis {
            problems
                .extend(speechless(api).into_iter().map(|what| format!("{}.{}: {what}", doc.name, api.name)));
        }
    }
    none(&problems);
}

fn speechless(api: &ApiDoc) -> Vec<String> {
    let (words, does) = (&api.phrases, &api.behaviour);
    let mut problems = Vec::new();
    let mut at_least = |kind: &str, phrases: &[String], least: usize| {
        if phrases.len() < least {
            problems.push(format!("{} `{kind}` phrases, expected {least} or more", phrases.len()));
        }
    };
    let many = does.list.is_some() || does.members.is_some();
    if many || does.aggregate.is_some() {
        at_least("noun", &words.noun, 3);
    }
    if !many {
        at_least("do", &words.imperative, 3);
        at_least("request", &words.request, 2);
    }
    let changes = [
        &does.create,
        &does.replace,
        &does.patch,
        &does.delete,
        &does.action,
        &does.add_members,
        &does.remove_members,
    ];
    if changes.iter().any(|kind| kind.is_some()) {
        at_least("done", &words.done, 2);
    }
    for phrase in words.imperative.iter().chain(&words.request).chain(&words.noun) {
        let mut seen = HashSet::new();
        // An argument has one span of words in a request, so a phrase names it once.
        problems.extend(
            placeholders(phrase)
                .filter(|name| !seen.insert(*name))
                .map(|name| format!("`{{{name}}}` twice in: {phrase}")),
        );
    }
    for phrase in &words.imperative {
        if !phrase.starts_with(char::is_lowercase) || phrase.ends_with(['.', '!', '?']) {
            problems.push(format!("expected a clause in lower case without a final stop: {phrase}"));
        }
    }
    problems
}

fn placeholders(phrase: &str) -> impl Iterator<Item = &str> {
    phrase.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}

#[test]
fn fields_that_have_questions_have_statements() {
    for doc in docs() {
        for (resource, described) in &doc.resources {
            for (name, field) in &described.fields {
                let place = format!("{}.{resource}.{name}", doc.name);
                // Yes or no is told by the answer itself.
                let told =
                    !field.say.is_empty() || field.kind.as_deref() == Some("boolean") || name == "enabled";
                assert!(field.ask.is_empty() || told, "{place} has no `say`");
                assert!(
                    field.say.iter().all(|say| say.contains("{value}")),
                    "{place} says nothing of its value"
                );
            }
        }
    }
}
