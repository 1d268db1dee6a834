//! Owns the tests of sessions that survive a restart.

use super::*;

fn stored(folder: &std::path::Path, fsync: bool, worlds: &[&str]) -> Result<Arc<App>, StartError> {
    let mut settings = Settings::new("http://test");
    settings.sessions.state = Some(StateFolder { fsync, ..StateFolder::new(folder.to_owned()) });
    let worlds = worlds.iter().map(|name| catalog_world(name)).collect();
    App::new(worlds, Some(Box::new(OneTask)), settings)
}

/// Returns the state of a session in the replies to an admin.
fn seen(app: &Arc<App>, id: &str) -> Vec<Json> {
    let what = ["", "/log", "/diff", "/state"];
    what.iter().map(|what| ask(app, &format!("GET /v1/sessions/{id}{what}"), Json::Null).1).collect()
}

#[test]
fn sessions_are_the_same_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let app = stored(folder.path(), false, &["shop"]).unwrap();
    let post = |app: &Arc<App>, id: &str, what: &str, body: Json| {
        let (status, reply) = ask(app, &format!("POST /v1/sessions/{id}/{what}"), body);
        assert!(status < 300, "{what}: {reply}");
        reply
    };
    let call = |app: &Arc<App>, id: &str, api: &str, arguments: Json| {
        post(app, id, "call", json!({"api": api, "arguments": arguments}))
    };
    let faults = json!([{"kind": "error", "probability": 0.5, "executed": true}]);
    let first = session(&app, json!({"seed": 3, "faults": faults, "lease_seconds": 700}));
    for product in [11, 12, 13, 14] {
        call(&app, &first, "DeleteProduct", json!({"product_id": product}));
    }
    post(&app, &first, "clock", json!({"clock": "2026-05-01T10:00"}));
    call(&app, &first, "SignIn", json!({"email": "ana@example.org", "pin": "1111"}));
    let fork = post(&app, &first, "fork", json!({"at": 2, "n": 2}));
    let forks = [0, 1].map(|n| fork["sessions"][n]["id"].as_str().unwrap().to_owned());
    call(&app, &forks[1], "AllNames", json!({}));
    let nested = post(&app, &forks[1], "fork", json!({}))["id"].as_str().unwrap().to_owned();
    let reset = session(&app, json!({}));
    call(&app, &reset, "DeleteProduct", json!({"product_id": 11}));
    post(&app, &reset, "reset", Json::Null);
    call(&app, &reset, "GetProduct", json!({"product_id": 11}));
    let gone = session(&app, json!({}));
    call(&app, &gone, "AllNames", json!({}));
    assert_eq!(ask(&app, &format!("DELETE /v1/sessions/{gone}"), Json::Null).0, 204);
    let task = session(&app, json!({"task": "t1"}));
    post(&app, &task, "messages", json!({"content": "Which product is it?"}));
    call(&app, &task, "DeleteProduct", json!({"product_id": 14}));
    post(&app, &task, "finish", json!({"outcome": "done", "message": "Product 14 is deleted."}));
    let graded = post(&app, &task, "grade", json!({}));
    let searching = session(&app, json!({"search": "toolsearch/1"}));
    let keywords = json!({"keywords": "throw a product away"});
    let found = call(&app, &searching, "ToolSearcher", keywords.clone());
    assert_ne!(found, call(&app, &reset, "ToolSearcher", keywords), "two versions of the search");
    assert_eq!(ask(&app, &format!("GET /v1/sessions/{searching}"), Json::Null).1["search"], "toolsearch/1");
    let (status, problem) = ask(&app, "POST /v1/sessions", json!({"search": "toolsearch/9"}));
    assert_eq!((status, &problem["parameter"]), (422, &json!("search")));
    assert_eq!(problem["expected"], "one of toolsearch/1, toolsearch/3, toolsearch/4");
    let ids = [&first, &forks[0], &forks[1], &nested, &reset, &task, &searching];
    let before: Vec<_> = ids.iter().map(|id| seen(&app, id)).collect();
    drop(app);

    let app = stored(folder.path(), true, &["shop"]).unwrap();
    assert_eq!(app.sessions().count(), ids.len());
    for (id, before) in ids.iter().zip(&before) {
        assert_eq!(seen(&app, id), *before);
    }
    assert_eq!(ask(&app, &format!("GET /v1/sessions/{gone}"), Json::Null).0, 404);
    assert_eq!(post(&app, &task, "grade", Json::Null), graded);
    call(&app, &nested, "GetProduct", json!({"product_id": 15}));
    let before = seen(&app, &nested);
    drop(app);
    let app = stored(folder.path(), false, &["shop"]).unwrap();
    assert_eq!(seen(&app, &nested), before, "what came after the first restart survives the second");
}

