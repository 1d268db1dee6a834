//! Sessions that survive a restart.

use super::*;

fn stored(folder: &std::path::Path, fsync: bool, worlds: &[&str]) -> Result<Arc<App>, StartError> {
    let mut settings = Settings::new("http://test");
    settings.state = Some(StateFolder { path: folder.to_owned(), fsync, accept_loss: false });
    let worlds = worlds.iter().map(|name| catalog_world(name)).collect();
    App::new(worlds, Some(Box::new(OneTask)), settings)
}

/// The state of a session as an admin sees it.
fn seen(app: &App, id: &str) -> Vec<Json> {
    let what = ["", "/log", "/diff", "/state"];
    what.iter().map(|what| ask(app, &format!("GET /v1/sessions/{id}{what}"), Json::Null).1).collect()
}

#[test]
fn sessions_are_the_same_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let app = stored(folder.path(), false, &["shop"]).unwrap();
    let post = |app: &App, id: &str, what: &str, body: Json| {
        let (status, reply) = ask(app, &format!("POST /v1/sessions/{id}/{what}"), body);
        assert!(status < 300, "{what}: {reply}");
        reply
    };
    let call = |app: &App, id: &str, api: &str, arguments: Json| {
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
    assert_eq!(problem["expected"], "one of toolsearch/1, toolsearch/3");
    let ids = [&first, &forks[0], &forks[1], &nested, &reset, &task, &searching];
    let before: Vec<_> = ids.iter().map(|id| seen(&app, id)).collect();
    drop(app);

    let app = stored(folder.path(), true, &["shop"]).unwrap();
    assert_eq!(app.sessions(), ids.len());
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
            settings.max_sessions = 9;
            settings.state = Some(StateFolder { path: folder.to_owned(), fsync: false, accept_loss: false });
        })
    };
    // Requests meet by chance, and not in every round.
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
        assert_eq!((statuses.as_slice(), app.sessions()), (&[201, 429, 429, 429, 429, 429][..], 5));
        drop(app);
        let app = limited(folder.path());
        assert_eq!(app.sessions(), 5);
        // Places that were reserved and not taken are free again.
        assert_eq!(ask(&app, "POST /v1/sessions", json!({"n": 4, "clock": "never"})).0, 422);
        assert_eq!(ask(&app, "POST /v1/sessions", json!({"n": 4})).0, 201);
    }
}

#[test]
fn what_cannot_be_continued_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let app = stored(folder.path(), false, &["shop"]).unwrap();
    let id = session(&app, json!({}));
    ask(&app, &format!("GET /s/{id}/products/11"), Json::Null);
    drop(app);
    let refused = |worlds: &[&str]| match stored(folder.path(), false, worlds) {
        Ok(_) => panic!("it should not start"),
        Err(error) => error.to_string(),
    };
    let error = refused(&["hotel_rooms"]);
    assert!(error.contains("world `shop`") && error.contains("--state"), "{error}");
    let meddle = |from: &str, to: &str| {
        let database = fjall::Database::builder(folder.path()).open().unwrap();
        let heads = database.keyspace("heads", fjall::KeyspaceCreateOptions::default).unwrap();
        let head = String::from_utf8(heads.get(&id).unwrap().unwrap().to_vec()).unwrap();
        assert!(head.contains(from), "{head}");
        heads.insert(&*id, head.replace(from, to)).unwrap();
    };
    meddle("\"engine\":\"engine/1\"", "\"engine\":\"engine/0\"");
    let error = refused(&["shop"]);
    assert!(error.contains("engine version engine/0, found engine/1"), "{error}");
    meddle("\"engine\":\"engine/0\"", "\"engine\":\"engine/1\"");
    meddle("\"world_hash\":\"", "\"world_hash\":\"0");
    let error = refused(&["shop"]);
    assert!(error.contains("world `shop` of hash 0"), "{error}");
    meddle("\"world_hash\":\"0", "\"world_hash\":\"");
    meddle("\"format\":3", "\"form\":1");
    assert!(refused(&["shop"]).contains("cannot be read"));
}
