//! Owns the tests of documents with gaps: replies that only examples describe, keys that no schema has,
//! records that another path describes more fully, lists of keys, removals of whole lists, and headers.

use diorama_tests::requests::serve;
use serde_json::{Value, json};

use super::imports::{Imports, answers};

fn key(name: &str) -> Value {
    json!([{"name": name, "in": "path", "required": true, "schema": {"type": "string"}}])
}

fn body(schema: Value) -> Value {
    json!({"required": true, "content": {"application/json": {"schema": schema}}})
}

fn document(paths: Value) -> Value {
    json!({"openapi": "3.0.3", "info": {"title": "Observatory", "version": "1"}, "paths": paths})
}

#[test]
fn examples_promise_where_no_schema_does() {
    let star = |id: &str, name: &str| json!({"id": id, "type": "star", "attributes": {"name": name, "magnitude": 4}});
    let shows = |example: Value| json!({"200": {"description": "ok", "content": {"application/json": {"example": example}}}});
    let attributes = json!({"type": "object", "properties": {"name": {"type": "string"}, "magnitude": {"type": "integer"}}});
    let sent = json!({"type": "object", "required": ["data"], "properties": {"data": {"type": "object", "properties": {
        "type": {"type": "string"}, "attributes": attributes}}}});
    let mut sky = Imports::made(
        "sky.json",
        document(json!({
            "/stars": {"get": {"responses": shows(json!({"data": [star("s1", "Vega")], "included": []}))},
                "post": {"requestBody": body(sent), "responses": shows(json!({"data": star("s1", "Vega")}))}},
            "/stars/{id}": {"parameters": key("id"), "get": {"responses": shows(json!({"data": star("s1", "Vega"), "included": [star("s2", "Deneb")]}))}},
        })),
    );
    let all = sky.get("/stars", json!({}));
    let first = &all["data"][0];
    assert_eq!(sky.get("/stars/{id}", json!({"id": first["id"]}))["data"], *first);
    let new = json!({"data": {"type": "star", "attributes": {"name": "Altair", "magnitude": 1}}});
    let (status, made) = sky.call("POST", "/stars", new);
    assert_eq!((status, &made["data"]["attributes"]["name"]), (200, &json!("Altair")), "{made}");
    let shown = sky.get("/stars/{id}", json!({"id": made["data"]["id"]}));
    assert_eq!(shown["data"]["attributes"]["name"], json!("Altair"), "{shown}");
}

#[test]
fn what_is_made_tells_its_key_and_others_show_more_of_it() {
    let told = json!({"type": "object", "properties": {"exposure": {"type": "integer"}, "label": {"type": "string"}}});
    let seeing = json!({"type": "object", "title": "Seeing", "required": ["arcsec"], "properties": {"arcsec": {"type": "number"}, "clouds": {"type": "integer"}}});
    let mut plates = Imports::made(
        "plates.json",
        document(json!({
            "/plates": {"get": {"responses": answers(json!({"type": "array", "items": told}))},
                "post": {"requestBody": body(told.clone()), "responses": answers(told.clone())},
                "delete": {"responses": {"204": {"description": "all are gone"}}}},
            "/plates/{plate_id}": {"parameters": key("plate_id"), "get": {"responses": answers(told)}},
            "/weather/seeing/{plate_id}": {"parameters": key("plate_id"), "get": {"responses": answers(seeing)}},
        })),
    );
    let (_, made) = plates.call("POST", "/plates", json!({"exposure": 30, "label": "M31"}));
    let id = json!({"plate_id": made["plate_id"]});
    assert_eq!(plates.get("/plates/{plate_id}", id.clone())["label"], json!("M31"), "{made}");
    assert!(plates.get("/weather/seeing/{plate_id}", id.clone())["arcsec"].is_number());
    assert_eq!(plates.call("GET", "/weather/seeing/{plate_id}", json!({"plate_id": "no such plate"})).0, 404);
    assert_eq!(plates.call("DELETE", "/plates", json!({})).0, 204);
    assert_eq!(plates.get("/plates", json!({})), json!([]));
    assert_eq!(plates.call("GET", "/plates/{plate_id}", id).0, 404);
}

