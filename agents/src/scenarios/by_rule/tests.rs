//! Checks the scenarios that are written by rule, on a small library and on an imported document.

use diorama_seeds::doc::WorldDoc;
use diorama_seeds::world;

use std::collections::BTreeSet;

use diorama_seeds::doc::ScenarioDoc;

use super::*;
use crate::draws::WordingTurn;
use crate::scenarios::ScenarioDraw;

const HARBOUR: &str = include_str!("../tests/harbour.yaml");

fn template(doc: &WorldDoc) -> Arc<WorldTemplate> {
    WorldTemplate::new(doc, 99, &Shares::new(), &Ability::ALL).unwrap()
}

/// Returns a library whose APIs have phrases, without scenarios.
fn bare() -> WorldDoc {
    world::read("library.yaml", include_bytes!("../tests/library.yaml")).unwrap()
}

#[test]
fn each_kind_of_api_gets_scenarios_of_its_shape() {
    let (written, unwritten) = scenarios(&template(&bare())).unwrap();
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
    let text = world::beside_to_yaml("harbour", &file).unwrap();
    let mut with = doc;
    world::add_scenarios(&mut with, "harbour.scenarios.yaml", text.as_bytes()).unwrap();
    assert_eq!(with.scenarios, file.scenarios);
    assert!(template(&with).scenario_set.has_any(Ability::Call));
}

#[test]
fn rules_write_scenarios_only_for_abilities_without_authored_ones() {
    let all = Shares::new();
    let doc = crate::catalog::worlds().unwrap().into_iter().find(|doc| doc.name == "city_library").unwrap();
    let authored = complete(template(&doc), &all, &Ability::ALL).unwrap();
    assert_eq!(authored.scenario_set.scenarios().len(), doc.scenarios.len());
    let written = complete(template(&bare()), &all, &Ability::ALL).unwrap();
    let anywhere =
        ScenarioDraw { domain: None, place: 0.5, scenario: None, opening: WordingTurn { key: 1, number: 0 } };
    for ability in Ability::ALL {
        assert!(written.scenario_set.draw(ability, anywhere).is_some(), "{ability:?}");
    }
    // The same world gets the same scenarios.
    let again = complete(template(&bare()), &all, &Ability::ALL).unwrap();
    let docs = |template: &WorldTemplate| -> Vec<ScenarioDoc> {
        template.scenario_set.scenarios().iter().map(|scenario| scenario.doc.clone()).collect()
    };
    assert_eq!(docs(&written), docs(&again));
}

/// A document of a shop with nested bodies, records that forbid their deletion, and names that are no nouns.
const SHOP: &str = include_str!("../tests/shop.json");

fn shop() -> (Arc<WorldTemplate>, Vec<RuleScenario>, BTreeMap<ApiId, String>) {
    let read = diorama_openapi::import("shop.json", SHOP.as_bytes(), &Default::default()).unwrap();
    let template = template(&read.doc);
    let (written, unwritten) = scenarios(&template).unwrap();
    (template, written, unwritten)
}

#[test]
fn an_imported_document_gets_complete_conversations() {
    let (template, written, unwritten) = shop();
    let of = |name: &str| -> Vec<&RuleScenario> {
        written.iter().filter(|one| *template.world().api(one.api).name == *name).collect()
    };
    // A request for a record with an address, or with an item and a number, names these parts.
    for name in ["CreateCustomer", "AddJobLine"] {
        assert!(!of(name).is_empty(), "{name}: {unwritten:?}");
    }
    // A deletion waits for consent, and a record that forbids it is kept.
    let asks = |one: &&RuleScenario| {
        one.doc.goals.iter().flat_map(|goal| &goal.does).any(|step| !step.user.is_empty())
    };
    let removals = of("DeleteJob");
    let agreed: Vec<&&RuleScenario> = removals.iter().filter(|one| one.shape == Shape::Write).collect();
    assert!(!agreed.is_empty() && agreed.into_iter().all(asks), "{unwritten:?}");
    assert!(removals.iter().any(|one| one.shape == Shape::Refusal), "{:?}", removals.len());
    // A question about a list has a further goal about its answer.
    assert!(of("ListJobs").iter().any(|one| one.doc.goals.len() > 1), "{unwritten:?}");
    let ends = written.iter().flat_map(|one| &one.doc.goals).flat_map(|goal| &goal.end);
    for end in ends {
        assert!(!["Done.", "All set.", "That's done."].contains(&end.as_str()), "{end}");
    }
}

