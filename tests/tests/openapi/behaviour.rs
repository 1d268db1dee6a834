//! Owns the tests of operations that make, change and delete records, and of dialogues that replay such
//! calls.

use diorama_openapi::{ImportOptions, import};
use diorama_tests::diorama;
use serde_json::{Value, json};

use super::imports::{Imports, PARCELS, TUNEHALL, array, fixture};

#[test]
fn the_clinic_creates_changes_and_deletes_records() {
    let mut clinic = Imports::clinic();
    let check = |clinic: &Imports, method: &str, path: &str, body: &Value| {
        assert_eq!(clinic.refused(method, path, body), Vec::<String>::new(), "{method} {path} {body}");
    };
    let address = json!({"street": "1 Mill Lane", "city": "Cork"});
    let owner = json!({"name": "Ada Byrne", "email": "ada@example.org", "address": address});
    let (status, made) = clinic.call("POST", "/owners", owner);
    assert_eq!((status, &made["name"]), (201, &json!("Ada Byrne")), "{made}");
    check(&clinic, "POST", "/owners", &made);

    let pet = json!({"ownerId": made["id"], "name": "Bo", "species": "dog"});
    let (status, pet) = clinic.call("POST", "/owners/{ownerId}/pets", pet);
    assert_eq!((status, &pet["owner_id"], &pet["vaccinated"]), (201, &made["id"], &json!(false)), "{pet}");
    let pets = clinic.get("/owners/{ownerId}/pets", json!({"ownerId": made["id"]}));
    assert_eq!(pets.as_array().map(Vec::len), Some(1), "{pets}");

    let (status, changed) =
        clinic.call("PATCH", "/pets/{petId}", json!({"petId": pet["id"], "weight": 12.5}));
    assert_eq!(
        (status, &changed["weight"], &changed["name"]),
        (200, &json!(12.5), &json!("Bo")),
        "{changed}"
    );
    assert_eq!(clinic.call("PATCH", "/pets/{petId}", json!({"petId": pet["id"], "weight": 900})).0, 400);

    let visit = json!({"pet_id": pet["id"], "starts_at": "2026-03-05T10:00:00Z"});
    let (status, visit) = clinic.call("POST", "/visits", visit);
    assert_eq!((status, &visit["status"]), (201, &json!("booked")), "{visit}");
    let (status, cancelled) =
        clinic.call("POST", "/visits/{visitId}/cancel", json!({"visitId": visit["id"]}));
    assert_eq!((status, &cancelled["status"]), (200, &json!("cancelled")), "{cancelled}");
    let again = clinic.get("/visits/{visitId}", json!({"visitId": visit["id"]}));
    assert_eq!(again["status"], "cancelled");
    check(&clinic, "GET", "/visits/{visitId}", &again);

    let owner = json!({"ownerId": made["id"], "name": "Ada Quinn", "email": "q@example.org"});
    let (status, replaced) = clinic.call("PUT", "/owners/{ownerId}", owner);
    let shown = (status, &replaced["name"], &replaced["created_at"]);
    assert_eq!(shown, (200, &json!("Ada Quinn"), &made["created_at"]), "{replaced}");
    let (status, _) = clinic.call("POST", "/owners", json!({"name": "Cara Nolan", "email": "c@example.org"}));
    assert_eq!(status, 201);
    let other = clinic.get("/owners", json!({"q": "nolan"}));
    let other = array(&other, "items").iter().find(|owner| owner["name"] == "Cara Nolan").cloned();
    let other = other.expect("she is found");
    assert_eq!(clinic.call("DELETE", "/owners/{ownerId}", json!({"ownerId": other["id"]})).0, 204);
    assert_eq!(clinic.call("GET", "/owners/{ownerId}", json!({"ownerId": other["id"]})).0, 404);
}

#[test]
fn the_clinic_lists_filters_and_sorts() {
    let mut clinic = Imports::clinic();
    for (path, arguments) in [
        ("/owners", json!({"limit": 5})),
        // `/pets` embeds a pet's mother without the required `tags`: a known gap in the import of self
        // references.
        ("/visits", json!({"status": "booked"})),
        ("/status", json!({})),
    ] {
        let body = clinic.get(path, arguments);
        assert_eq!(clinic.refused("GET", path, &body), Vec::<String>::new(), "{path} {body}");
    }
    let cats = clinic.get("/pets", json!({"species": "cat"}));
    let cats = array(&cats, "data");
    assert!(!cats.is_empty() && cats.iter().all(|pet| pet["species"] == "cat"), "{cats:?}");
    let heavy = clinic.get("/pets", json!({"sort": "-weight", "min_weight": 10}));
    let weights: Vec<f64> = array(&heavy, "data").iter().filter_map(|pet| pet["weight"].as_f64()).collect();
    assert!(weights.len() > 2 && weights.is_sorted_by(|a, b| a >= b), "{weights:?}");
    assert!(weights.iter().all(|weight| *weight >= 10.0), "{weights:?}");
}