#[test]
fn members_show_the_users_that_they_are_and_not_the_owner_of_their_team() {
    let text = json!({"type": "string"});
    let user = json!({"type": "object", "title": "User", "required": ["id", "name"], "properties": {"id": text, "name": text}});
    let team = json!({"type": "object", "required": ["id", "owner"], "properties": {"id": text, "title": text, "owner": user}});
    let member = json!({"type": "object", "required": ["user"], "properties": {"user": user, "nick": text}});
    let list = |item: &Value| answers(json!({"type": "array", "items": item}));
    let mut teams = Imports::made(
        "teams.json",
        document(json!({
            "/users": {"get": {"responses": list(&user)}},
            "/users/{user_id}": {"parameters": key("user_id"), "get": {"responses": answers(user.clone())}},
            "/teams": {"get": {"responses": list(&team)}},
            "/teams/{team_id}": {"parameters": key("team_id"), "get": {"responses": answers(team.clone())}},
            "/teams/{team_id}/members": {"parameters": key("team_id"), "get": {"responses": list(&member)}},
            "/teams/{team_id}/members/{user_id}": {
                "parameters": json!([key("team_id")[0], key("user_id")[0]]), "get": {"responses": answers(member.clone())}},
        })),
    );
    let all = teams.get("/teams", json!({}));
    let team = &all[0]["id"];
    let members = teams.get("/teams/{team_id}/members", json!({"team_id": team}));
    let shown: Vec<&Value> = members.as_array().unwrap().iter().map(|member| &member["user"]["id"]).collect();
    assert!(shown.len() > 1, "{members}");
    for (at, user) in shown.iter().enumerate() {
        assert!(!shown[..at].contains(user), "{members}");
        let one = teams.get("/teams/{team_id}/members/{user_id}", json!({"team_id": team, "user_id": user}));
        assert_eq!(one["user"]["id"], **user, "{one}");
    }
}

#[test]
fn a_list_of_names_lists_the_keys_of_what_lies_below_it() {
    let dome = json!({"type": "object", "required": ["status"], "properties": {"status": {"type": "object", "properties": {"open": {"type": "boolean"}}}}});
    let new = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "radius": {"type": "integer"}}});
    let mut domes = Imports::made(
        "domes.json",
        document(json!({
            "/domes": {"get": {"responses": answers(json!({"type": "array", "items": {"type": "string"}}))},
                "post": {"requestBody": body(new), "responses": {"201": {"description": "made"}}}},
            "/domes/{domeName}": {"parameters": key("domeName"), "get": {"responses": answers(dome)}, "delete": {"responses": {"202": {"description": "gone"}}}},
        })),
    );
    let all = domes.get("/domes", json!({}));
    assert_eq!(domes.call("GET", "/domes/{domeName}", json!({"domeName": all[0]})).0, 200, "{all}");
    assert_eq!(domes.call("POST", "/domes", json!({"name": "north", "radius": 4})).0, 201);
    let names = domes.get("/domes", json!({}));
    assert!(names.as_array().is_some_and(|names| names.contains(&json!("north"))), "{names}");
    assert_eq!(domes.call("DELETE", "/domes/{domeName}", json!({"domeName": "north"})).0, 202);
    assert_eq!(domes.get("/domes", json!({})), all);
}

#[test]
fn declared_headers_are_sent_and_say_where_what_was_made_is() {
    let night = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "readOnly": true}, "dark": {"type": "boolean"}}});
    let text = json!({"schema": {"type": "string"}});
    let one = json!({"200": {"description": "ok", "headers": {"X-Tier": {"schema": {"type": "string", "enum": ["free"]}}},
        "content": {"application/json": {"schema": night}}}});
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("nights.json");
    let nights = document(json!({
        "/nights": {"post": {"requestBody": body(night), "responses": {"201": {"description": "made", "headers": {"Location": text}}}}},
        "/nights/{id}": {"parameters": key("id"), "get": {"responses": one}},
    }));
    std::fs::write(&file, nights.to_string()).expect("the document is written");
    let server = serve(&["--openapi", file.to_str().expect("a path")]);
    let session = server.session().expect("a session");
    let base = session["base_url"].as_str().expect("a URL");
    let header = |response: &reqwest::blocking::Response, name: &str| {
        response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    let client = reqwest::blocking::Client::builder().no_proxy().build().expect("a client");
    let post = client.post(format!("{base}/nights")).header("content-type", "application/json");
    let made = post.body(r#"{"dark": true}"#).send().expect("an answer");
    let place = header(&made, "location");
    let shown = client.get(format!("{}{place}", server.url)).send().expect("an answer");
    assert_eq!((made.status().as_u16(), shown.status().as_u16()), (201, 200), "{place}");
    assert_eq!(header(&shown, "x-tier"), "free");
    let shown: Value = serde_json::from_str(&shown.text().expect("a body")).expect("JSON");
    assert_eq!((&shown["dark"], place.rsplit('/').next()), (&json!(true), shown["id"].as_str()));
}
