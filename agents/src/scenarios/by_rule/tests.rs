use diorama_seeds::doc::WorldDoc;
use diorama_seeds::world;

use std::collections::BTreeSet;

use diorama_seeds::doc::ScenarioDoc;

use super::*;
use crate::scenarios::Drawn;

const HARBOUR: &str = include_str!("../tests/harbour.yaml");

fn template(doc: &WorldDoc) -> Arc<WorldTemplate> {
    WorldTemplate::new(doc, 99, &Shares::new(), &Ability::ALL).unwrap()
}

/// Domains of the catalog without their scenarios.
fn bare(name: &str) -> WorldDoc {
    let mut doc = crate::catalog::worlds().unwrap().into_iter().find(|doc| doc.name == name).unwrap();
    doc.scenarios.clear();
    doc
}

#[test]
fn each_kind_of_api_gets_scenarios_of_its_shape() {
    let (written, unwritten) = scenarios(&template(&bare("city_library"))).unwrap();
    let shapes: BTreeSet<Shape> = written.iter().map(|one| one.shape).collect();
    for shape in [Shape::Write, Shape::Read, Shape::Branch, Shape::AskBack, Shape::Refusal] {
        assert!(
            shapes.contains(&shape),
            "{shape:?} is in none of {} scenarios: {unwritten:?}",
            written.len()
        );
    }
    assert!(
        (written.iter().map(|one| one.weight).sum::<f64>()
            - shapes.iter().map(|shape| shape.share()).sum::<f64>())
        .abs()
            < 1e-9
    );
}

#[test]
fn written_scenarios_are_a_scenario_file_that_fits_the_world() {
    let doc = world::read("harbour.yaml", HARBOUR.as_bytes()).unwrap();
    let (written, _) = scenarios(&template(&doc)).unwrap();
    assert!(!written.is_empty());
    let file = diorama_seeds::doc::ScenariosDoc {
        scenarios: written.into_iter().map(|one| one.doc).collect(),
        ..Default::default()
    };
    let text = world::scenarios_to_yaml("harbour", &file).unwrap();
    let mut with = doc;
    world::add_scenarios(&mut with, "harbour.scenarios.yaml", text.as_bytes()).unwrap();
    assert_eq!(with.scenarios, file.scenarios);
    assert!(template(&with).scenario_set.has_any(Ability::Call));
}

#[test]
fn scenarios_are_written_for_the_abilities_that_no_authored_one_exercises() {
    let all = Shares::new();
    let doc = crate::catalog::worlds().unwrap().into_iter().find(|doc| doc.name == "city_library").unwrap();
    let authored = complete(template(&doc), &all, &Ability::ALL).unwrap();
    assert_eq!(authored.scenario_set.scenarios().len(), doc.scenarios.len());
    let written = complete(template(&bare("city_library")), &all, &Ability::ALL).unwrap();
    let anywhere = Drawn { domain: None, place: 0.5, scenario: None };
    for ability in Ability::ALL {
        assert!(written.scenario_set.draw(ability, anywhere).is_some(), "{ability:?}");
    }
    // The same world, the same scenarios.
    let again = complete(template(&bare("city_library")), &all, &Ability::ALL).unwrap();
    let docs = |template: &WorldTemplate| -> Vec<ScenarioDoc> {
        template.scenario_set.scenarios().iter().map(|scenario| scenario.doc.clone()).collect()
    };
    assert_eq!(docs(&written), docs(&again));
}
