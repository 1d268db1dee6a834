//! Records that are added to a list inside another record, actions that are repeated, and names that are taken.

use serde_json::{Value as Json, json};

use super::session::{Session, answers, array, document, named, object, parameter, sends};

/// Returns the document of a repair shop. `part` is the schema of parts, and `reply` the one that `POST
/// /repairs/{id}/parts` answers with.
fn repairs(part: Json, reply: Json) -> Session {
    let text = json!({"type": "string"});
    let id = json!({"type": "string", "format": "uuid", "readOnly": true});
    let state = json!({"type": "string", "enum": ["open", "in_progress", "completed"]});
    let mut repair = object(json!({
        "id": id, "customer": text, "status": state, "parts": array(named("Part")),
        "completed_at": {"type": "string", "format": "date-time", "nullable": true}}));
    repair["required"] = json!(["id", "customer", "status", "parts"]);
    let key = json!([parameter("id", "path", text.clone())]);
    let mut complete = answers("200", named("Repair"));
    complete["409"] = json!({"description": "The repair is completed already."});
    let paths = json!({
        "/repairs": {
            "get": {"operationId": "listRepairs", "responses": answers("200", array(named("Repair")))},
            "post": {"operationId": "addRepair", "requestBody": sends(object(json!({"customer": text}))), "responses": answers("201", named("Repair"))}},
        "/repairs/{id}": {"parameters": key, "get": {"operationId": "getRepair", "responses": answers("200", named("Repair"))}},
        "/repairs/{id}/parts": {"parameters": key, "post": {"operationId": "addPart", "requestBody": sends(named("Part")), "responses": answers("201", reply)}},
        "/repairs/{id}/complete": {"parameters": key, "post": {"operationId": "completeRepair", "responses": complete}},
    });
    Session::of(&document(paths, json!({"Repair": repair, "Part": part})))
}

fn part() -> Json {
    let mut part = object(json!({"part_number": {"type": "string"}, "quantity": {"type": "integer"}}));
    part["required"] = json!(["part_number", "quantity"]);
    part
}

#[test]
fn what_is_added_to_a_record_is_shown_in_it_and_by_the_reply() {
    let keyed = {
        let mut part = part();
        part["properties"]["id"] = json!({"type": "string", "readOnly": true});
        part
    };
    let wrapped = || object(json!({"parts": array(named("Part"))}));
    for (part, reply) in [
        (part(), named("Repair")),
        (part(), named("Part")),
        (part(), wrapped()),
        (keyed.clone(), named("Repair")),
        (keyed, named("Part")),
    ] {
        let mut desk = repairs(part, reply.clone());
        let sent = json!({"part_number": "PN-77", "quantity": 3});
        let is_sent = |shown: &Json| shown["part_number"] == "PN-77" && shown["quantity"] == 3;
        let id = desk.call("AddRepair", json!({"customer": "Ada"})).1["id"].clone();
        let mut with_id = sent.clone();
        with_id["id"] = id.clone();
        let (status, shown) = desk.call("AddPart", with_id);
        assert_eq!(status, 201, "{shown}");
        let (_, repair) = desk.call("GetRepair", json!({"id": id}));
        let parts = repair["parts"].as_array().unwrap();
        assert!(parts.len() == 1 && is_sent(&parts[0]), "{reply}: {repair}");
        if reply == named("Repair") {
            assert_eq!(shown, repair);
        } else if reply == named("Part") {
            assert!(is_sent(&shown), "{shown}");
        } else {
            assert_eq!(shown["parts"], repair["parts"], "{shown}");
        }
    }
}

