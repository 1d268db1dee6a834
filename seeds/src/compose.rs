//! Owns the composition of several worlds into one. Each domain keeps its resources and behaviours, under a
//! base path of its own.
//!
//! It works on documents, so that the result is checked like any other. It never changes the behaviour of an
//! API.

use std::collections::{HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};

use crate::doc::{DomainDoc, UNSTATED, WORLD_VERSION, WorldDoc};
use crate::english::capitalised;
use crate::naming::camel;
use diorama_format::{Finding, Report};

/// Composes worlds into one.
///
/// A domain without a base path gets one from its name (`dental_clinic`: `/dental-clinic`), unless it is the
/// only domain. Duplicate domains and base paths get a number. API names that occur in several domains get
/// the name of their domain as a prefix (`DentalClinicListRooms`). Clock and zone come from the first world.
/// The result counts as a benchmark if one of the worlds does. It carries the licences and sources of all
/// worlds. It is materialised, with the first world's seed, if all of them are.
///
/// # Errors
/// Returns an error if there is no world, or only some of the worlds are materialised.
pub fn compose(name: &str, docs: &[WorldDoc]) -> Result<WorldDoc, Report> {
    let Some(first) = docs.first() else {
        return Err(Report::one(
            name,
            Finding::error("", "found no world to compose", "name at least one world"),
        ));
    };
    if let Some(other) = docs.iter().find(|doc| doc.materialised.is_some() != first.materialised.is_some()) {
        let (made, not) = if first.materialised.is_some() { (first, other) } else { (other, first) };
        return Err(Report::one(
            name,
            Finding::error(
                "materialised",
                format!(
                    "found the materialised world `{}` beside the source world `{}`",
                    made.name, not.name
                ),
                "compose worlds of one kind: materialise all of them, or none",
            ),
        ));
    }
    let mut domains: Vec<DomainDoc> = docs.iter().flat_map(|doc| doc.clone().into_domains().1).collect();
    domains.iter_mut().for_each(DomainDoc::name_sources);
    if domains.len() > 1 {
        tell_apart(&mut domains);
    }
    let licences: IndexSet<&str> = docs.iter().map(WorldDoc::license).collect();
    let licences: Vec<&str> = licences.into_iter().collect();
    let stated = |text: String| Some(text).filter(|text| text != UNSTATED);
    Ok(WorldDoc {
        world: WORLD_VERSION,
        name: name.to_owned(),
        clock: first.clock.clone(),
        zone: first.zone.clone(),
        license: stated(licences.join(" AND ")),
        source: stated(sources(docs)),
        benchmark: docs.iter().any(|doc| doc.benchmark),
        materialised: first.materialised,
        domains,
        ..WorldDoc::default()
    })
}

/// Joins the sources of worlds. Sources with the same text before a colon are listed together after it.
fn sources(docs: &[WorldDoc]) -> String {
    let mut all: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
    for source in docs.iter().map(WorldDoc::source) {
        let (of, name) = source.split_once(": ").unwrap_or((source, ""));
        all.entry(of).or_default().extend(Some(name).filter(|name| !name.is_empty()));
    }
    let one = |(of, names): (&str, IndexSet<&str>)| match names.is_empty() {
        true => of.to_owned(),
        false => format!("{of}: {}", names.into_iter().collect::<Vec<_>>().join(", ")),
    };
    all.into_iter().map(one).collect::<Vec<_>>().join("; ")
}

fn tell_apart(domains: &mut [DomainDoc]) {
    let mut names = HashSet::new();
    let mut base_paths = HashSet::new();
    for domain in domains.iter_mut() {
        let head = &mut domain.domain;
        head.name = free(&head.name, '_', &mut names);
        if head.base_path.is_empty() {
            head.base_path = format!("/{}", head.name.replace('_', "-"));
        }
        head.base_path = free(&head.base_path, '-', &mut base_paths);
    }
    let mut uses: HashMap<String, HashSet<usize>> = HashMap::new();
    for (position, domain) in domains.iter().enumerate() {
        for api in &domain.apis {
            uses.entry(api.name.clone()).or_default().insert(position);
        }
    }
    let mut taken: HashSet<String> = uses.keys().cloned().collect();
    for domain in domains {
        let mut renamed = HashMap::new();
        for api in &mut domain.apis {
            if uses.get(&api.name).is_some_and(|domains| domains.len() > 1) {
                let name = free(&with_domain(&domain.domain.name, &api.name), '_', &mut taken);
                renamed.insert(api.name.clone(), name.clone());
                api.name = name;
            }
        }
        domain.rename_apis(&renamed);
    }
}

/// Returns the name of an API with its domain in front, in the style of the name.
fn with_domain(domain: &str, name: &str) -> String {
    let words: Vec<&str> = domain.split(['_', '-']).collect();
    let begins_small = name.starts_with(char::is_lowercase);
    if name.contains('-') {
        format!("{}-{name}", words.join("-"))
    } else if name.contains('_') || name.chars().all(char::is_lowercase) {
        format!("{}_{name}", words.join("_"))
    } else if begins_small {
        let (first, rest) = words.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
        format!("{first}{}{}", camel(rest), capitalised(name))
    } else {
        format!("{}{name}", camel(&words))
    }
}