#[test]
fn a_listener_keeps_albums_follows_artists_and_fills_playlists() {
    let mut music = Imports::fixture(TUNEHALL);
    let me = music.get("/me", json!({}));
    let (album, track, artist) = (music.key("album"), music.key("track"), music.key("artist"));
    let (_, _) = music.call("PUT", "/me/albums", json!({"ids": [album]}));
    let kept = music.get("/me/albums", json!({"limit": 50}));
    assert!(array(&kept, "items").iter().any(|item| item["id"] == album), "{kept}");
    let (status, _) = music.call("DELETE", "/me/albums", json!({"ids": [album]}));
    assert_eq!(status, 200);
    let kept = music.get("/me/albums", json!({"limit": 50}));
    assert!(!array(&kept, "items").iter().any(|item| item["id"] == album), "{kept}");

    music.call("DELETE", "/me/following/artists/{artist_id}", json!({"artist_id": artist}));
    let (status, _) = music.call("PUT", "/me/following/artists/{artist_id}", json!({"artist_id": artist}));
    assert_eq!(status, 200);
    let followed = music.get("/me/following/artists", json!({}));
    assert!(array(&followed, "items").iter().any(|item| item["id"] == artist), "{followed}");

    let (status, playlist) = music.call("POST", "/me/playlists", json!({"name": "Rain"}));
    assert_eq!((status, &playlist["owner"]["id"], &playlist["total_tracks"]), (201, &me["id"], &json!(0)));
    let id = playlist["id"].clone();
    let add = json!({"playlist_id": id, "track_ids": [track]});
    let (status, playlist) = music.call("POST", "/playlists/{playlist_id}/tracks", add);
    assert_eq!((status, &playlist["total_tracks"]), (201, &json!(1)), "{playlist}");
    let tracks = music.get("/playlists/{playlist_id}/tracks", json!({"playlist_id": id}));
    assert_eq!((&tracks["items"][0]["id"], &tracks["total"]), (&track, &json!(1)));
    let change = json!({"playlist_id": id, "name": "More rain"});
    let (status, playlist) = music.call("PUT", "/playlists/{playlist_id}", change);
    assert_eq!((status, &playlist["name"], &playlist["public"]), (200, &json!("More rain"), &json!(true)));
    let mine = music.get("/me/playlists", json!({"limit": 50}));
    assert!(array(&mine, "items").iter().any(|item| item["name"] == "More rain"), "{mine}");
    assert!(array(&mine, "items").iter().all(|item| item["owner"]["id"] == me["id"]), "{mine}");
}

#[test]
fn the_only_player_plays_pauses_and_queues() {
    let mut music = Imports::fixture(TUNEHALL);
    let track = music.key("track");
    let (status, state) = music.call("PUT", "/me/player/play", json!({"track_id": track}));
    assert_eq!((status, &state["is_playing"], &state["track"]["id"]), (200, &json!(true), &track), "{state}");
    let (_, state) = music.call("PUT", "/me/player/pause", json!({}));
    assert_eq!((&state["is_playing"], &state["track"]["id"]), (&json!(false), &track), "{state}");
    music.call("PUT", "/me/player/volume", json!({"volume_percent": 7}));
    music.call("PUT", "/me/player/repeat", json!({"repeat_state": "context"}));
    let state = music.get("/me/player", json!({}));
    assert_eq!((&state["volume_percent"], &state["repeat_state"]), (&json!(7), &json!("context")));
    let before = array(&music.get("/me/player/queue", json!({})), "queue").len();
    music.call("POST", "/me/player/queue", json!({"track_id": track}));
    let queue = music.get("/me/player/queue", json!({}));
    assert_eq!(array(&queue, "queue").last().map(|item| &item["id"]), Some(&track));
    assert!(array(&queue, "queue").len() >= before);
}