#[test]
fn a_part_that_names_something_else_has_a_key_of_its_own() {
    let text = json!({"type": "string"});
    let used = object(json!({"item_id": text, "quantity": {"type": "integer"}}));
    let item = object(json!({"id": text, "name": text}));
    let basket = object(json!({"id": text, "items": array(named("Used"))}));
    let key = json!([parameter("id", "path", text.clone())]);
    let paths = json!({
        "/items": {"get": {"operationId": "listItems", "responses": answers("200", array(named("Item")))}},
        "/items/{id}": {"parameters": key, "get": {"operationId": "getItem", "responses": answers("200", named("Item"))}},
        "/baskets": {"get": {"operationId": "listBaskets", "responses": answers("200", array(named("Basket")))}},
        "/baskets/{id}": {"parameters": key, "get": {"operationId": "getBasket", "responses": answers("200", named("Basket"))}},
        "/baskets/{id}/items": {"parameters": key, "post": {"operationId": "addItem", "requestBody": sends(named("Used")), "responses": answers("201", named("Used"))}},
    });
    let mut desk = Session::of(&document(paths, json!({"Used": used, "Item": item, "Basket": basket})));
    let item = desk.call("ListItems", json!({})).1[0]["id"].clone();
    let (_, baskets) = desk.call("ListBaskets", json!({}));
    for basket in baskets.as_array().unwrap().iter().take(2) {
        let sent = json!({"id": basket["id"], "item_id": item, "quantity": 3});
        assert_eq!(desk.call("AddItem", sent).1["item_id"], item);
        let (_, shown) = desk.call("GetBasket", json!({"id": basket["id"]}));
        let is_sent = |used: &Json| used["item_id"] == item && used["quantity"] == 3;
        assert!(shown["items"].as_array().unwrap().iter().any(is_sent), "{shown}");
    }
}

#[test]
fn an_action_that_would_change_nothing_is_refused_as_declared() {
    let mut desk = repairs(part(), named("Repair"));
    let id = desk.call("AddRepair", json!({"customer": "Ada"})).1["id"].clone();
    let (status, done) = desk.call("CompleteRepair", json!({"id": id}));
    assert_eq!((status, &done["status"]), (200, &json!("completed")), "{done}");
    assert_eq!(desk.call("CompleteRepair", json!({"id": id})).0, 409);
    assert_eq!(desk.call("GetRepair", json!({"id": id})).1, done);
}

#[test]
fn names_that_address_records_are_taken_once_below_a_parent() {
    let text = json!({"type": "string"});
    let label = object(json!({"id": {"type": "integer", "readOnly": true}, "name": text, "colour": text}));
    let keys =
        |names: &[&str]| -> Json { names.iter().map(|name| parameter(name, "path", text.clone())).collect() };
    for (declared, expect) in [("409", 409), ("422", 422)] {
        let mut made = answers("201", named("Label"));
        made[declared] = json!({"description": "The name is taken."});
        let mut changed = answers("200", named("Label"));
        changed[declared] = made[declared].clone();
        let repo = object(json!({"id": text, "title": text}));
        let paths = json!({
            "/repos": {"get": {"operationId": "listRepos", "responses": answers("200", array(named("Repo")))}},
            "/repos/{id}": {"parameters": keys(&["id"]), "get": {"operationId": "getRepo", "responses": answers("200", named("Repo"))}},
            "/repos/{id}/labels": {"parameters": keys(&["id"]),
                "get": {"operationId": "listLabels", "responses": answers("200", array(named("Label")))},
                "post": {"operationId": "addLabel", "requestBody": sends(object(json!({"name": text, "colour": text}))), "responses": made}},
            "/repos/{id}/labels/{name}": {"parameters": keys(&["id", "name"]),
                "get": {"operationId": "getLabel", "responses": answers("200", named("Label"))},
                "patch": {"operationId": "changeLabel", "requestBody": sends(object(json!({"new_name": text}))), "responses": changed}},
        });
        let mut desk = Session::of(&document(paths, json!({"Repo": repo, "Label": label})));
        let (_, repos) = desk.call("ListRepos", json!({}));
        let [one, two] = [0, 1].map(|at| repos[at]["id"].clone());
        let add = |desk: &mut Session, id: &Json, name: &str| {
            desk.call("AddLabel", json!({"id": id, "name": name, "colour": "red"})).0
        };
        assert_eq!(add(&mut desk, &one, "bug"), 201);
        assert_eq!(add(&mut desk, &one, "bug"), expect);
        assert_eq!(add(&mut desk, &two, "bug"), 201);
        assert_eq!(add(&mut desk, &one, "idea"), 201);
        let rename = |desk: &mut Session, name: &str| {
            desk.call("ChangeLabel", json!({"id": one, "name": "idea", "new_name": name})).0
        };
        assert_eq!(rename(&mut desk, "bug"), expect);
        assert_eq!(rename(&mut desk, "idea"), 200);
        assert_eq!(rename(&mut desk, "wish"), 200);
    }
}
