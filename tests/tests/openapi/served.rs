//! Owns the tests of imported documents that need HTTP: `QUERY`, reads by `POST`, and the header `Link`.

use diorama_tests::requests::serve;
use reqwest::blocking::Client;
use serde_json::{Value, json};

use super::imports::{answers, array, component, list_of};

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

fn document() -> Value {
    let text = json!({"type": "string"});
    let state = json!({"type": "string", "enum": ["sent", "held", "lost"]});
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let whole = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "integer"}});
    let key =
        |name: &str, place: &str| json!([{"name": name, "in": place, "required": true, "schema": text}]);
    let body = |kind: &str, schema: Value| json!({"required": true, "content": {(kind): {"schema": schema}}});
    let next = json!({"type": "string", "format": "uri", "example": "https://other.example/?page=2"});
    let links = object(json!({"pages": object(json!({"next": next}))}));
    let mut droplets = answers(object(json!({"droplets": list_of("Droplet"), "links": links})));
    droplets["200"]["headers"] = json!({"Link": {"schema": text}});
    let user = answers(object(json!({"user": component("User")})));
    json!({
        "openapi": "3.2.0", "info": {"title": "Desk", "version": "1"},
        "paths": {
            "/droplets": {"get": {"parameters": [whole("page"), whole("per_page")], "responses": droplets}},
            "/droplets/{id}": {"get": {"parameters": key("id", "path"), "responses": answers(component("Droplet"))}},
            "/parcels": {"get": {"responses": answers(list_of("Parcel"))}, "query": {
                "requestBody": body(JSON, object(json!({"state": state}))), "responses": answers(list_of("Parcel"))}},
            "/parcels/{parcelId}": {"get": {"parameters": key("parcelId", "path"), "responses": answers(component("Parcel"))}},
            "/users.list": {"get": {"parameters": [whole("limit")],
                "responses": answers(object(json!({"users": list_of("User")})))}},
            "/users.info": {"get": {"parameters": key("user", "query"), "responses": user}},
            "/users.add": {"post": {"requestBody": body(FORM, object(json!({"name": text}))), "responses": user}},
            "/users.rename": {"post": {"requestBody": body(FORM, object(json!({"user": text, "name": text}))), "responses": user}},
        },
        "components": {"schemas": {
            "Droplet": object(json!({"id": {"type": "string", "readOnly": true}, "name": text})),
            "Parcel": {"type": "object", "required": ["id", "state"], "properties": {"id": text, "state": state}},
            "User": {"type": "object", "required": ["id", "name"], "properties": {"id": text, "name": text}},
        }},
    })
}

#[test]
fn a_served_document_takes_queries_and_posted_reads_and_links_its_pages() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.json");
    std::fs::write(&file, document().to_string()).unwrap();
    let server = serve(&["--openapi", file.to_str().unwrap()]);
    let base = server.session().unwrap()["base_url"].as_str().unwrap().to_owned();
    let client = Client::builder().no_proxy().build().unwrap();
    let send = |method: &str, url: &str, kind: &str, body: &str| {
        let request = client.request(method.parse().unwrap(), url).header("content-type", kind);
        request.body(body.to_owned()).send().unwrap()
    };

    let first = send("GET", &format!("{base}/droplets?per_page=1"), JSON, "");
    let link = first.headers()["link"].to_str().unwrap().to_owned();
    let first: Value = first.json().unwrap();
    let next = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\"")).unwrap();
    assert_eq!(first["links"]["pages"]["next"], next);
    let second: Value = send("GET", next, JSON, "").json().unwrap();
    assert_eq!((array(&first, "droplets").len(), array(&second, "droplets").len()), (1, 1));
    assert_ne!(first["droplets"], second["droplets"]);

    let lost: Value = send("QUERY", &format!("{base}/parcels"), JSON, r#"{"state": "lost"}"#).json().unwrap();
    let lost = lost.as_array().unwrap();
    assert!(!lost.is_empty() && lost.iter().all(|parcel| parcel["state"] == "lost"), "{lost:?}");

    let users = |method: &str, query: &str, kind: &str, body: &str| {
        let reply = send(method, &format!("{base}/users.list{query}"), kind, body);
        (reply.status().as_u16(), reply.json::<Value>().unwrap())
    };
    let one = users("GET", "?limit=1", JSON, "");
    assert!(one.0 == 200 && !array(&one.1, "users").is_empty(), "{one:?}");
    assert_eq!(users("POST", "", FORM, "limit=1"), one);
    assert_eq!(users("POST", "", JSON, r#"{"limit": 1, "cursor": null}"#), one);
    assert_eq!(users("POST", "?limit=1", JSON, r#"{"limit": 1}"#), one);
    assert_eq!(users("POST", "?limit=1", "text/csv", " "), one);
    assert_eq!(users("POST", "?limit=1", JSON, r#"{"limit": 2}"#).0, 400);
    assert_eq!(users("POST", "", "text/csv", "limit").0, 415);
    let refused = send("PUT", &format!("{base}/users.list"), JSON, "");
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["allow"]),
        (405, &"GET, HEAD, OPTIONS, POST".parse().unwrap())
    );
    server.stop();
}