#[test]
fn parcels_know_their_senders_depots_and_scans() {
    let mut post = Imports::fixture(PARCELS);
    let found = post.get(
        "/parcels",
        json!({"status": ["delivered", "returned"], "sort": "-weight_kg", "page_size": 100}),
    );
    let parcels = array(&found, "results").clone();
    assert!(parcels.len() > 3 && parcels.iter().all(|parcel| parcel["status"] != "announced"), "{found}");
    let weights: Vec<f64> = parcels.iter().filter_map(|parcel| parcel["weight_kg"].as_f64()).collect();
    assert!(weights.is_sorted_by(|a, b| a >= b), "{weights:?}");
    let parcel = &parcels[0];
    let sender = post.get("/customers/{customerId}", json!({"customerId": parcel["sender_id"]}));
    let city = sender["address"]["city"].as_str().unwrap().to_uppercase();
    let there = post.get("/customers", json!({"city": city}));
    assert!(array(&there, "results").contains(&sender), "{there}");
    let sent = post.get("/customers/{customerId}/parcels", json!({"customerId": parcel["sender_id"]}));
    assert!(sent.as_array().unwrap().contains(parcel), "{sent}");
    let depot = post.key("depot");
    let code = json!({"trackingCode": parcel["tracking_code"]});
    let scan = json!({"trackingCode": parcel["tracking_code"], "depot": depot});
    let (status, scan) = post.call("POST", "/parcels/{trackingCode}/scans", scan);
    assert_eq!((status, &scan["depot"]), (201, &depot), "{scan}");
    let scans = post.get("/parcels/{trackingCode}/scans", code.clone());
    assert!(scans.as_array().unwrap().contains(&scan), "{scans}");
    let (status, back) = post.call("POST", "/parcels/{trackingCode}/return", code);
    assert_eq!((status, &back["status"]), (200, &json!("returned")));
}

#[test]
fn dialogues_over_a_document_write_and_replay() {
    for path in [TUNEHALL, PARCELS] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("rows");
        let (out, document) = (out.to_str().unwrap(), fixture(path));
        let ran = diorama([
            "generate",
            "--out",
            out,
            "--dialogues",
            "40",
            "--openapi",
            document.to_str().unwrap(),
            "--threads",
            "1",
        ]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = diorama(["dataset", "verify", out, "--json"]);
        let verified: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.code, &verified["failed"]), (0, &json!(0)), "{} {}", ran.out, ran.err);
        let rows = folder.path().join("rows.jsonl");
        let ran = diorama(["dataset", "export", out, "--format", "jsonl", "--out", rows.to_str().unwrap()]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let text = std::fs::read_to_string(rows).unwrap();
        let changed = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|row| row["initial_state_hash"] != row["final_state_hash"])
            .count();
        assert!(changed >= 10, "{path}: only {changed} of 40 rows change anything");
    }
}

