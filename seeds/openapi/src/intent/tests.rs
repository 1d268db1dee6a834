//! Checks how operations that are named by a verb are rewritten.

use serde_json::{Value as Json, json};

use crate::import;

fn content(schema: &Json) -> Json {
    json!({"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}})
}

#[test]
fn a_verb_may_name_its_member_and_another_group_may_remove() {
    let text = json!({"type": "string"});
    let topic = json!({"type": "object", "required": ["value"], "properties": {"value": text}});
    let room = json!({"type": "object", "required": ["id", "name"], "properties": {
        "id": text, "name": text, "purpose": text, "topic": topic}});
    let one = json!({"type": "object", "properties": {"ok": {"type": "boolean"}, "room": room}});
    let all = json!({"type": "object", "properties": {"rooms": {"type": "array", "items": room}}});
    let done = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}});
    let form = |members: Json, required: &[&str]| {
        let schema = json!({"type": "object", "required": required, "properties": members});
        json!({"content": {"application/x-www-form-urlencoded": {"schema": schema}}})
    };
    let key = json!([{"name": "room", "in": "query", "schema": text}]);
    let topic = form(json!({"room": text, "topic": text}), &[]);
    let gone = form(json!({"room_id": text}), &["room_id"]);
    let root = json!({"openapi": "3.0.0", "info": {"title": "Rooms", "version": "1"}, "paths": {
        "/rooms.list": {"get": {"responses": content(&all)}},
        "/rooms.info": {"get": {"parameters": key, "responses": content(&one)}},
        "/rooms.archive": {"post": {"requestBody": form(json!({"room": text}), &[]), "responses": content(&done)}},
        "/rooms.setTopic": {"post": {"requestBody": topic, "responses": content(&one)}},
        "/admin.rooms.delete": {"post": {"requestBody": gone, "responses": content(&done)}}}});
    let found = import("rooms.json", root.to_string().as_bytes(), &Default::default()).unwrap();
    let behaviour = |path: &str| &found.doc.apis.iter().find(|api| api.path == path).unwrap().behaviour;
    let set = behaviour("/rooms.setTopic");
    assert_eq!([set.patch.as_deref(), set.keep.as_deref()], [Some("room"), Some("kept")]);
    let gone = &behaviour("/admin.rooms.delete").also;
    assert_eq!(gone.iter().map(|effect| effect.delete.as_deref()).collect::<Vec<_>>(), [Some("room")]);
}

#[test]
fn a_verb_may_stand_behind_its_noun_and_before_the_ending_of_a_file() {
    let text = json!({"type": "string"});
    let client = json!({"type": "object", "properties": {"id": text, "name": text, "notes": text}});
    let pool = json!({"type": "object", "properties": {"name": text, "created_at": text}});
    let post = |members: &[&str], reply: Json| {
        let properties: serde_json::Map<String, Json> =
            members.iter().map(|name| ((*name).to_owned(), text.clone())).collect();
        let schema = json!({"type": "object", "required": members, "properties": properties});
        json!({"post": {"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}, "responses": content(&reply)}})
    };
    let list = |item: &Json| json!({"type": "array", "items": item});
    let root = json!({"openapi": "3.0.0", "info": {"title": "Mail", "version": "1"}, "paths": {
        "/clients/list.json": post(&["key"], list(&client)),
        "/clients/add.json": post(&["key", "id", "name"], client.clone()),
        "/clients/info.json": post(&["key", "id"], client.clone()),
        "/clients/update.json": post(&["key", "id", "notes"], client.clone()),
        "/clients/delete.json": post(&["key", "id"], client.clone()),
        "/ips/list-pools.json": post(&["key"], list(&pool)),
        "/ips/create-pool.json": post(&["key", "pool"], pool.clone()),
        "/ips/delete-pool.json": post(&["key", "pool"], pool)}});
    let found = import("mail.json", root.to_string().as_bytes(), &Default::default()).unwrap();
    let behaviour = |path: &str| &found.doc.apis.iter().find(|api| api.path == path).unwrap().behaviour;
    assert!(behaviour("/clients/list.json").list.is_some());
    assert!(behaviour("/clients/add.json").create.is_some());
    assert!(behaviour("/clients/info.json").get.is_some());
    assert!(behaviour("/clients/update.json").patch.is_some());
    assert!(!behaviour("/clients/delete.json").also.is_empty());
    assert!(behaviour("/ips/list-pools.json").list.is_some());
    let made = behaviour("/ips/create-pool.json");
    assert_eq!(made.create, behaviour("/ips/list-pools.json").list);
    let pools = &found.doc.resources[made.create.as_ref().unwrap()];
    assert_eq!(made.set.get(&pools.key).map(String::as_str), Some("args.pool"));
}
