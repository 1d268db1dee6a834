//! Paths that leave look-ups out, in the world of a document.

use std::sync::Arc;

use diorama_engine::Base;
use diorama_engine::session::{Session, SessionOptions};
use diorama_openapi::{ImportOptions, import};
use diorama_seeds::materialise::materialised;

use super::*;
use crate::restbench::replay::Made;

const DOCUMENT: &str = r##"
openapi: 3.0.3
info: {title: Gardens, version: "1"}
paths:
  /garden: {get: {responses: {"200": {description: All, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Garden"}}}}}}}}
  /garden/{garden_id}: {get: {parameters: [{$ref: "#/components/parameters/garden"}], responses: {"200": {description: One, content: {application/json: {schema: {$ref: "#/components/schemas/Garden"}}}}}}}
  /garden/{garden_id}/plants: {get: {parameters: [{$ref: "#/components/parameters/garden"}], responses: {"200": {description: Its plants, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Plant"}}}}}}}}
  /plant/newest: {get: {responses: {"200": {description: New ones, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Plant"}}}}}}}}
  /plant/{plant_id}: {get: {parameters: [{name: plant_id, in: path, required: true, schema: {type: integer}}], responses: {"200": {description: One, content: {application/json: {schema: {$ref: "#/components/schemas/PlantDetails"}}}}}}}
  /breeder/{breeder_id}: {get: {parameters: [{name: breeder_id, in: path, required: true, schema: {type: integer}}], responses: {"200": {description: One, content: {application/json: {schema: {$ref: "#/components/schemas/Breeder"}}}}}}}
  /prize/{prize_id}: {get: {parameters: [{name: prize_id, in: path, required: true, schema: {type: integer}}], responses: {"200": {description: One, content: {application/json: {schema: {type: object, properties: {id: {type: integer}, name: {type: string}}}}}}}}}
components:
  parameters: {garden: {name: garden_id, in: path, required: true, schema: {type: integer}}}
  schemas:
    Garden: {type: object, properties: {id: {type: integer}, name: {type: string}, town: {type: string}}}
    Plant: {type: object, properties: {id: {type: integer}, name: {type: string}, garden_id: {type: integer}}}
    PlantDetails: {type: object, properties: {id: {type: integer}, name: {type: string}, garden_id: {type: integer}, breeder: {$ref: "#/components/schemas/Breeder"}}}
    Breeder: {type: object, properties: {id: {type: integer}, name: {type: string}}}
"##;

fn replayed(query: &str, solution: &[&str], paths: Paths) -> (Replayed, bool) {
    let mut doc = import("gardens", DOCUMENT.as_bytes(), &ImportOptions::default()).unwrap().doc;
    let operations = Operations::of(&doc);
    let queries: Vec<Query> =
        serde_json::from_value(json!([{"query": query, "solution": solution}])).unwrap();
    assert_eq!(entities(&queries, &operations).put_into(&mut doc), vec![]);
    let base = Base::new(materialised(&doc, 0).unwrap().world.clone()).unwrap();
    let service = InSession::new(&doc, Session::new(Arc::clone(&base), SessionOptions::default()));
    let replayed = Replayer::new(&operations, service, &queries[0], paths).run().unwrap();
    let every = replayed.every_call_succeeded(&queries[0]);
    (replayed, every)
}

/// The calls of a path without their ids, and what was inserted of them.
fn check(query: &str, solution: &[&str], expect: &[&str], inserted: usize) {
    let (outcome, every) = replayed(query, solution, Paths::Completed);
    let plain = |made: &Made| made.call.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    assert_eq!(outcome.calls.iter().map(plain).collect::<Vec<_>>(), expect, "{outcome:#?}");
    let found = outcome.calls.iter().filter(|made| made.is_inserted).count();
    assert_eq!((found, outcome.faults.len(), every), (inserted, 0, true), "{outcome:#?}");
    let (as_written, every) = replayed(query, solution, Paths::AsWritten);
    assert!(as_written.faults[0].starts_with("no key: ") && !every, "{as_written:#?}");
}

#[test]
fn a_name_is_found_in_the_list_of_its_kind() {
    check(
        "What grows in Kite Hill?",
        &["GET /garden/{id}/plants"],
        &["GET /garden", "GET /garden//plants"],
        1,
    );
}

#[test]
fn an_id_is_found_by_way_of_a_reply() {
    check(
        "Who bred the plants of Kite Hill?",
        &["GET /garden/{id}/plants", "GET /breeder/{id}"],
        &["GET /garden", "GET /garden//plants", "GET /plant/", "GET /breeder/"],
        2,
    );
}

#[test]
fn an_id_is_found_by_way_of_two_replies() {
    check(
        "Who bred the plants of Kite Hill?",
        &["GET /garden/{id}", "GET /breeder/{id}"],
        &["GET /garden", "GET /garden/", "GET /garden//plants", "GET /plant/", "GET /breeder/"],
        3,
    );
}

#[test]
fn an_id_that_nothing_leads_to_is_a_fault() {
    let (outcome, _) =
        replayed("Which prize went to Kite Hill?", &["GET /garden", "GET /prize/{id}"], Paths::Completed);
    assert_eq!(
        outcome.faults,
        ["no key: no earlier reply shows a prize for /prize/{prize_id}"],
        "{outcome:#?}"
    );
    // A list of just any plants does not lead to the plant that is meant.
    let (outcome, _) = replayed("Show me the plant.", &["GET /plant/{id}"], Paths::Completed);
    assert_eq!((outcome.calls.len(), outcome.faults.len()), (0, 1), "{outcome:#?}");
}