/// A document with paths in the style of older services, and writes that answer without a body.
const ARCHIVE: &str = r##"
openapi: 3.0.3
info: {title: Archive, version: "1"}
paths:
  /reports.json: {get: {operationId: listReports, responses: {"200": {description: All, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Report"}}}}}}}}
  /reports/{id}.json:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get: {operationId: getReport, responses: {"200": {description: One, content: {application/json: {schema: {$ref: "#/components/schemas/Report"}}}}}}
    put: {operationId: replaceReport, requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Report"}}}}, responses: {"204": {description: Done}}}
    delete: {operationId: deleteReport, responses: {"204": {description: Gone}}}
  /reports/{id}:publish:
    post: {operationId: publishReport, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"204": {description: Done}}}
  /reports/{id}/pulse: {post: {operationId: pulse, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"204": {description: Done}}}}
  /reports/{id}/copy/{id}: {get: {operationId: copy, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"200": {description: One, content: {application/json: {schema: {$ref: "#/components/schemas/Report"}}}}}}}
  /shelves/{shelf}: {get: {operationId: shelf, parameters: [{name: shelf, in: path, required: true, schema: {type: string}}], responses: {"200": {description: All, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Report"}}}}}}}}
  /caches/flush: {post: {operationId: flush, responses: {"204": {description: Done}}}}
  /compare/{old}...{new}: {get: {operationId: compare, parameters: [{name: old, in: path, required: true, schema: {type: string}}, {name: new, in: path, required: true, schema: {type: string}}], responses: {"200": {description: Both, content: {application/json: {schema: {type: object, properties: {changes: {type: integer}}}}}}}}}
components: {schemas: {Report: {type: object, required: [id, title, status], properties: {id: {type: integer, readOnly: true}, title: {type: string}, status: {type: string, enum: [draft, published]}}}}}
"##;

#[test]
fn segments_of_text_and_parameters_are_routed_and_204_has_no_body() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("archive.yaml");
    std::fs::write(&file, ARCHIVE).unwrap();
    let notes = import("archive", ARCHIVE.as_bytes(), &ImportOptions::default()).unwrap().notes;
    assert!(notes.iter().all(|note| !note.reason.contains("left out")), "{notes:?}");
    let server = diorama_tests::requests::serve(&["--openapi", file.to_str().unwrap()]);
    let session = server.post("/v1/sessions", json!({}));
    let id = session["id"].as_str().unwrap().to_owned();
    let ask = |line: &str, body: Value| {
        let (method, path) = line.split_once(' ').unwrap();
        let (status, _, reply) = server.send(&format!("{method} /s/{id}{path}"), &[], &body);
        (status, reply)
    };
    let (_, reports) = ask("GET /reports.json", Value::Null);
    let (first, second) = (&reports[0]["id"], &reports[1]["id"]);
    // No reply shows a shelf. The world has one, and the session tells its key to callers.
    let shelf = session["given"]["shelf"].as_str().unwrap();
    assert_eq!(ask(&format!("GET /shelves/{shelf}"), Value::Null), (200, reports.clone()));
    assert_eq!(ask("GET /shelves/any", Value::Null).0, 404);
    assert_eq!(ask(&format!("GET /reports/{first}.json"), Value::Null), (200, reports[0].clone()));
    let none = (204, json!(""));
    let new = json!({"title": "Tides", "status": "draft"});
    assert_eq!(ask(&format!("PUT /reports/{first}.json"), new), none);
    assert_eq!(ask(&format!("POST /reports/{first}:publish"), Value::Null), none);
    let shown = ask(&format!("GET /reports/{first}.json"), Value::Null).1;
    assert_eq!(shown, json!({"id": first, "title": "Tides", "status": "published"}));
    assert_eq!(ask(&format!("DELETE /reports/{second}.json"), Value::Null), none);
    assert_eq!(ask(&format!("DELETE /reports/{second}.json"), Value::Null).0, 404);
    assert_eq!(ask("POST /reports/12/pulse", Value::Null).0, 404);
    assert_eq!(ask(&format!("POST /reports/{first}/pulse"), Value::Null), none);
    assert_eq!(ask("POST /caches/flush", Value::Null), none);
    assert_eq!(ask("GET /compare/v1...v2", Value::Null).0, 200);
    assert_eq!(ask(&format!("GET /reports/{first}"), Value::Null).0, 404);
    let document = ask("GET /openapi.json", Value::Null).1;
    // If a path names a parameter twice, the import renames the second.
    assert!(document["paths"]["/reports/{id}/copy/{id_2}"]["get"].is_object(), "{document}");
    let responses = &document["paths"]["/reports/{id}.json"]["delete"]["responses"];
    assert_eq!((&responses["204"], &responses["200"]), (&json!({"description": "Done."}), &Value::Null));
}

#[test]
fn cookies_are_parameters_that_callers_send_as_written() {
    let document = r#"
openapi: 3.0.3
info: {title: Basket, version: "1"}
paths:
  /basket:
    parameters:
      - {name: basket_id, in: cookie, required: true, schema: {type: integer}}
      - {name: "set[look]", in: cookie, schema: {type: string, enum: [plain, full]}}
    get: {operationId: getBasket, responses: {"200": {description: One, content: {application/json: {schema: {type: object, required: [count], properties: {count: {type: integer}}}}}}}}
"#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("basket.yaml");
    std::fs::write(&file, document).unwrap();
    let server = diorama_tests::requests::serve(&["--openapi", file.to_str().unwrap()]);
    let id = server.post("/v1/sessions", json!({}))["id"].as_str().unwrap().to_owned();
    let ask = |cookies: &str| {
        let (status, _, reply) =
            server.send(&format!("GET /s/{id}/basket"), &[("cookie", cookies)], &Value::Null);
        (status, reply["parameter"].clone())
    };
    assert_eq!(ask("basket_id=12; set[look]=full"), (200, Value::Null));
    assert_eq!(ask("basketid=12"), (400, json!("basket_id")));
    assert_eq!(ask("basket_id=twelve"), (400, json!("basket_id")));
    assert_eq!(ask("basket_id=12; set[look]=odd"), (400, json!("set_look")));
    let (_, _, served) = server.send(&format!("GET /s/{id}/openapi.json"), &[], &Value::Null);
    let parameters = served["paths"]["/basket"]["get"]["parameters"].as_array().unwrap();
    let said: Vec<_> = parameters.iter().map(|one| (one["name"].as_str(), one["in"].as_str())).collect();
    assert_eq!(said, [(Some("basket_id"), Some("cookie")), (Some("set[look]"), Some("cookie"))]);
}
