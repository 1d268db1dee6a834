use std::collections::BTreeMap;

use diorama_seeds::doc::WorldDoc;
use diorama_seeds::task::Call;
use serde_json::{Value as Json, json};

use super::operation::fill;
use super::replay::{GoldReplay, Replayer};
use super::*;

/// Answers paths by a script, and others with 404.
fn answers(doc: &WorldDoc, script: &BTreeMap<&'static str, Json>) -> impl FnMut(&Call) -> (u16, Json) {
    move |call| {
        let api = doc.apis.iter().find(|api| api.name == call.api).unwrap();
        let (path, _) = fill(&api.path, &call.arguments);
        script.get(path.as_str()).map_or((404, json!({})), |body| (200, body.clone()))
    }
}

fn outcome(change: impl Fn(&mut BTreeMap<&'static str, Json>)) -> GoldReplay {
    let source = "{world: 1, name: films, clock: 2026-03-02T09:00,
        domain: {name: films, schemas: {Film: {x-resource: film, properties: {id: {type: integer}, title: {type: string}}}}}, resources: {
        film: {key: film_id, display: title, fields: {film_id: {type: integer}, title: {type: string}}},
        person: {key: person_id, display: name, fields: {person_id: {type: integer}, name: {type: string}}},
        credit: {key: credit_id, fields: {film_id: {ref: film}, person_id: {ref: person}, job: {type: string}}}}, apis: [
        {name: A, method: GET, path: /search/film, parameters: {query: {type: string}},
         behaviour: {list: film, filters: {query: {text: [title]}}}, reply: {items: results},
         contract: {reply: {properties: {results: {items: {$ref: '#/schemas/Film'}}}}}},
        {name: B, method: GET, path: '/film/{film_id}', parameters: {film_id: {ref: film}}, behaviour: {get: film},
         contract: {reply: {$ref: '#/schemas/Film'}}},
        {name: C, method: GET, path: '/film/{film_id}/credits', parameters: {film_id: {ref: film}}, behaviour: {get: film},
         contract: {reply: {properties: {id: {type: integer}, team: {items: {x-resource: person, properties: {
           id: {type: integer}, name: {type: string}, job: {type: string}}}}}}}},
        {name: E, method: GET, path: '/film/{film_id}/tags', parameters: {film_id: {ref: film}}, behaviour: {},
         contract: {reply: {properties: {id: {type: integer}, tags: {items: {type: string}}}}}},
        {name: D, method: GET, path: '/person/{person_id}', parameters: {person_id: {ref: person}}, behaviour: {get: person},
         contract: {reply: {x-resource: person, properties: {id: {type: integer}, name: {type: string}}}}}]}";
    let doc = diorama_seeds::world::read("films", source.as_bytes()).unwrap();
    let mut script = BTreeMap::from([
        ("/search/film", json!({"results": [{"id": 4, "title": "Kite"}, {"id": 7, "title": "Kite Hill"}]})),
        ("/film/4", json!({"id": 4, "title": "Kite"})),
        ("/film/7", json!({"id": 7, "title": "Kite Hill"})),
        (
            "/film/7/credits",
            json!({"id": 7, "team": [{"id": 31, "name": "Ada Byrne", "job": "Actor"},
                {"id": 32, "name": "Bo Quinn", "job": "Director"}]}),
        ),
        ("/film/7/tags", json!({"id": 7, "tags": ["windy"]})),
        ("/person/31", json!({"id": 31, "name": "Ada Byrne"})),
        ("/person/32", json!({"id": 32, "name": "Bo Quinn"})),
    ]);
    change(&mut script);
    let queries: Vec<Query> = serde_json::from_value(json!([{
        "query": "Where was the director of the film Kite Hill born?",
        "solution":
            ["GET /search/film ", "GET /film/{id}/tags", "GET /film/{id}/credits", "GET /person/{person_id}"],
    }]))
    .unwrap();
    let operations = Operations::of(&doc);
    Replayer::new(&operations, answers(&doc, &script), &queries[0]).run()
}

#[test]
fn a_path_follows_what_was_searched_and_whom_the_query_asks_about() {
    let outcome = outcome(|_| ());
    let calls: Vec<&str> = outcome.calls.iter().map(|made| made.call.as_str()).collect();
    let tags = "GET /film/7/tags";
    assert_eq!(calls, ["GET /search/film?query=Kite Hill", tags, "GET /film/7/credits", "GET /person/32"]);
    assert_eq!((outcome.faults, outcome.agreeing), (vec![], 4));
}

#[test]
fn one_of_several_records_is_no_only_candidate() {
    assert!(!outcome(|_| ()).has_chosen_ids(), "the name and the job tell which is meant");
    let check = |team: Json| {
        let outcome = outcome(|script| {
            script.insert("/film/7/credits", json!({"id": 7, "team": team}));
        });
        assert_eq!(outcome.faults, Vec::<String>::new());
        outcome.has_chosen_ids()
    };
    let (ada, bo) = (json!({"id": 31, "name": "Ada Byrne"}), json!({"id": 32, "name": "Bo Quinn"}));
    assert!(check(json!([ada, bo])));
    assert!(!check(json!([ada])) && !check(json!([ada, ada])));
}

#[test]
fn what_does_not_agree_is_a_fault() {
    let check = |path: &'static str, body: Json, expect: &str| {
        let outcome = outcome(|script| {
            script.insert(path, body.clone());
        });
        assert!(outcome.faults.iter().any(|fault| fault.starts_with(expect)), "{path}: {:?}", outcome.faults);
    };
    check(
        "/film/4",
        json!({"id": 4, "title": "Kites"}),
        "name: GET /search/film?query=Kite Hill shows the film 4",
    );
    check("/person/31", json!({"id": 9, "name": "Ada Byrne"}), "name: ");
    check("/film/7/credits", json!({"id": 8, "team": [{"id": 31, "name": "Ada Byrne"}]}), "key: ");
    // A body that is no record has the key of the record that its path is below.
    check(
        "/film/7/tags",
        json!({"id": 8, "tags": []}),
        "key: /film/{film_id}/tags was asked for 7 and shows the key 8",
    );
    check("/film/7/credits", json!({"id": 7, "team": []}), "no key: ");
    check("/search/film", json!({"results": [{"id": 4, "title": "Kite"}]}), "search: ");
    let gone = outcome(|script| {
        script.remove("/film/7/credits");
    });
    assert!(gone.faults.iter().any(|fault| fault.starts_with("status: GET /film/7/credits answered 404")));
}