#[test]
fn lists_without_a_noun_and_reads_that_end_something_get_no_scenario() {
    let (template, _, unwritten) = shop();
    let reason = |name: &str| unwritten[&template.world().api_named(name).unwrap()].clone();
    assert!(reason("GetShopData").starts_with("people have no noun for what it lists"));
    assert_eq!(reason("RenewToken"), "it is called for a question, and ends something");
}

#[test]
fn a_request_that_gives_many_values_is_refused_with_that_reason() {
    let nights = "nights: {like: stay.nights}";
    let more =
        format!("{nights}, power: {{type: boolean}}, water: {{type: boolean}}, guard: {{type: boolean}}");
    let doc = world::read("harbour.yaml", HARBOUR.replace(nights, &more).as_bytes()).unwrap();
    let template = template(&doc);
    let (_, unwritten) = scenarios(&template).unwrap();
    let book = template.world().api_named("BookBerth").unwrap();
    assert_eq!(unwritten[&book], "its request gives more than 4 values");
}

#[test]
fn a_second_goal_uses_the_key_of_the_new_record() {
    let (template, written, unwritten) = shop();
    let made = template.world().api_named("CreateJob").unwrap();
    let uses = |one: &&RuleScenario| {
        let second = one.doc.goals.get(1).filter(|_| one.api == made);
        let calls = second.into_iter().flat_map(|goal| &goal.does).filter(|step| step.call.is_some());
        calls.flat_map(|step| step.with.values()).any(|given| *given == "found.id")
    };
    let used = written.iter().find(uses).unwrap_or_else(|| panic!("{unwritten:?}"));
    let words = &used.doc.goals[1].user;
    assert!(words.iter().all(|words| words.contains("to it")), "{words:?}");
}

#[test]
fn users_do_not_mention_generic_descriptions() {
    let (_, written, _) = shop();
    for one in &written {
        let mut said = one.doc.said_by_user().flatten();
        assert!(said.all(|words| !words.contains("description")), "{:?}", one.doc);
    }
}

#[test]
fn the_assistant_asks_for_the_member_that_the_user_names() {
    let (template, written, unwritten) = shop();
    let update = template.world().api_named("UpdateCustomer").unwrap();
    let asked: Vec<&RuleScenario> =
        written.iter().filter(|one| one.api == update && one.shape == Shape::AskBack).collect();
    assert!(!asked.is_empty(), "{unwritten:?}");
    // Users have no words for `reply_to`. They ask for the phone of a customer whom they name.
    for words in asked.iter().flat_map(|one| &one.doc.goals[0].user) {
        assert!(words.contains("the phone of {the_customer") && !words.contains("reply"), "{words}");
    }
    let says = |step: &diorama_seeds::doc::ScenarioStepDoc| step.say.clone();
    for words in asked.iter().flat_map(|one| one.doc.goals[0].does.iter().flat_map(says)) {
        assert!(words.contains("phone") && !words.contains("customer"), "{words}");
    }
}

#[test]
fn a_new_hook_has_its_address_and_no_user_gives_a_command_as_a_value() {
    let (template, written, unwritten) = shop();
    let create = template.world().api_named("CreateHook").unwrap();
    let made: Vec<&RuleScenario> = written.iter().filter(|one| one.api == create).collect();
    assert!(!made.is_empty(), "{unwritten:?}");
    let steps = made.iter().flat_map(|one| &one.doc.goals[0].does).filter(|step| step.call.is_some());
    assert!(steps.into_iter().all(|step| step.with.contains_key("url")), "{made:?}");
    let switch = template.world().api_named("SwitchHook").unwrap();
    assert!(written.iter().all(|one| one.api != switch), "no user gives a command as a value");
    // A fee without an amount is not asked for.
    assert!(
        written.iter().flat_map(|one| one.doc.said_by_user()).flatten().all(|words| !words.contains("fee"))
    );
}

#[test]
fn nobody_says_the_code_of_a_record_that_stands_on_no_paper() {
    let (_, written, _) = shop();
    for one in &written {
        assert_ne!(one.doc.who, SAYS_CODE, "{:?}", one.doc.said_by_user().flatten().next());
    }
}
