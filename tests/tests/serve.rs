//! `diorama serve`, over a real connection on a port of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]

use diorama_agents::episode::Task;
use diorama_output::folder::Folder;
use diorama_tests::diorama;
use diorama_tests::requests::{NOTES, serve};
use serde_json::{Value as Json, json};

#[test]
fn a_write_through_rest_shows_in_state_diff_and_log_of_its_session_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.yaml");
    std::fs::write(&file, NOTES).unwrap();
    let server = serve(&["--world", file.to_str().unwrap()]);
    let session = server.post("/v1/sessions", Json::Null);
    let (id, base) = (session["id"].as_str().unwrap(), session["base_url"].as_str().unwrap());
    assert_eq!(base, format!("{}/s/{id}", server.url));
    let fork = server.post(&format!("/v1/sessions/{id}/fork"), Json::Null);
    let fork = fork["id"].as_str().unwrap();

    let document = server.get(&format!("/s/{id}/openapi.json"));
    assert_eq!(document["servers"][0]["url"], base);
    assert_eq!(document["paths"]["/notes/{note_id}"]["delete"]["security"], json!([{"notes_token": []}]));
    let (status, kind, made) =
        server.send(&format!("POST {base}/notes"), &[], &json!({"title": "Tea", "stars": 2}));
    assert_eq!((status, kind.as_str()), (201, "application/json"), "{made}");
    let of = |id: &str, what: &str| server.get(&format!("/v1/sessions/{id}/{what}"));
    assert_eq!(of(id, "state")["resources"]["note"].as_array().unwrap().len(), 2);
    let diff = of(id, "diff");
    assert_eq!(
        (&diff["changes"][0]["kind"], &diff["changes"][0]["after"]["title"]),
        (&json!("created"), &json!("Tea"))
    );
    let log = of(id, "log");
    assert_eq!(
        (&log["total"], &log["calls"][0]["api"], &log["calls"][0]["status"]),
        (&json!(1), &json!("AddNote"), &json!(201))
    );
    assert_eq!(of(fork, "diff"), json!({"changes": []}));

    // The token travels as bearer, and without it nothing is deleted.
    let (status, kind, refused) = server.send(&format!("DELETE {base}/notes/1"), &[], &Json::Null);
    assert_eq!(
        (status, kind.as_str(), &refused["title"]),
        (401, "application/problem+json", &json!("Unauthorized"))
    );
    let (_, _, signed_in) =
        server.send(&format!("POST {base}/sign-in"), &[], &json!({"name": "ann", "pin": "1234"}));
    let bearer = format!("Bearer {}", signed_in["token"].as_str().unwrap());
    let (status, _, gone) =
        server.send(&format!("DELETE {base}/notes/1"), &[("authorization", &bearer)], &Json::Null);
    assert_eq!((status, &gone["title"]), (200, &json!("Milk")), "{gone}");

    for (line, body, status, parameter) in [
        ("POST notes", json!({"title": "A", "stars": -1}), 400, "stars"),
        ("POST notes", json!({"title": "A", "start": 1}), 400, "start"),
        ("POST notes?title=A", Json::Null, 400, "title"),
        ("POST notes", Json::Null, 400, "title"),
    ] {
        let line = line.replace(' ', &format!(" {base}/"));
        let (found, kind, problem) = server.send(&line, &[], &body);
        assert_eq!(
            (found, kind.as_str(), &problem["parameter"]),
            (status, "application/problem+json", &json!(parameter)),
            "{line}: {problem}"
        );
    }
    let (status, _, problem) =
        server.send(&format!("POST {base}/notes"), &[], &json!({"title": "x".repeat(2 << 20)}));
    assert_eq!((status, &problem["status"]), (413, &json!(413)));

    server.post(&format!("/v1/sessions/{id}/reset"), Json::Null);
    assert_eq!(of(id, "diff"), json!({"changes": []}));
    server.stop();
}

