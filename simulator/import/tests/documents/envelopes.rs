//! Envelopes: replies with records beside other members, and lists that parameters filter.

use serde_json::{Value as Json, json};

use super::session::{Session, answers, array, document, named, object, parameter};

/// Returns a document with a list of notes in an envelope, and single notes in another one.
fn notes(list: Json, one: Json, note: Json, parameters: Json) -> Session {
    let key = json!([parameter("id", "path", json!({"type": "string"}))]);
    let paths = json!({
        "/notes": {"get": {"operationId": "ListNotes", "parameters": parameters, "responses": answers("200", list)}},
        "/notes/{id}": {"get": {"operationId": "GetNote", "parameters": key, "responses": answers("200", one)}}
    });
    Session::of(&document(paths, json!({"Note": note})))
}

fn note() -> Json {
    object(json!({"id": {"type": "string"}, "title": {"type": "string"}, "level": {"type": "integer"},
        "currency_code": {"type": "string"}, "tag": {"type": "string"}}))
}

#[test]
fn a_record_beside_others_in_a_reply_is_the_one_that_the_list_shows() {
    let list = object(json!({"notes": array(named("Note"))}));
    let field = object(json!({"name": {"type": "string"}}));
    let one = object(json!({"required_fields": array(field), "note": named("Note")}));
    let filters = json!([
        parameter("currency_code", "query", json!({"type": "string"})),
        parameter("level", "query", json!({"type": "string"}))
    ]);
    let mut desk = notes(list, one, note(), filters);
    let (_, all) = desk.call("ListNotes", json!({}));
    let all = all["notes"].as_array().unwrap().clone();
    for shown in all.iter().take(3) {
        assert_eq!(desk.call("GetNote", json!({"id": shown["id"]})).1["note"]["title"], shown["title"]);
    }
    // Filters act on stored values, even if a number is sent as text.
    for (name, value) in [("currency_code", &all[0]["currency_code"]), ("level", &all[0]["level"])] {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let (_, found) = desk.call("ListNotes", json!({name: text}));
        let found = found["notes"].as_array().unwrap();
        assert!(!found.is_empty() && found.iter().all(|one| one[name] == *value), "{name}: {found:?}");
    }
    assert!(desk.call("ListNotes", json!({"level": "987654"})).1["notes"].as_array().unwrap().is_empty());
}

#[test]
fn what_tells_of_pages_beside_a_record_is_no_record() {
    let resource = object(json!({"type": {"type": "string"}, "id": {"type": "string"},
        "attributes": object(json!({"name": {"type": "string"}, "level": {"type": "integer"}}))}));
    let meta = object(json!({"count": {"type": "integer"}, "req_id": {"type": "string"}}));
    let list = object(json!({"data": array(named("Note")), "meta": meta}));
    let one = object(json!({"data": named("Note"), "meta": meta}));
    let mut desk = notes(list, one, resource, json!([]));
    let (_, all) = desk.call("ListNotes", json!({}));
    for shown in all["data"].as_array().unwrap().iter().take(3) {
        let (status, opened) = desk.call("GetNote", json!({"id": shown["id"]}));
        assert_eq!((status, &opened["data"]), (200, shown));
    }
}

#[test]
fn numbered_pages_have_the_size_that_is_theirs() {
    let whole = json!({"type": "integer"});
    let parameters = ["page[number]", "page[size]", "page[limit]", "page[cursor]"];
    let parameters: Vec<Json> = parameters.map(|name| parameter(name, "query", whole.clone())).to_vec();
    let list = object(json!({"data": array(named("Note"))}));
    let mut desk = notes(list, named("Note"), note(), json!(parameters));
    let (_, page) = desk.call("ListNotes", json!({"page": 1, "page_size": 3}));
    assert_eq!(page["data"].as_array().unwrap().len(), 3);
}

#[test]
fn what_is_put_under_a_key_of_nothing_kept_is_there() {
    let key = json!([parameter("show_id", "path", json!({"type": "integer"}))]);
    let follow = object(json!({"show_id": {"type": "integer"}}));
    let vote = object(json!({"show_id": {"type": "integer"}, "vote": {"type": "integer"}}));
    let place = |noun: &str, name: &str| {
        json!({
            "get": {"operationId": format!("Get{noun}"), "parameters": key, "responses": answers("200", named(name))},
            "put": {"operationId": format!("Put{noun}"), "parameters": key, "responses": answers("200", named(name))}
        })
    };
    let list = |noun: &str, name: &str| json!({"get": {"operationId": format!("List{noun}s"), "responses": answers("200", array(named(name)))}});
    let paths = json!({
        "/user/follows/shows": list("Follow", "Follow"),
        "/user/follows/shows/{show_id}": place("Follow", "Follow"),
        "/user/votes/shows": list("Vote", "Vote"),
        "/user/votes/shows/{show_id}": place("Vote", "Vote")
    });
    let mut desk = Session::of(&document(paths, json!({"Follow": follow, "Vote": vote})));
    for noun in ["Follow", "Vote"] {
        let new = json!({"show_id": 900_417});
        assert_eq!(desk.call(&format!("Put{noun}"), new.clone()).0, 200, "{noun}");
        assert_eq!(desk.call(&format!("Get{noun}"), new).1["show_id"], 900_417, "{noun}");
    }
}