/// Returns the name, with a number if it is taken, and marks it as taken.
fn free(name: &str, separator: char, taken: &mut HashSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut number = 1;
    while !taken.insert(candidate.clone()) {
        number += 1;
        candidate = format!("{name}{separator}{number}");
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world;
    use diorama_catalog as catalog;

    #[test]
    fn a_shared_name_gets_its_domain_in_its_own_style() {
        let named = |name: &str| with_domain("customs_broker", name);
        assert_eq!(named("SignIn"), "CustomsBrokerSignIn");
        assert_eq!(named("signIn"), "customsBrokerSignIn");
        assert_eq!(named("sign_in"), "customs_broker_sign_in");
        assert_eq!(named("client-find"), "customs-broker-client-find");
        assert_eq!(named("find"), "customs_broker_find");
    }

    fn catalog_docs() -> Vec<WorldDoc> {
        catalog::names()
            .map(|name| world::read(name, catalog::source(name).unwrap().as_bytes()).unwrap())
            .collect()
    }

    #[test]
    fn a_joined_world_states_the_licences_and_sources_of_all() {
        let world = |license: Option<&str>, source: Option<&str>| WorldDoc {
            license: license.map(str::to_owned),
            source: source.map(str::to_owned),
            ..WorldDoc::default()
        };
        let check = |docs: &[WorldDoc], license: &str, source: &str| {
            let found = compose("all", docs).unwrap();
            assert_eq!((found.license(), found.source()), (license, source));
        };
        let (library, clinic) = ("Diorama catalog: city_library", "Diorama catalog: dental_clinic");
        check(
            &[world(Some("CC0-1.0"), Some(library)), world(Some("CC0-1.0"), Some(clinic))],
            "CC0-1.0",
            "Diorama catalog: city_library, dental_clinic",
        );
        check(
            &[
                world(Some("MIT"), Some(clinic)),
                world(None, None),
                world(Some("MIT"), Some("x.org, X, version 1")),
            ],
            "MIT AND unstated",
            "Diorama catalog: dental_clinic; unstated; x.org, X, version 1",
        );
        check(&[world(None, None), world(None, None)], "unstated", "unstated");
    }

    #[test]
    fn the_catalog_composes_into_one_world_without_findings() {
        let docs = catalog_docs();
        let composed = compose("everything", &docs).unwrap();
        let world = world::compile(&composed).map_err(|report| report.to_string()).unwrap();
        assert_eq!(world.domains.len(), docs.len());
        assert_eq!(world.apis.len(), docs.iter().map(|doc| doc.apis.len()).sum::<usize>());
        let findings = crate::check::find_mistakes(&composed, &world);
        assert!(findings.is_empty(), "{findings:?}");
        let text = serde_json::to_vec(&composed).unwrap();
        assert_eq!(world::read("everything.json", &text).unwrap(), composed);
    }

    #[test]
    fn the_same_world_twice_is_told_apart() {
        let doc = catalog_docs().into_iter().find(|doc| doc.name == "dental_clinic").unwrap();
        let mut second = doc.clone();
        second.benchmark = true;
        let composed = compose("two", &[doc.clone(), second]).unwrap();
        let heads: Vec<_> =
            composed.domains.iter().map(|domain| (&*domain.domain.name, &*domain.domain.base_path)).collect();
        assert_eq!(heads, [("dental_clinic", "/dental-clinic"), ("dental_clinic_2", "/dental-clinic-2")]);
        assert!(composed.benchmark);
        let name = &doc.apis[0].name;
        assert_eq!(composed.domains[0].apis[0].name, format!("DentalClinic{name}"));
        assert_eq!(composed.domains[1].apis[0].name, format!("DentalClinic2{name}"));
        let world = world::compile(&composed).map_err(|report| report.to_string()).unwrap();
        let qualified: Vec<&str> = world.resources.iter().map(|resource| &*resource.qualified).collect();
        assert!(
            qualified
                .iter()
                .all(|name| name.starts_with("dental_clinic.") || name.starts_with("dental_clinic_2."))
        );
    }

    #[test]
    fn one_world_stays_as_it_is() {
        let doc = catalog_docs().remove(0);
        let composed = compose("one", std::slice::from_ref(&doc)).unwrap();
        assert_eq!(composed.domains[0].domain.base_path, "");
        let mut apis = composed.domains[0].apis.clone();
        apis.iter_mut().for_each(|api| api.source_api = None);
        assert_eq!(apis, doc.apis);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        assert!(compose("none", &[]).is_err());
        let mut docs = catalog_docs();
        docs[1].materialised = Some(1);
        let report = compose("mixed", &docs).unwrap_err().to_string();
        assert!(
            report.contains(&format!(
                "materialised world `{}` beside the source world `{}`",
                docs[1].name, docs[0].name
            )),
            "{report}"
        );
    }
}