#[test]
fn the_tasks_of_a_dataset_are_solved_by_their_reference_calls_and_by_nothing_less() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("set");
    let ran = diorama(["generate", "--dialogues", "12", "--seed", "5", "--out", out.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let server = serve(&["--tasks", out.to_str().unwrap()]);
    let listed = server.get("/v1/tasks?limit=1000");
    let dataset = Folder::open(&out).unwrap();
    let mut rows = 0;
    for row in dataset.rows().map(Result::unwrap) {
        rows += 1;
        let task = Task::of(&row).unwrap();
        let session = server.post("/v1/sessions", json!({"task": row.id, "n": 2}));
        let [solved, idle] = [0, 1].map(|n| session["sessions"][n]["id"].as_str().unwrap().to_owned());
        let shown = server.get(&format!("/v1/sessions/{solved}/task"));
        assert_eq!((&shown["user"], &shown["system"]), (&json!(row.query), &json!(task.system)));
        assert_eq!(shown["tools"], serde_json::from_str::<Json>(&row.tools).unwrap());
        for (call, recorded) in task.gold.iter().zip(&task.replies) {
            let asked = json!({"api": call.api, "arguments": call.arguments});
            let reply = server.post(&format!("/v1/sessions/{solved}/call"), asked);
            assert_eq!(reply["body"], serde_json::from_str::<Json>(recorded).unwrap(), "{}", row.id);
        }
        for _ in 1..task.turns.len() {
            server.post(&format!("/v1/sessions/{solved}/messages"), json!({"content": "Anything else?"}));
        }
        let ended = json!({"answer": task.answer, "outcome": task.episode.outcome});
        let grade = |id: &str| server.post(&format!("/v1/sessions/{id}/grade"), ended.clone());
        assert_eq!(grade(&solved)["success"], true, "{}", row.id);
        assert_eq!(grade(&idle)["success"], false, "{}: the answer without its calls", row.id);
    }
    assert!(rows > 0 && listed["total"] == rows, "{rows} {listed}");
    server.stop();
}

#[test]
fn with_a_token_the_agents_surface_opens_nothing_else() {
    let server = serve(&["--control-token", "secret"]);
    let control = [("diorama-token", "secret")];
    let (status, _, problem) = server.send("POST /v1/sessions", &control, &Json::Null);
    let detail = problem["detail"].as_str().unwrap();
    assert!(status == 422 && detail.contains("dental_clinic"), "{problem}");
    let (_, _, session) = server.send("POST /v1/sessions", &control, &json!({"world": "dental_clinic"}));
    let id = session["id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/s/{id}/openapi.json"))["openapi"], "3.1.0");
    for line in ["GET state", "GET log", "GET diff", "POST reset", "POST grade", "POST fork", "POST clock"] {
        let line = line.replace(' ', &format!(" /v1/sessions/{id}/"));
        assert_eq!(server.send(&line, &[], &Json::Null).0, 401, "{line}");
        // A world's own bearer token is not the control token.
        assert_eq!(server.send(&line, &[("authorization", "Bearer secret")], &Json::Null).0, 401, "{line}");
    }
    assert_eq!(server.send(&format!("GET /v1/sessions/{id}/state"), &control, &Json::Null).0, 200);
    server.stop();
}

#[test]
fn a_port_in_use_and_an_open_surface_are_refused_at_once() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = diorama(["serve", "--port", &port]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert_eq!(
        ran.err,
        format!(
            "error: port {port} of 127.0.0.1 is in use; end what uses it, or give another --port (0 picks a free one)\n"
        )
    );
    let ran = diorama(["serve", "--host", "0.0.0.0", "--port", "0"]);
    assert!(ran.code == 2 && ran.err.contains("not a loopback address"), "{ran:?}");
}

#[test]
fn worlds_are_joined_under_their_base_paths() {
    let server = serve(&["--compose"]);
    let id = server.post("/v1/sessions", Json::Null)["id"].as_str().unwrap().to_owned();
    let document = server.get(&format!("/s/{id}/openapi.json"));
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.keys().any(|path| path.starts_with("/dental-clinic/")), "{:?}", paths.keys().next());
    server.stop();
}

#[test]
fn a_search_of_the_catalog_finds_the_api_that_does_it() {
    let ran = diorama(["--json", "search", "book", "an", "appointment", "with", "the", "dentist", "-k", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let found: Json = serde_json::from_str(&ran.out).unwrap();
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 3);
    assert_eq!(hits[0]["domain"], "dental_clinic", "{found}");
    assert!(hits.windows(2).all(|pair| pair[0]["score"].as_f64() >= pair[1]["score"].as_f64()));
}