#[test]
fn sessions_that_were_refused_do_not_come_back() {
    let limited = |folder: &std::path::Path| {
        app(&["shop"], |settings| {
            settings.sessions.max_sessions = 9;
            settings.sessions.state = Some(StateFolder::new(folder.to_owned()));
        })
    };
    // The requests overlap by chance, and not in every round.
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let app = limited(folder.path());
        let together = std::sync::Barrier::new(6);
        let create = || {
            together.wait();
            ask(&app, "POST /v1/sessions", json!({"n": 5})).0
        };
        let mut statuses: Vec<u16> = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..6).map(|_| scope.spawn(create)).collect();
            asking.into_iter().map(|one| one.join().unwrap()).collect()
        });
        statuses.sort_unstable();
        assert_eq!((statuses.as_slice(), app.sessions().count()), (&[201, 429, 429, 429, 429, 429][..], 5));
        drop(app);
        let app = limited(folder.path());
        assert_eq!(app.sessions().count(), 5);
        // Reserved places that were not used are free again.
        assert_eq!(ask(&app, "POST /v1/sessions", json!({"n": 4, "clock": "never"})).0, 422);
        assert_eq!(ask(&app, "POST /v1/sessions", json!({"n": 4})).0, 201);
    }
}

#[test]
fn a_session_that_cannot_be_continued_is_left_out_and_costs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let both = ["shop", "hotel_rooms"];
    let start = |worlds: &[&str]| stored(folder.path(), false, worlds).unwrap();
    let app = start(&both);
    let made = |world: &str| session(&app, json!({"world": world}));
    let call = |id: &str, api: &str, arguments: Json| {
        ask(&app, &format!("POST /v1/sessions/{id}/call"), json!({"api": api, "arguments": arguments}))
    };
    let (id, fork_of, other) = (made("shop"), made("shop"), made("hotel_rooms"));
    for id in [&id, &fork_of] {
        call(id, "DeleteProduct", json!({"product_id": 14}));
    }
    ask(&app, &format!("POST /v1/sessions/{fork_of}/fork"), Json::Null);
    call(&id, "GetProduct", json!({"product_id": 11}));
    let before = seen(&app, &id);
    drop(app);
    let left_out = |worlds: &[&str], count: usize, expected: &str| {
        let app = start(worlds);
        assert_eq!(
            (app.sessions().count(), app.sessions().left_out().len()),
            (4 - count, count),
            "{:?}",
            app.sessions().left_out()
        );
        for session in app.sessions().left_out() {
            assert!(session.why.contains(expected) && !session.why.contains(&id), "{session:?}");
        }
        assert_eq!(ask(&app, &format!("GET /v1/sessions/{other}"), Json::Null).0, 200);
        assert_eq!(ask(&app, &format!("GET /v1/sessions/{id}"), Json::Null).0, 404);
    };
    left_out(&["hotel_rooms"], 3, "recorded with world `shop`, found no world of this name");
    let meddle = |space: &str, key: &[u8], from: &str, to: &str| {
        let database = fjall::Database::builder(folder.path()).open().unwrap();
        let space = database.keyspace(space, fjall::KeyspaceCreateOptions::default).unwrap();
        let text = String::from_utf8(space.get(key).unwrap().unwrap().to_vec()).unwrap();
        assert!(text.contains(from), "{text}");
        space.insert(key, text.replace(from, to)).unwrap();
    };
    let check = |space: &str, key: &[u8], from: &str, to: &str, expected: &str| {
        meddle(space, key, from, to);
        left_out(&both, 1, expected);
        meddle(space, key, to, from);
    };
    let (head, event) = (id.as_bytes(), [id.as_bytes(), &0_u64.to_be_bytes()].concat());
    let engine = "engine version engine/0, found engine/1";
    check("heads", head, "\"engine\":\"engine/1\"", "\"engine\":\"engine/0\"", engine);
    check("heads", head, "\"world_hash\":\"", "\"world_hash\":\"0", "world `shop` of hash 0");
    check("heads", head, "\"format\":3", "\"form\":1", "cannot be read");
    check("events", &event, "DeleteProduct", "DeletProduct", "of status 200, found 404");
    check("events", &event, "\"call\"", "\"cal\"", "cannot be read");
    // The failed starts lost no data.
    let app = start(&both);
    assert_eq!((app.sessions().count(), seen(&app, &id)), (4, before));
    drop(app);
    let app = start(&["hotel_rooms"]);
    app.sessions().remove_left_out().unwrap();
    drop(app);
    let app = start(&both);
    assert_eq!((app.sessions().count(), app.sessions().left_out()), (1, &[][..]));
}
