//! Addresses of records: keys in paths without lists, numeric keys, file endings, and records that only
//! callers create.

use serde_json::{Value as Json, json};

use super::session::{Session, answers, array, document, named, object, parameter, sends};

fn get(id: &str, parameters: &[Json], schema: Json) -> Json {
    json!({"get": {"operationId": id, "parameters": parameters, "responses": answers("200", schema)}})
}

fn text() -> Json {
    json!({"type": "string"})
}

#[test]
fn a_key_that_several_places_open_by_names_one_record_in_each() {
    let key = [parameter("tokenId", "path", text())];
    let paths = json!({
        "/search": get("search", &[], object(json!({"tokenId": text()}))),
        "/holders/{tokenId}": get("getHolders", &key, object(json!({"tokenId": text(), "holders": {"type": "integer"}}))),
        "/tokens/{tokenId}": get("getToken", &key, object(json!({"tokenId": text(), "ticker": text()}))),
    });
    let mut desk = Session::of(&document(paths, json!({})));
    let known = desk.call("Search", json!({})).1["tokenId"].clone();
    for api in ["GetToken", "GetHolders"] {
        let (status, shown) = desk.call(api, json!({"tokenId": known}));
        assert_eq!((status, &shown["tokenId"]), (200, &known), "{api}: {shown}");
        assert_eq!(desk.call(api, json!({"tokenId": "nobody"})).0, 404);
    }
}

#[test]
fn ids_of_any_kind_of_number_are_keys_and_no_text_is_a_number() {
    let number = [parameter("podId", "path", json!({"type": "number"}))];
    let station = [parameter("id", "path", json!({"type": "integer"}))];
    let paths = json!({
        "/pods": get("listPods", &[], array(object(json!({"podId": {"type": "number"}, "host": text()})))),
        "/pods/{podId}": get("getPod", &number, object(json!({"podId": {"type": "number"}, "host": text()}))),
        "/stations": get("listStations", &[], array(named("Station"))),
        "/stations/{id}": get("getStation", &station, named("Station")),
    });
    let members = json!({"name": text(), "number": {"type": "integer"}});
    let mut desk = Session::of(&document(paths, json!({"Station": object(members)})));
    let pods = desk.call("ListPods", json!({})).1;
    assert_eq!(desk.call("GetPod", json!({"podId": pods[0]["podId"]})), (200, pods[0].clone()));
    assert_eq!(desk.call("GetPod", json!({"podId": 987_654_321})).0, 404);
    let stations = desk.call("ListStations", json!({})).1;
    assert_eq!(desk.call("GetStation", json!({"id": stations[1]["number"]})), (200, stations[1].clone()));
}

#[test]
fn a_path_that_shows_one_record_where_keys_follow_shows_one_of_theirs() {
    let chapter = object(json!({"number": {"type": "integer"}, "verses_count": {"type": "integer"}}));
    let key = [parameter("number", "path", json!({"type": "integer", "enum": [1, 2, 3]}))];
    let paths = json!({
        "/chapters": get("showChapters", &[], chapter.clone()),
        "/chapters/{number}": get("getChapter", &key, chapter),
    });
    let mut desk = Session::of(&document(paths, json!({})));
    let (status, first) = desk.call("ShowChapters", json!({}));
    assert_eq!(status, 200);
    assert_eq!(desk.call("GetChapter", json!({"number": first["number"]})), (200, first));
    for number in 1..=3 {
        assert_eq!(desk.call("GetChapter", json!({"number": number})).0, 200, "{number}");
    }
}

#[test]
fn endings_of_files_are_no_keys() {
    let (page, ending) = (parameter("article", "path", text()), parameter("format", "path", text()));
    let only = parameter("ending", "path", json!({"type": "string", "enum": [".json"]}));
    let pages = || object(json!({"article": text(), "title": text()}));
    let paths = json!({
        "/pages.{format}": get("listPages", std::slice::from_ref(&ending), array(pages())),
        "/pages/{article}.{format}": get("getPage", &[page.clone(), ending], pages()),
        "/terms/{article}{ending}": get("getTerm", &[page, only], pages()),
    });
    let mut desk = Session::of(&document(paths, json!({})));
    let pages = desk.call("ListPages", json!({"format": "json"})).1;
    let known = pages[0]["article"].clone();
    assert_eq!(desk.call("GetPage", json!({"article": known, "format": "xml"})), (200, pages[0].clone()));
    assert_eq!(desk.call("GetPage", json!({"article": "nothing", "format": "json"})).0, 404);
    let routes: Vec<&str> = desk.base.world().apis.iter().map(|api| &*api.path).collect();
    assert!(routes.contains(&"/terms/{article}.json"), "{routes:?}");
}

#[test]
fn records_that_callers_make_and_no_list_shows_are_given() {
    let board = object(json!({"boardId": text(), "name": text()}));
    let make = json!({"operationId": "addBoard", "requestBody": sends(object(json!({"name": text()}))), "responses": answers("201", board.clone())});
    let paths = json!({
        "/boards": {"post": make},
        "/boards/{boardId}": get("getBoard", &[parameter("boardId", "path", text())], board),
    });
    let desk = Session::of(&document(paths, json!({})));
    assert!(desk.given.get("boardId").is_some(), "{}", desk.given);
}

#[test]
fn what_has_an_id_of_its_own_noun_is_no_record_of_what_it_stands_below() {
    let members = json!({"alertId": text(), "customerId": text(), "createTime": text(), "type": text()});
    let mut feedback = members.clone();
    (feedback["feedbackId"], feedback["email"]) = (text(), text());
    let key = parameter("alertId", "path", text());
    let mut below = get(
        "listFeedback",
        std::slice::from_ref(&key),
        object(json!({"feedback": array(named("Feedback"))})),
    );
    below["post"] = json!({"operationId": "addFeedback", "parameters": [key], "requestBody": sends(named("Feedback")), "responses": answers("200", named("Feedback"))});
    let paths = json!({
        "/alerts": get("listAlerts", &[], object(json!({"alerts": array(named("Alert"))}))),
        "/alerts/{alertId}": get("getAlert", &[key_of("alertId")], named("Alert")),
        "/alerts/{alertId}/feedback": below,
    });
    let schemas = json!({"Alert": object(members), "Feedback": object(feedback)});
    let mut desk = Session::of(&document(paths, schemas));
    let alert = desk.call("ListAlerts", json!({})).1["alerts"][0]["alertId"].clone();
    let listed = desk.call("ListFeedback", json!({"alertId": alert})).1;
    let all = listed["feedback"].as_array().unwrap();
    assert!(!all.is_empty() && all.iter().all(|one| one["alertId"] == alert), "{listed}");
    let made = desk.call("AddFeedback", json!({"alertId": alert, "type": "useful"})).1;
    assert_eq!((&made["alertId"], &made["type"]), (&alert, &json!("useful")));
}

fn key_of(name: &str) -> Json {
    parameter(name, "path", text())
}
