//! Owns the tests of the limits of a session, a batch and a log: refusals name the cap, and shared parts of
//! forks count once.

use super::*;

const NOTES: &str = r#"
world: 1
name: notes
materialised: 0
clock: 2026-03-02T09:00
domain: {name: notes, title: Notes}
resources:
  note:
    key: note_id
    fields: {note_id: {type: integer}, text: {type: string}}
    records: [{note_id: 1, text: first}]
apis:
  - name: AddNote
    method: POST
    path: /notes
    description: Adds a note.
    parameters: {text: {like: note.text}}
    behaviour: {create: note}
  - name: ListNotes
    method: GET
    path: /notes
    description: Lists the notes.
    behaviour: {list: note}
"#;

pub(super) fn notes(change: impl FnOnce(&mut Settings)) -> Arc<App> {
    let mut settings = Settings::new("http://test/");
    change(&mut settings);
    let doc = diorama_seeds::world::read("notes.yaml", NOTES.as_bytes()).unwrap();
    let source = Source::new(doc).unwrap();
    App::new(
        vec![WorldSource { id: "notes".into(), source, seed: 0, server_path: String::new() }],
        None,
        settings,
    )
    .unwrap()
}

pub(super) fn add(app: &Arc<App>, id: &str, bytes: usize) -> (u16, Json) {
    ask(app, &format!("POST /s/{id}/notes"), json!({"text": "a".repeat(bytes)}))
}

/// Adds notes of 10,000 bytes until the session refuses one. Returns their number, and the refusal.
fn filled(app: &Arc<App>, id: &str) -> (usize, Json) {
    for number in 0..1_000 {
        let (status, reply) = add(app, id, 10_000);
        if status != 201 {
            assert_eq!(status, 429, "{reply}");
            return (number, reply);
        }
    }
    panic!("never refused");
}

#[test]
fn a_session_holds_so_many_bytes_and_no_more() {
    let app = notes(|settings| settings.sessions.max_session_bytes = 500_000);
    let id = session(&app, json!({}));
    let (notes, problem) = filled(&app, &id);
    // Each note counts twice: as a record, and in the call that made it.
    assert!((23..=25).contains(&notes), "{notes}");
    assert_eq!(problem["limit"], 500_000);
    assert!(problem["detail"].as_str().unwrap().contains("--max-session-bytes"), "{problem}");
    assert!(app.sessions().scale().held() >= 500_000, "{}", app.sessions().scale().held());
    // A read is a call as well, and is logged.
    assert_eq!(ask(&app, &format!("GET /s/{id}/notes"), Json::Null).0, 429);
    assert_eq!(ask(&app, &format!("POST /v1/sessions/{id}/reset"), Json::Null).0, 200);
    assert_eq!(app.sessions().scale().held(), 0);
    assert_eq!(add(&app, &id, 10).0, 201);
    assert_eq!(ask(&app, &format!("DELETE /v1/sessions/{id}"), Json::Null).0, 204);
    assert_eq!(app.sessions().scale().held(), 0);
}

#[test]
fn what_forks_share_counts_once() {
    let app = notes(|settings| settings.sessions.max_bytes = 2_000_000);
    let id = session(&app, json!({}));
    for _ in 0..50 {
        assert_eq!(add(&app, &id, 10_000).0, 201);
    }
    let alone = app.sessions().scale().held();
    let (status, forks) = ask(&app, &format!("POST /v1/sessions/{id}/fork"), json!({"n": 100}));
    assert_eq!(
        (status, app.sessions().scale().held()),
        (201, alone),
        "a hundred forks hold what one session held"
    );
    let forks: Vec<String> = forks["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fork| fork["id"].as_str().unwrap().to_owned())
        .collect();
    let mut made = 0;
    let refused = forks.iter().cycle().find_map(|fork| {
        let (status, reply) = add(&app, fork, 10_000);
        made += 1;
        (status != 201).then_some(reply)
    });
    let refused = refused.unwrap();
    assert_eq!(refused["limit"], 2_000_000);
    assert!(refused["detail"].as_str().unwrap().contains("--max-bytes"), "{refused}");
    // Each fork adds about 20,600 bytes of its own to the shared million.
    assert!((40..60).contains(&made), "{made}");
    assert_eq!(ask(&app, &format!("DELETE /v1/sessions/{id}"), Json::Null).0, 204);
    for fork in &forks {
        assert_eq!(ask(&app, &format!("DELETE /v1/sessions/{fork}"), Json::Null).0, 204);
    }
    assert_eq!(app.sessions().scale().held(), 0);
}

#[test]
fn replies_of_a_batch_beyond_the_cap_are_withheld() {
    let app = notes(|settings| settings.sessions.max_reply_bytes = 100_000);
    let (_, made) = ask(&app, "POST /v1/sessions", json!({"n": 200}));
    let ids: Vec<&str> =
        made["sessions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    let text = "a".repeat(1_000);
    let calls: Vec<Json> =
        ids.iter().map(|id| json!({"session": id, "api": "AddNote", "arguments": {"text": text}})).collect();
    // Several threads call two hundred sessions, which must not change the reply.
    let (status, reply) = ask(&app, "POST /v1/calls", json!({"calls": calls}));
    assert_eq!(status, 200);
    let results = reply["results"].as_array().unwrap();
    let told = results.iter().take_while(|result| result["status"] == 201).count();
    assert!((90..98).contains(&told), "{told}");
    for withheld in &results[told..] {
        assert_eq!((&withheld["withheld"], &withheld["status"]), (&json!(true), &json!(422)));
        assert_eq!(withheld["body"]["limit"], 100_000);
        assert!(withheld["body"]["detail"].as_str().unwrap().contains("--max-reply-bytes"), "{withheld}");
    }
    // The calls were made nevertheless.
    assert_eq!(ask(&app, &format!("GET /v1/sessions/{}/log", ids[199]), Json::Null).1["total"], 1);
}

#[test]
fn a_page_of_a_log_and_an_export_have_so_many_bytes() {
    let app = notes(|settings| settings.sessions.max_reply_bytes = 100_000);
    let id = session(&app, json!({}));
    for _ in 0..30 {
        assert_eq!(add(&app, &id, 4_000).0, 201);
    }
    for what in ["log", "export", "export?format=har"] {
        let (status, problem) = ask(&app, &format!("GET /v1/sessions/{id}/{what}"), Json::Null);
        assert_eq!((status, &problem["limit"]), (422, &json!(100_000)), "{what}: {problem}");
    }
    let (status, page) = ask(&app, &format!("GET /v1/sessions/{id}/log?limit=5&offset=20"), Json::Null);
    assert_eq!((status, page["calls"].as_array().unwrap().len()), (200, 5));
    assert_eq!((&page["total"], &page["calls"][4]["n"]), (&json!(30), &json!(24)));
}

#[test]
fn a_reply_has_so_many_bytes() {
    let app = notes(|settings| settings.sessions.max_session_bytes = 1 << 30);
    let id = session(&app, json!({}));
    for _ in 0..40 {
        assert_eq!(add(&app, &id, 1_000_000).0, 201);
    }
    let (status, problem) = ask(&app, &format!("GET /s/{id}/notes"), Json::Null);
    assert_eq!(status, 422);
    assert!(problem["detail"].as_str().unwrap().contains("33554432 bytes"), "{problem}");
}
