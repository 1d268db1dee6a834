//! Owns the test of a document whose schemas all refer to each other, as in generated documents. Its full
//! expansion would exceed any memory.

use diorama_openapi::{ImportOptions, import};
use serde_json::{Map, Value, json};

use super::imports::{Imports, answers, component, list_of};

/// Number of schemas.
const THINGS: usize = 24;
/// Number of schemas that each refers to, besides the one that it requires.
const OTHERS: usize = 4;

/// Makes a document of schemas that refer to each other. Each requires the next, in another part of its
/// `allOf` than its description. Every fourth requires none, so that the chain ends.
fn document() -> Value {
    let thing = |place: usize| format!("thing{}", place % THINGS);
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for place in 0..THINGS {
        let mut properties =
            json!({"id": {"type": "integer"}, "name": {"type": "string"}, "size": {"type": "number"}});
        for other in 1..=OTHERS {
            properties[format!("other_{other}")] = component(&thing(place + other * 5));
        }
        properties["friends"] = list_of(&thing(place + 2));
        let mut required = vec!["id", "name"];
        if place % 4 != 3 {
            properties["base"] = component(&thing(place + 1));
            required.push("base");
        }
        let all = json!({"allOf": [{"type": "object", "properties": properties}, {"required": required}]});
        schemas.insert(format!("thing{place}"), all);
        paths.insert(
            format!("/thing{place}s"),
            json!({"get": {"responses": answers(list_of(&thing(place)))}}),
        );
        let key = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}});
        let one = json!({"parameters": [key], "get": {"responses": answers(component(&thing(place)))}});
        paths.insert(format!("/thing{place}s/{{id}}"), one);
    }
    json!({"openapi": "3.1.0", "info": {"title": "Dense", "version": "1"}, "paths": paths,
        "components": {"schemas": schemas}})
}

#[test]
fn schemas_that_all_refer_to_each_other_are_cut_where_nothing_is_required_and_keep_their_promise() {
    let document = document();
    let mut dense = Imports::made("dense.json", document.clone());
    let cut = |reason: &str| reason.starts_with("its schemas refer to each other too often");
    let notes = dense.imported.notes.iter().filter(|note| cut(&note.reason)).count();
    assert_eq!(notes, THINGS * 2, "{:?}", dense.imported.notes);
    let mut embedded = 0;
    for place in 0..THINGS {
        let list = dense.get(&format!("/thing{place}s"), json!({}));
        let first = list.as_array().and_then(|list| list.first()).expect("there are things").clone();
        let one = dense.get(&format!("/thing{place}s/{{id}}"), json!({"id": first["id"]}));
        assert_eq!(one["name"], first["name"]);
        for (kind, body) in [("array", &list), ("object", &one)] {
            let of = component(&format!("thing{place}"));
            let schema = match kind {
                "array" => json!({"type": kind, "items": of, "components": document["components"]}),
                _ => json!({"allOf": [of], "components": document["components"]}),
            };
            let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
            let wrong: Vec<String> =
                validator.iter_errors(body).map(|error| error.to_string()).take(3).collect();
            assert!(wrong.is_empty(), "thing{place}: {wrong:?} in {body}");
        }
        embedded += usize::from(one["other_1"]["name"].is_string());
    }
    assert!(embedded > THINGS / 2, "only {embedded} things show what they refer to");
    let again = import("dense.json", document.to_string().as_bytes(), &ImportOptions::default());
    assert_eq!(again.expect("it imports").doc, dense.imported.doc);
}
