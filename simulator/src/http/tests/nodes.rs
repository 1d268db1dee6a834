//! Owns the tests of one server among several: ids with its name, keys of requests that make sessions, and
//! agent checks.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use tokio::net::TcpListener;

use super::*;

fn on_node(name: &str, change: impl FnOnce(&mut Settings)) -> Arc<App> {
    app(&["shop"], |settings| {
        settings.sessions.node = Some(name.parse().unwrap());
        change(settings);
    })
}

fn stored(folder: &Path, node: Option<&str>) -> Result<Arc<App>, String> {
    let mut settings = Settings::new("http://test");
    settings.sessions.node = node.map(|node| node.parse().unwrap());
    settings.sessions.state = Some(StateFolder::new(folder.to_owned()));
    let app = App::new(vec![catalog_world("shop")], Some(Box::new(OneTask)), settings);
    app.map_err(|error| error.to_string().replace(folder.to_str().unwrap(), "DIR"))
}

/// Sends a request with more headers. Returns the status and the body of the reply.
fn send_with(app: &Arc<App>, line: &str, headers: &[(&'static str, &str)], body: &str) -> (u16, Json) {
    let (method, uri) = line.split_once(' ').unwrap();
    let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    let headers: HeaderMap = headers.collect();
    let response = respond(app, &method.parse().unwrap(), &uri.parse().unwrap(), &headers, body.as_bytes());
    let status = response.status().as_u16();
    let bytes = run(axum::body::to_bytes(response.into_body(), usize::MAX)).unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

fn keyed(app: &Arc<App>, path: &str, key: &str, body: &str) -> (u16, Json) {
    send_with(app, &format!("POST {path}"), &[("idempotency-key", key)], body)
}

fn ids(made: &Json) -> Vec<String> {
    let sessions = made["sessions"].as_array().unwrap_or_else(|| panic!("{made}"));
    sessions.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn ids_of_new_sessions_and_forks_carry_the_node() {
    let app = on_node("n-1", |_| ());
    let (_, made) = ask(&app, "POST /v1/sessions", json!({"n": 3}));
    let first = made["id"].as_str().unwrap();
    assert_eq!(made["base_url"], format!("http://test/s/{first}"));
    let (_, forks) = ask(&app, &format!("POST /v1/sessions/{first}/fork"), json!({"n": 3}));
    let all: BTreeSet<String> = ids(&made).into_iter().chain(ids(&forks)).collect();
    assert_eq!(all.len(), 6);
    for id in &all {
        assert_eq!(id.split_once('_').map(|(node, _)| node), Some("n-1"), "{id}");
        assert_eq!(ask(&app, &format!("GET /s/{id}/products/11"), Json::Null).0, 200, "{id}");
    }
}

#[test]
fn sessions_of_other_nodes_are_misdirected() {
    let app = on_node("n-1", |settings| settings.control_token = Some("secret".into()));
    let alone = self::app(&["shop"], |_| ());
    let random = "0123456789abcdef0123456789abcdef";
    let foreign = format!("n-2_{random}");
    let mut lines = vec![format!("GET /s/{foreign}/products/11"), format!("GET /s/{foreign}/openapi.json")];
    let of_sessions = routes::routes().into_iter().filter(|route| route.admission.has_session);
    lines.extend(
        of_sessions.map(|route| format!("{} {}", route.method, route.path.replace("{id}", &foreign))),
    );
    for line in &lines {
        // This also holds without a token, because only its own node knows a session's token.
        let (status, _, problem) = run(send(&app, "", line, Json::Null));
        assert_eq!((status, &problem["node"]), (421, &json!("n-1")), "{line}: {problem}");
        assert_eq!(problem["expected_node"], "n-2", "{line}");
    }
    let (status, problem) = ask(&alone, &lines[0], Json::Null);
    assert_eq!((status, &problem["node"], &problem["expected_node"]), (421, &Json::Null, &json!("n-2")));
    let detail = "the session is on node `n-2`, found a server without a node's name; nothing was done: send the \
                  request to that node";
    assert_eq!(problem["detail"], detail);
    // Ids of this node and ids without a node belong to no session.
    for id in [format!("n-1_{random}"), random.to_owned(), "n-2_x".to_owned()] {
        let (status, _, problem) = run(send(&app, "secret", &format!("GET /v1/sessions/{id}"), Json::Null));
        assert_eq!(status, 404, "{id}: {problem}");
    }
}

#[test]
fn a_batch_makes_the_calls_of_its_own_node() {
    let app = on_node("n-1", |_| ());
    let own = session(&app, json!({}));
    let foreign = "n-2_0123456789abcdef0123456789abcdef";
    let call = |id: &str| json!({"session": id, "api": "GetProduct", "arguments": {"product_id": 11}});
    let (status, reply) = ask(&app, "POST /v1/calls", json!({"calls": [call(foreign), call(&own)]}));
    assert_eq!((status, &reply["results"][1]["status"]), (200, &json!(200)), "{reply}");
    let refused = &reply["results"][0];
    assert_eq!((&refused["status"], &refused["refused"]), (&json!(421), &json!(true)), "{reply}");
    assert_eq!(refused["body"]["expected_node"], "n-2");
}

#[test]
fn a_header_names_the_node_where_the_path_does_not() {
    let app = on_node("n-1", |_| ());
    let status =
        |app: &Arc<App>, node: &str| send_with(app, "GET /v1/sessions", &[("diorama-node", node)], "").0;
    assert_eq!((status(&app, "n-1"), status(&app, "n-2"), status(&app, "")), (200, 421, 421));
    assert_eq!(status(&self::app(&["shop"], |_| ()), "n-1"), 421);
}

#[test]
fn a_key_gives_the_same_sessions_again() {
    for app in [on_node("n-1", |_| ()), app(&["shop"], |_| ())] {
        let (status, first) = keyed(&app, "/v1/sessions", "mine", r#"{"n": 3}"#);
        let (again, second) = keyed(&app, "/v1/sessions", "mine", r#"{"n": 3}"#);
        assert_eq!((status, again, app.sessions().count()), (201, 201, 3));
        assert_eq!(first, second);
        assert!(!ids(&first).iter().any(|id| id.contains("mine")), "{first}");
        let (status, problem) = keyed(&app, "/v1/sessions", "mine", r#"{"n": 4}"#);
        assert_eq!((status, &problem["parameter"]), (422, &json!("Idempotency-Key")), "{problem}");
        assert_ne!(ids(&keyed(&app, "/v1/sessions", "other", r#"{"n": 3}"#).1), ids(&first));
        // Keys of forks are separate per session.
        let fork = |of: usize| keyed(&app, &format!("/v1/sessions/{}/fork", ids(&first)[of]), "mine", "{}").1;
        assert_eq!(ids(&fork(0)), ids(&fork(0)));
        assert_ne!(ids(&fork(0)), ids(&fork(1)));
        // A key is valid as long as one of its sessions exists.
        for (left, id) in [2, 1, 3].into_iter().zip(ids(&first)) {
            assert_eq!(ask(&app, &format!("DELETE /v1/sessions/{id}"), Json::Null).0, 204);
            assert_eq!(ids(&keyed(&app, "/v1/sessions", "mine", r#"{"n": 3}"#).1).len(), left);
        }
    }
}

#[test]
fn a_key_is_given_up_with_a_request_that_makes_nothing() {
    let app = app(&["shop"], |settings| settings.sessions.max_sessions = 1);
    assert_eq!(keyed(&app, "/v1/sessions", "a", r#"{"world": "none"}"#).0, 422);
    assert_eq!(keyed(&app, "/v1/sessions", "a", "{}").0, 201);
    assert_eq!(keyed(&app, "/v1/sessions", "b", "{}").0, 429);
    assert_eq!(keyed(&app, "/v1/sessions", "a", "{}").0, 201, "it is there, so that no place is needed");
    ask(
        &app,
        &format!("DELETE /v1/sessions/{}", ids(&keyed(&app, "/v1/sessions", "a", "{}").1)[0]),
        Json::Null,
    );
    assert_eq!(keyed(&app, "/v1/sessions", "b", "{}").0, 201);
}

#[test]
fn keys_are_checked() {
    let app = app(&["shop"], |_| ());
    let check = |key: &str, found: &str| {
        let (status, problem) = keyed(&app, "/v1/sessions", key, "{}");
        let expected =
            "the header Idempotency-Key: expected one key of 1 to 255 visible ASCII characters, found ";
        assert_eq!((status, &problem["detail"]), (400, &json!(format!("{expected}{found}"))), "{key}");
    };
    check("", "0 bytes");
    check(&"k".repeat(256), "256 bytes");
    check("a b", "others");
    check("ö", "others");
    let mut twice = HeaderMap::new();
    for key in ["a", "a"] {
        twice.append("idempotency-key", key.parse().unwrap());
    }
    let response = respond(&app, &Method::POST, &"/v1/sessions".parse().unwrap(), &twice, b"{}");
    assert_eq!((response.status().as_u16(), app.sessions().count()), (400, 0));
}

#[test]
fn nodes_and_keys_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let app = stored(folder.path(), Some("n-1")).unwrap();
    let (_, made) = keyed(&app, "/v1/sessions", "mine", r#"{"n": 5}"#);
    let of = ids(&made);
    let (_, forks) = keyed(&app, &format!("/v1/sessions/{}/fork", of[0]), "mine", "{}");
    let call = json!({"api": "DeleteProduct", "arguments": {"product_id": 14}});
    for id in &of {
        ask(&app, &format!("POST /v1/sessions/{id}/call"), call.clone());
    }
    drop(app);
    let app = stored(folder.path(), Some("n-1")).unwrap();
    assert_eq!(ids(&keyed(&app, "/v1/sessions", "mine", r#"{"n": 5}"#).1), of, "in the same order");
    let again = keyed(&app, &format!("/v1/sessions/{}/fork", of[0]), "mine", "{}").1;
    assert_eq!((ids(&again), app.sessions().count()), (ids(&forks), 6));
    for id in &of {
        assert_eq!(ask(&app, &format!("GET /v1/sessions/{id}"), Json::Null).1["calls"], 1);
        assert_eq!(ask(&app, &format!("POST /v1/sessions/{id}/reset"), Json::Null).0, 200);
    }
    drop(app);
    let app = stored(folder.path(), Some("n-1")).unwrap();
    assert_eq!(ids(&keyed(&app, "/v1/sessions", "mine", r#"{"n": 5}"#).1), of, "after a reset, too");
}

#[test]
fn the_state_of_another_node_is_refused() {
    let check = |owner: Option<&str>, found: Option<&str>, expect: &str| {
        let folder = tempfile::tempdir().unwrap();
        drop(stored(folder.path(), owner).unwrap());
        assert_eq!(stored(folder.path(), found).err().as_deref(), Some(expect));
        assert!(stored(folder.path(), owner).is_ok());
    };
    check(
        Some("n-1"),
        Some("n-2"),
        "the state folder DIR belongs to node `n-1`, found node `n-2`; start with --node n-1, or with another --state folder",
    );
    check(
        Some("n-1"),
        None,
        "the state folder DIR belongs to node `n-1`, found a server without --node; start with --node n-1, or with \
         another --state folder",
    );
    check(
        None,
        Some("n-2"),
        "the state folder DIR belongs to a server without --node, found node `n-2`; start with no --node, or with \
         another --state folder",
    );
}

#[test]
fn losses_are_noticed_on_a_node_too() {
    let folder = tempfile::tempdir().unwrap();
    let app = stored(folder.path(), Some("n-1")).unwrap();
    let id = session(&app, json!({}));
    let call = json!({"api": "DeleteProduct", "arguments": {"product_id": 14}});
    ask(&app, &format!("POST /v1/sessions/{id}/call"), call);
    drop(app);
    // The count now has one more event than the folder.
    let path = folder.path().join("events.count");
    let mut bytes = std::fs::read(&path).unwrap();
    let place = bytes.chunks_exact_mut(40).find(|place| place[0] != 0).unwrap();
    place[39] += 1;
    std::fs::write(&path, bytes).unwrap();
    let error = stored(folder.path(), Some("n-1")).err().unwrap();
    let short = &id[..12];
    assert!(
        error.contains(&format!("1 of 2 events, of 1 of 1 sessions ({short} has 1 of 2 events)")),
        "{error}"
    );
}

#[test]
fn agent_checks_follow_the_sessions() {
    let app = on_node("n-1", |settings| settings.sessions.max_sessions = 9);
    let mut replies = vec![app.agent_reply()];
    for count in [1, 3, 5] {
        session(&app, json!({"n": count}));
        replies.push(app.agent_reply());
    }
    assert_eq!(replies, ["up ready 100%\n", "up ready 25%\n", "up ready 4%\n", "up ready 0%\n"]);
    let all = app.sessions().all();
    all.iter().skip(1).for_each(|slot| drop(app.sessions().close(slot)));
    assert_eq!(app.agent_reply(), "up ready 25%\n");
    app.ending.store(true, Relaxed);
    assert_eq!(app.agent_reply(), "drain\n");
}

#[test]
fn agent_checks_are_answered_whatever_their_peers_do() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let app = app(&["shop"], |_| ());
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    runtime.spawn(agent_check(listener, Arc::clone(&app)));
    let connect = || TcpStream::connect(address).unwrap();
    let line = |mut stream: TcpStream| {
        let mut line = String::new();
        stream.read_to_string(&mut line).unwrap();
        line
    };
    let expect = "up ready 100%\n";
    assert_eq!(line(connect()), expect);
    // These peers send unexpected bytes, or none and stay connected.
    for bytes in [&b"diorama\n"[..], b"GET / HTTP/1.1\r\n\r\n", &[0, 255, 13, 10], &[b'x'; 4_000]] {
        let mut stream = connect();
        let _ = stream.write_all(bytes);
        assert_eq!(line(stream), expect);
    }
    let silent: Vec<TcpStream> = (0..300).map(|_| connect()).collect();
    assert_eq!(line(connect()), expect);
    session(&app, json!({"n": 1_111}));
    assert_eq!(line(connect()), "up ready 25%\n");
    assert!(silent.into_iter().all(|stream| line(stream) == expect));
}
