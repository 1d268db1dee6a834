//! Owns the tests of documents that inference does not understand: values are stored by path, and every reply
//! is valid.

use serde_json::{Value, json};

use super::imports::{Imports, answers, component};

/// Makes a document of tickets with notes below them, a body of several content types, and children that no
/// read returns.
fn document() -> Value {
    let key =
        |name: &str| json!([{"name": name, "in": "path", "required": true, "schema": {"type": "string"}}]);
    let keys = json!([key("desk_id")[0], key("ticket_id")[0]]);
    let body = |schema: Value| json!({"required": true, "content": {"application/json": {"schema": schema}}});
    let made = |schema: Value| json!({"201": {"description": "made", "content": {"application/json": {"schema": schema}}}});
    let page = json!({"type": "object", "required": ["tickets", "has_more"], "properties": {
        "tickets": {"type": "array", "items": component("Ticket")}, "has_more": {"type": "boolean"}}});
    let new = json!({"type": "object", "required": ["Subject"], "properties": {"Subject": {"type": "string", "maxLength": 40},
        "payload": {"oneOf": [component("Text"), component("Call")]}, "tags": {"type": "object", "additionalProperties": {"type": "string"}}}});
    let after = json!([{"name": "after", "in": "query", "schema": {"type": "string"}},
        {"name": "limit", "in": "query", "schema": {"type": "integer", "default": 20}},
        {"name": "order", "in": "query", "schema": {"type": "string", "enum": ["asc", "desc"], "default": "asc"}}]);
    let change =
        json!({"type": "object", "properties": {"Subject": {"type": "string"}, "note": {"type": "string"}}});
    json!({
        "openapi": "3.0.3", "info": {"title": "Desks", "version": "1"},
        "paths": {
            "/desks": {"get": {"responses": answers(json!({"type": "array", "items": component("Desk")}))}},
            "/desks/{desk_id}/tickets": {"parameters": key("desk_id"),
                "get": {"parameters": after, "responses": answers(page)},
                "post": {"requestBody": body(new.clone()), "responses": made(component("Ticket"))}},
            "/desks/{desk_id}/tickets/{ticket_id}": {"parameters": keys,
                "get": {"responses": answers(component("Ticket"))},
                "patch": {"requestBody": body(new), "responses": answers(component("Ticket"))},
                "put": {"requestBody": body(change), "responses": answers(component("Ticket"))},
                "delete": {"responses": {"204": {"description": "gone"}}}},
            "/evaluate": {"post": {"requestBody": body(json!({"type": "array", "items": {"type": "number"}})),
                "responses": answers(json!({"type": "object", "required": ["score"], "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}}}))}},
        },
        "components": {"schemas": {
            "Desk": {"type": "object", "required": ["id", "name"], "properties": {
                "id": {"type": "string", "pattern": "^DSK-[0-9]{4}$"}, "name": {"type": "string"}}},
            "Text": {"type": "object", "required": ["text"], "additionalProperties": false, "properties": {"text": {"type": "string"}}},
            "Call": {"type": "object", "required": ["number"], "additionalProperties": false, "properties": {"number": {"type": "string", "pattern": "^\\+[0-9]{6,}$"}}},
            "Ticket": {"type": "object", "required": ["id", "desk_id", "subject", "payload", "state"], "properties": {
                "id": {"type": "string"}, "desk_id": {"type": "string"}, "subject": {"type": "string"},
                "payload": {"oneOf": [component("Text"), component("Call")]},
                "tags": {"type": "object", "additionalProperties": {"type": "string"}}, "note": {"type": "string"},
                "created_at": {"type": "integer"}, "deleted_at": {"type": "integer", "nullable": true},
                "state": {"type": "string", "enum": ["open", "closed"]}}},
        }},
    })
}

/// Makes a call, and checks the reply against its schema.
fn call(desks: &mut Imports, method: &str, path: &str, arguments: Value) -> (u16, Value) {
    let (status, body) = desks.call(method, path, arguments.clone());
    if status < 300 {
        assert_eq!(
            desks.refused(method, path, &body),
            Vec::<String>::new(),
            "{method} {path} {arguments} {body}"
        );
    }
    (status, body)
}

const TICKETS: &str = "/desks/{desk_id}/tickets";
const TICKET: &str = "/desks/{desk_id}/tickets/{ticket_id}";

#[test]
fn what_is_sent_is_kept_by_its_path_and_shown_by_its_schema() {
    let mut desks = Imports::made("desks.json", document());
    let all = desks.get("/desks", json!({}));
    let (here, there) = (all[0]["id"].clone(), all[1]["id"].clone());
    let sent = json!({"desk_id": here, "Subject": "No heating", "payload": {"number": "+351210000"}, "tags": {"room": "4b"}});
    let (status, made) = call(&mut desks, "POST", TICKETS, sent.clone());
    assert_eq!((status, &made["subject"], &made["desk_id"]), (201, &sent["Subject"], &here), "{made}");
    assert_eq!((&made["payload"], &made["tags"]), (&sent["payload"], &sent["tags"]), "{made}");
    let of = |desk: &Value| json!({"desk_id": desk, "ticket_id": made["id"]});
    assert_eq!(call(&mut desks, "GET", TICKET, of(&here)), (200, made.clone()));
    assert_eq!(call(&mut desks, "GET", TICKET, of(&there)).0, 404);
    let ids = |page: &Value| -> Vec<Value> {
        page["tickets"].as_array().expect("a list").iter().map(|ticket| ticket["id"].clone()).collect()
    };
    let listed = call(&mut desks, "GET", TICKETS, json!({"desk_id": here})).1;
    assert!(ids(&listed).contains(&made["id"]), "{listed}");
    assert!(!ids(&call(&mut desks, "GET", TICKETS, json!({"desk_id": there})).1).contains(&made["id"]));
    let first = call(&mut desks, "GET", TICKETS, json!({"desk_id": here, "limit": 1})).1;
    let next =
        call(&mut desks, "GET", TICKETS, json!({"desk_id": here, "limit": 1, "after": ids(&first)[0]})).1;
    assert_eq!((&first["has_more"], ids(&listed).get(1)), (&json!(true), ids(&next).first()));
    let mut change = of(&here);
    change["Subject"] = json!("Heating again");
    let changed = call(&mut desks, "PATCH", TICKET, change).1;
    assert_eq!(
        (&changed["subject"], &changed["payload"]),
        (&json!("Heating again"), &sent["payload"]),
        "{changed}"
    );
    assert_eq!(call(&mut desks, "DELETE", TICKET, of(&here)).0, 204);
    assert_eq!(call(&mut desks, "GET", TICKET, of(&here)).0, 404);
}

#[test]
fn what_a_schema_forbids_is_refused() {
    let mut desks = Imports::made("desks.json", document());
    let desk = desks.get("/desks", json!({}))[0]["id"].clone();
    let check = |desks: &mut Imports, more: Value, expect: u16| {
        let mut arguments = json!({"desk_id": desk});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        assert_eq!(desks.call("POST", TICKETS, arguments).0, expect, "{more}");
    };
    check(&mut desks, json!({}), 400);
    check(&mut desks, json!({"Subject": 7}), 400);
    check(&mut desks, json!({"Subject": "x".repeat(41)}), 400);
    check(&mut desks, json!({"Subject": "a", "payload": {"number": "none"}}), 400);
    check(&mut desks, json!({"Subject": "a", "unheard_of": 1}), 201);
    assert_eq!(desks.call("POST", TICKETS, json!({"desk_id": "DSK-none", "Subject": "a"})).0, 404);
    assert_eq!(desks.call("POST", "/evaluate", json!({"body": [0.5, 1]})).0, 200);
    assert_eq!(desks.call("POST", "/evaluate", json!({"body": ["a"]})).0, 400);
}

#[test]
fn something_new_shows_nothing_that_nobody_said_and_comes_last() {
    let mut desks = Imports::made("desks.json", document());
    let desk = desks.get("/desks", json!({}))[0]["id"].clone();
    let sent = json!({"desk_id": desk, "Subject": "No heating", "payload": {"text": "It is cold."}});
    let new: Vec<Value> =
        (0..3).map(|_| call(&mut desks, "POST", TICKETS, sent.clone()).1["id"].clone()).collect();
    let list = |desks: &mut Imports, order: &str| -> Vec<Value> {
        let page = call(desks, "GET", TICKETS, json!({"desk_id": desk, "order": order})).1;
        page["tickets"].as_array().expect("a list").clone()
    };
    let mut all = list(&mut desks, "asc");
    let (old, made) = all.split_at(all.len() - new.len());
    let ids: Vec<&Value> = made.iter().map(|ticket| &ticket["id"]).collect();
    assert_eq!(ids, new.iter().collect::<Vec<_>>());
    for ticket in made {
        let shown = json!({"id": ticket["id"], "desk_id": desk, "subject": "No heating", "payload": sent["payload"],
            "created_at": ticket["created_at"], "deleted_at": null, "state": "open"});
        assert_eq!(*ticket, shown);
        assert!(old.iter().all(|old| old["created_at"].as_i64() < ticket["created_at"].as_i64()), "{old:?}");
    }
    assert!(!old.is_empty() && old.iter().all(|ticket| ticket["deleted_at"].is_null()), "{old:?}");
    all.reverse();
    assert_eq!(list(&mut desks, "desc"), all);
    let put = json!({"desk_id": desk, "ticket_id": new[0], "note": "Called."});
    let put = call(&mut desks, "PUT", TICKET, put).1;
    assert_eq!((&put["note"], &put["subject"]), (&json!("Called."), &sent["Subject"]));
}
