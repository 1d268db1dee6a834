//! Owns the tests of leases, caps, faults and forks over HTTP, of HTTP itself, and of the limits of an
//! agent's access.

use super::*;
use crate::http::route::Access;

fn post(app: &Arc<App>, path: &str, body: Json) -> Json {
    let (status, reply) = ask(app, &format!("POST {path}"), body);
    assert!(status < 300, "{path}: {reply}");
    reply
}

#[test]
fn an_agent_with_a_sessions_id_reaches_its_own_apis_and_nothing_more() {
    let app = app(&["shop"], |settings| settings.control_token = Some("secret".into()));
    let created = run(send(&app, "secret", "POST /v1/sessions", json!({"task": "t1", "n": 2}))).2;
    let id = |n: usize| created["sessions"][n]["id"].as_str().unwrap().to_owned();
    let (own, other) = (id(0), id(1));
    assert!(own.len() == 32 && own != other);
    let mut agents = Vec::new();
    for route in routes::routes() {
        let line = format!("{} {}", route.method, route.path.replace("{id}", &own));
        let (status, _, body) = run(send(&app, "", &line, Json::Null));
        match route.admission.access {
            Access::Admin => assert_eq!(status, 401, "{line}: {body}"),
            Access::Open => assert_eq!(status, 200, "{line}: {body}"),
            Access::Agent => {
                agents.push(route.path);
                let text = body.to_string();
                // No reply to an agent may contain the second turn, the checks or the ids of others.
                for secret in ["Number 14.", "variants", &other, created["token"].as_str().unwrap()] {
                    assert!(!text.contains(secret), "{line}: {text}");
                }
            }
        }
    }
    let expected = ["call", "task", "messages", "finish", "confirm", "mcp"]
        .map(|what| format!("/v1/sessions/{{id}}/{what}"));
    assert_eq!(
        agents,
        ["/v1/search", "/v1/calls"].map(str::to_owned).into_iter().chain(expected).collect::<Vec<_>>()
    );
    // Below the base path, only the world answers.
    for path in ["state", "log", "diff", "grade", "v1/sessions", "../v1/sessions", "%2e%2e/v1/tasks"] {
        assert_eq!(run(send(&app, "", &format!("GET /s/{own}/{path}"), Json::Null)).0, 404, "{path}");
    }
}

#[test]
fn a_lease_ends_with_silence_and_begins_anew_with_every_request() {
    let app = app(&["shop"], |settings| settings.sessions.lease = Some(std::time::Duration::from_secs(60)));
    let pass = |seconds: u64| {
        app.sessions().advance(seconds * 1_000);
        app.sessions().sweep();
    };
    let (short, usual, forever) = (
        session(&app, json!({"lease_seconds": 10})),
        session(&app, json!({})),
        session(&app, json!({"lease_seconds": 0})),
    );
    let is_there = |id: &str| ask(&app, &format!("GET /v1/sessions/{id}/log"), Json::Null).0 == 200;
    pass(8);
    assert!(is_there(&short), "not over yet, and begun anew");
    pass(8);
    assert_eq!(post(&app, &format!("/v1/sessions/{short}/heartbeat"), Json::Null)["lease_seconds"], 10);
    pass(11);
    assert!(!is_there(&short));
    assert_eq!(app.sessions().count(), 2);
    post(&app, &format!("/v1/sessions/{usual}/heartbeat"), json!({"lease_seconds": 500}));
    pass(400);
    assert!(is_there(&usual));
    pass(501);
    assert!(!is_there(&usual) && is_there(&forever));
    let text = ask(&app, "GET /metrics", Json::Null).1;
    assert!(text.as_str().unwrap().contains("\ndiorama_sessions_expired_total 2\n"), "{text}");
    let (status, problem) = ask(&app, "POST /v1/sessions", json!({"lease_seconds": 99_999_999}));
    assert_eq!((status, &problem["parameter"]), (422, &json!("lease_seconds")));
}

#[test]
fn caps_say_what_they_are() {
    let app = app(&["shop"], |settings| {
        settings.sessions.max_calls = 3;
        settings.sessions.max_calls_per_s = Some(2);
        settings.sessions.max_sessions = 2;
    });
    let id = session(&app, json!({}));
    let call = || run(send(&app, "", &format!("GET /s/{id}/products/11"), Json::Null));
    assert_eq!((call().0, call().0), (200, 200));
    let (status, headers, problem) = call();
    assert_eq!((status, &headers["retry-after"], &problem["limit"]), (429, &"1".parse().unwrap(), &json!(2)));
    app.sessions().advance(1_000);
    assert_eq!(call().0, 200);
    app.sessions().advance(1_000);
    let (status, _, problem) = call();
    assert_eq!((status, &problem["limit"]), (429, &json!(3)), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("reset it"), "{problem}");
    assert_eq!(ask(&app, &format!("GET /v1/sessions/{id}/log"), Json::Null).1["total"], 3);
    let (status, problem) = ask(&app, "POST /v1/sessions", json!({"n": 2}));
    assert_eq!((status, &problem["limit"]), (429, &json!(2)));
}

#[test]
fn a_fork_starts_at_any_earlier_call() {
    let app = app(&["shop"], |_| ());
    let id = session(&app, json!({"seed": 9}));
    let call = |id: &str, api: &str, arguments: Json| {
        post(&app, &format!("/v1/sessions/{id}/call"), json!({"api": api, "arguments": arguments}))
    };
    let shown = |id: &str| ask(&app, &format!("GET /v1/sessions/{id}"), Json::Null).1;
    let mut hashes = vec![shown(&id)["state_hash"].clone()];
    for product in [11, 12, 14] {
        call(&id, "PatchProduct", json!({"product_id": product, "name": format!("P{product}")}));
        hashes.push(shown(&id)["state_hash"].clone());
    }
    for (at, hash) in hashes.iter().enumerate() {
        let forks = post(&app, &format!("/v1/sessions/{id}/fork"), json!({"at": at, "n": 2}));
        for fork in forks["sessions"].as_array().unwrap() {
            let fork = shown(fork["id"].as_str().unwrap());
            assert_eq!((&fork["state_hash"], &fork["calls"]), (hash, &json!(at)));
        }
    }
    let (status, problem) = ask(&app, &format!("POST /v1/sessions/{id}/fork"), json!({"at": 4}));
    assert_eq!((status, &problem["parameter"]), (422, &json!("at")), "{problem}");
    let listed = ask(&app, "GET /v1/sessions?limit=2&offset=2", Json::Null).1;
    assert_eq!((&listed["total"], listed["sessions"].as_array().unwrap().len()), (&json!(9), 2));
}

#[test]
fn faults_are_seen_logged_and_excused() {
    let app = app(&["shop"], |_| ());
    let faults = json!([
        {"kind": "rate_limit", "retry_after": 3, "until": 1},
        {"kind": "latency", "ms": 40, "from": 1, "until": 2},
        {"kind": "drop", "from": 2, "until": 3},
    ]);
    let id = session(&app, json!({"task": "t1", "faults": faults}));
    let get = || {
        let line = format!("/s/{id}/products/14");
        respond(&app, &Method::GET, &line.parse().unwrap(), &HeaderMap::new(), &[])
    };
    let limited = get();
    assert_eq!((limited.status().as_u16(), &limited.headers()["retry-after"]), (429, &"3".parse().unwrap()));
    let late = get();
    assert_eq!(late.status().as_u16(), 200);
    let hangs_up = |response: Response<Body>| response.extensions().get::<transport::HangUp>().is_some();
    assert_eq!([late, get(), get()].map(hangs_up), [false, true, false]);
    let log = ask(&app, &format!("GET /v1/sessions/{id}/log"), Json::Null).1;
    let kinds: Vec<&Json> =
        log["calls"].as_array().unwrap().iter().map(|call| &call["faults"][0]["kind"]).collect();
    assert_eq!(kinds, [&json!("rate_limit"), &json!("latency"), &json!("drop"), &Json::Null]);
    let graded = post(&app, &format!("/v1/sessions/{id}/grade"), json!({}));
    assert_eq!(
        (&graded["success"], &graded["attribution"], &graded["excluded"]),
        (&json!(false), &json!("agent"), &json!(false)),
        "the call that the task needs was never tried: {graded}"
    );
    assert_eq!(
        graded["faults"],
        json!([{"call": 0, "kind": "rate_limit"}, {"call": 2, "kind": "drop"}]),
        "being late excuses nothing"
    );
    let check = |faults: Json, part: &str| {
        let (status, problem) = ask(&app, "POST /v1/sessions", json!({"world": "shop", "faults": faults}));
        assert!(status == 422 && problem["detail"].as_str().unwrap().contains(part), "{problem}");
    };
    check(json!([{"kind": "drop"}, {"kind": "explode"}]), "`faults[1]`");
    check(json!([{"kind": "drop", "apis": ["NoSuchApi"]}]), "faults[0].apis");
    check(json!([{"kind": "error", "status": 200}]), "`faults[0].status`");
}

/// A failed episode is excluded only if a needed call was tried three times and met a fault each time.
#[test]
fn only_faults_at_needed_calls_exclude() {
    let app = app(&["shop"], |_| ());
    let excluded = |faults: Json, calls: &[&str]| {
        let id = session(&app, json!({"task": "t1", "faults": faults}));
        for call in calls {
            let (api, product) = call.split_once(' ').unwrap();
            let arguments = json!({"product_id": product.parse::<u32>().unwrap()});
            post(&app, &format!("/v1/sessions/{id}/call"), json!({"api": api, "arguments": arguments}));
        }
        let graded = post(&app, &format!("/v1/sessions/{id}/grade"), json!({}));
        graded["excluded"].as_bool().unwrap()
    };
    let delete = "DeleteProduct 14";
    let always = json!([{"kind": "error", "status": 503}]);
    assert!(excluded(always.clone(), &[delete, delete, delete]));
    assert!(!excluded(always.clone(), &[delete, delete]), "it was given up too soon");
    assert!(!excluded(always.clone(), &["DeleteProduct 11", "GetProduct 14", "GetProduct 14", delete]));
    // Repeated reads until a failure excuse no failure, and neither does a fault at another product.
    assert!(!excluded(always, &["GetProduct 14", "GetProduct 14", "GetProduct 14", "GetProduct 14"]));
    let first_two = json!([{"kind": "error", "status": 503, "until": 2}]);
    assert!(!excluded(first_two, &[delete, delete, delete]), "the third try was answered");
}

/// After the end of the last goal, all kinds of calls get the same refusal, and the grade is that of the end.
#[test]
fn an_end_is_final() {
    let app = app(&["shop"], |_| ());
    let id = session(&app, json!({"task": "t1"}));
    let at = |path: &str| format!("POST /v1/sessions/{id}/{path}");
    let ended = ask(&app, &at("finish"), json!({"outcome": "done", "message": "It is deleted."}));
    assert_eq!((ended.0, &ended.1["done"]), (200, &json!(true)), "{}", ended.1);
    let refused = [
        ask(&app, &at("call"), json!({"api": "DeleteProduct", "arguments": {"product_id": 14}})),
        ask(&app, &at("messages"), json!({"content": "And now?"})),
        ask(&app, &at("finish"), json!({"outcome": "done"})),
        ask(&app, &format!("DELETE /s/{id}/products/14"), Json::Null),
    ];
    for (status, problem) in &refused {
        assert_eq!(*status, 409, "{problem}");
        assert_eq!(problem["detail"], refused[0].1["detail"], "{problem}");
    }
    let batch = json!({"calls": [{"session": id, "api": "DeleteProduct", "arguments": {"product_id": 14}}]});
    let batch = post(&app, "/v1/calls", batch);
    assert_eq!(
        (&batch["results"][0]["status"], &batch["results"][0]["refused"]),
        (&json!(409), &json!(true))
    );
    let graded = post(&app, &format!("/v1/sessions/{id}/grade"), json!({}));
    assert_eq!((&graded["success"], &graded["components"]["change"]), (&json!(false), &json!("failed")));
}

/// No refusal names hidden APIs or paths of the session's task.
#[test]
fn refusals_name_what_the_task_shows_and_no_more() {
    let app = app(&["shop"], |_| ());
    let id = session(&app, json!({"task": "t1"}));
    let base = crate::shared::shop();
    let shown = ["DeleteProduct", "GetProduct"];
    let hidden: Vec<&Api> = base.world().apis.iter().filter(|api| !shown.contains(&&*api.name)).collect();
    let prefix = &base.world().domains[0].base_path;
    assert!(hidden.len() > 3);
    for api in &hidden {
        let path = format!("{prefix}{}", api.path).replace(['{', '}'], "");
        for line in [format!("{} /s/{id}{path}", api.method.as_str()), format!("GET /s/{id}{path}s")] {
            let (status, problem) = ask(&app, &line, Json::Null);
            let text = problem.to_string();
            assert!(matches!(status, 400 | 404 | 405), "{line}: {problem}");
            for other in &hidden {
                assert!(
                    !text.contains(&format!("\"{} {prefix}{}\"", other.method.as_str(), other.path)),
                    "{line}: {text}"
                );
                assert!(!text.contains(&format!("`{}`", other.name)), "{line}: {text}");
            }
        }
    }
    assert_eq!(ask(&app, &format!("GET /s/{id}{prefix}/products/14"), Json::Null).0, 200);
}

/// An episode with too many replies for the grader fails, and its reply gives the reason.
#[test]
fn an_episode_that_outgrew_what_can_be_judged_has_failed() {
    let app = app(&["shop"], |settings| settings.sessions.max_reply_bytes = 2_000);
    let id = session(&app, json!({"task": "t1"}));
    let at = |path: &str| format!("POST /v1/sessions/{id}/{path}");
    for _ in 0..60 {
        ask(&app, &at("call"), json!({"api": "GetProduct", "arguments": {"product_id": 14}}));
    }
    let (status, problem) = ask(&app, &at("finish"), json!({"outcome": "done"}));
    assert_eq!((status, &problem["done"]), (409, &json!(true)), "{problem}");
    let (status, graded) = ask(&app, &at("grade"), json!({}));
    assert_eq!((status, &graded["success"], &graded["excluded"]), (200, &json!(false), &json!(false)));
    assert_eq!(graded["errors"][0]["class"], "too_long");
    assert_eq!(ask(&app, &at("grade"), json!({})).1, graded);
}

#[test]
fn the_log_of_a_session_is_exported_for_other_programs() {
    let app = app(&["shop"], |_| ());
    let id = session(&app, json!({"task": "t1", "seed": 4}));
    let base = format!("/s/{id}");
    ask(&app, &format!("GET {base}/products/14"), Json::Null);
    post(&app, &format!("/v1/sessions/{id}/messages"), json!({"content": "Which product?"}));
    ask(&app, &format!("DELETE {base}/products/14"), Json::Null);
    let export =
        |format: &str| ask(&app, &format!("GET /v1/sessions/{id}/export?format={format}"), Json::Null);
    let (_, dialogue) = export("dialogue");
    let roles: Vec<&str> =
        dialogue["messages"].as_array().unwrap().iter().map(|said| said["role"].as_str().unwrap()).collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant"]
    );
    assert_eq!(dialogue["messages"][4]["content"], "Which product?");
    assert_eq!(dialogue["messages"][5]["content"], "Number 14.");
    let (_, har) = export("har");
    let entries = har["log"]["entries"].as_array().unwrap();
    assert_eq!(entries[1]["request"]["method"], "DELETE");
    assert_eq!(entries[1]["request"]["url"], format!("http://test{base}/products/14"));
    assert_eq!(entries[1]["response"]["status"], 200);
    let (_, script) = export("curl");
    let script = script.as_str().unwrap();
    assert!(script.contains(&format!("BASE=${{1:-'http://test{base}'}}")), "{script}");
    assert!(script.contains("curl -sS -X DELETE \"$BASE\"'/products/14'"), "{script}");
    assert_eq!(export("xml").0, 422);
}

#[test]
fn http_gets_what_it_asks_for() {
    let app = app(&["shop"], |_| ());
    let id = session(&app, json!({}));
    let send = |line: &str, headers: &[(&str, &str)], body: &str| {
        let (method, path) = line.split_once(' ').unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(axum::http::HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        respond(&app, &method.parse().unwrap(), &path.parse().unwrap(), &map, body.as_bytes())
    };
    let status =
        |line: &str, headers: &[(&str, &str)], body: &str| send(line, headers, body).status().as_u16();
    let product = format!("GET /s/{id}/products/11");

    for document in ["GET /openapi.json".to_owned(), format!("GET /s/{id}/openapi.json")] {
        let first = send(&document, &[], "");
        let tag = first.headers()["etag"].to_str().unwrap().to_owned();
        let again = send(&document, &[("if-none-match", &tag)], "");
        assert_eq!((again.status().as_u16(), &again.headers()["etag"]), (304, &tag.parse().unwrap()));
        assert_eq!(status(&document, &[("if-none-match", "\"other\"")], ""), 200);
    }
    for path in ["/openapi".to_owned(), format!("/s/{id}/openapi")] {
        let (json, yaml) = (format!("GET {path}.json"), format!("GET {path}.yaml"));
        let text = |response: Response<Body>| {
            let bytes = run(axum::body::to_bytes(response.into_body(), usize::MAX)).unwrap();
            String::from_utf8(bytes.to_vec()).unwrap()
        };
        let document: Json = serde_json::from_str(&text(send(&json, &[], ""))).unwrap();
        let as_yaml = send(&yaml, &[], "");
        assert_eq!(as_yaml.headers()["content-type"], "application/yaml");
        let tag = as_yaml.headers()["etag"].clone();
        let read: Json = serde_saphyr::from_str(&text(as_yaml)).unwrap();
        assert_eq!(read, document, "{yaml}");
        for accept in ["application/yaml", "application/json;q=0.5, text/yaml", "application/yaml, */*;q=0.1"]
        {
            assert_eq!(send(&json, &[("accept", accept)], "").headers()["etag"], tag, "{accept}");
        }
        for accept in ["*/*", "application/yaml, application/json", "application/*"] {
            let answered = send(&json, &[("accept", accept)], "");
            assert_eq!(answered.headers()["content-type"], "application/json", "{accept}");
            assert_ne!(answered.headers()["etag"], tag, "two forms have two tags");
        }
        assert_eq!(status(&yaml, &[("if-none-match", tag.to_str().unwrap())], ""), 304);
        assert_eq!(status(&yaml, &[("accept", "application/json")], ""), 406);
        assert_eq!(status(&json, &[("accept", "text/html")], ""), 406);
    }
    assert_eq!(status("GET /v1/worlds", &[("accept", "application/yaml")], ""), 406);
    assert_eq!(status(&product, &[("accept", "text/html")], ""), 406);
    assert_eq!(status(&product, &[("accept", "text/html, */*;q=0.1")], ""), 200);
    assert_eq!(status(&product, &[("accept", "application/json;q=0, text/html")], ""), 406);
    assert_eq!(status("GET /metrics", &[("accept", "text/plain")], ""), 200);
    assert_eq!(status("POST /v1/search", &[("content-type", "text/plain")], "{\"query\": \"x\"}"), 415);
    assert_eq!(status("POST /v1/search", &[("origin", "http://a.example")], "{\"query\": \"x\"}"), 415);
    assert_eq!(status("GET /v1/worlds", &[("host", "evil.example:8080")], ""), 403);
    assert_eq!(status("GET /v1/worlds", &[("host", "127.0.0.1:8080")], ""), 200);
    assert_eq!(status("GET /v1/worlds", &[("host", "[::1]:8080")], ""), 200);
    assert_eq!(status("GET /v1/worlds", &[("host", "test")], ""), 200, "the public name");

    let shared = send(&product, &[("origin", "http://a.example"), ("x-request-id", "abc-1")], "");
    assert_eq!(shared.headers()["access-control-allow-origin"], "*");
    assert_eq!(shared.headers()["x-request-id"], "abc-1");
    assert!(!send(&product, &[], "").headers().contains_key("x-request-id"), "the same bytes in every run");
    let control = send("GET /v1/worlds", &[("origin", "http://a.example")], "");
    assert!(!control.headers().contains_key("access-control-allow-origin"), "pages have no business there");
    assert!(control.headers().contains_key("x-request-id"));
    let asked = [
        ("origin", "http://a.example"),
        ("access-control-request-method", "PATCH"),
        ("access-control-request-headers", "authorization, content-type"),
    ];
    let preflight = send(&format!("OPTIONS /s/{id}/products/11"), &asked, "");
    assert_eq!(preflight.status().as_u16(), 204);
    assert_eq!(preflight.headers()["access-control-allow-headers"], "authorization, content-type");
    assert!(preflight.headers()["access-control-allow-methods"].to_str().unwrap().contains("PATCH"));
    assert_eq!(send("OPTIONS /v1/worlds", &[], "").headers()["allow"], "GET, HEAD, OPTIONS");

    let total = || ask(&app, &format!("GET /v1/sessions/{id}/log"), Json::Null).1["total"].as_u64().unwrap();
    let before = total();
    assert_eq!(status(&product.replace("GET", "HEAD"), &[], ""), 200);
    assert_eq!(total(), before + 1, "what is read is logged, whichever way");
    let page = send(&format!("GET /v1/sessions/{id}/log?offset=1&limit=1"), &[], "");
    let links = page.headers()["link"].to_str().unwrap();
    assert!(links.contains("offset=2&limit=1>; rel=\"next\"") && links.contains("rel=\"prev\""), "{links}");

    assert_eq!(status("GET /readyz", &[], ""), 200);
    app.ending.store(true, Relaxed);
    assert_eq!((status("GET /readyz", &[], ""), status("GET /healthz", &[], "")), (503, 200));
}

#[test]
fn ids_of_sessions_are_cut_in_logs_however_they_are_spelled() {
    let id = "0123456789abcdef0123456789ABCDEF";
    let coded = id.replace('a', "%61").replace('0', "%30");
    for spelled in [id, &coded] {
        let shown = extract::cut_ids(&format!("/s/{spelled}/products/11"));
        assert_eq!(shown, "/s/01234567.../products/11");
    }
    assert_eq!(extract::cut_ids(&format!("/v1/sessions/a-1_{id}/log")), "/v1/sessions/a-1_01234567.../log");
}

#[test]
fn sessions_share_the_text_of_their_documents() {
    let app = app(&["shop"], |_| ());
    let [one, other] = [session(&app, json!({})), session(&app, json!({}))];
    let world = app.sessions().worlds().only().unwrap().ready().unwrap();
    let parts = |id: &str, form: &str| {
        let uri = format!("/s/{id}/openapi.{form}").parse().unwrap();
        let mut body = respond(&app, &Method::GET, &uri, &HeaderMap::new(), b"").into_body();
        let mut parts = Vec::new();
        while let Some(frame) = run(http_body_util::BodyExt::frame(&mut body)) {
            parts.push(frame.unwrap().into_data().unwrap());
        }
        parts
    };
    for form in ["json", "yaml"] {
        let (first, second) = (parts(&one, form), parts(&other, form));
        assert_eq!(first.len(), second.len());
        for (first, second) in first.iter().zip(&second) {
            assert!(first.len() == 32 || first.as_ptr() == second.as_ptr(), "{form}");
        }
        let expect =
            openapi::described(world.world(), &format!("http://test/s/{other}"), Auth::default(), |_| true);
        let found: Json = serde_saphyr::from_slice(&second.concat()).unwrap();
        assert_eq!(found, expect, "{form}");
    }
    // The document omits APIs that the agent must find by searching.
    let task = session(&app, json!({"task": "t1"}));
    let document: Json = serde_json::from_slice(&parts(&task, "json").concat()).unwrap();
    assert_eq!(document["paths"].as_object().unwrap().len(), 1, "{}", document["paths"]);
}

#[test]
fn the_world_at_the_root_goes_before_the_servers_own_routes() {
    let app = app(&["shop"], |settings| {
        settings.default_session = true;
        settings.control_token = Some("secret".into());
    });
    let get = |path: &str| run(send(&app, "", &format!("GET {path}"), Json::Null));
    assert_eq!((get("/healthz").0, app.sessions().count()), (200, 0), "the session begins when it is needed");
    let (status, _, product) = get("/products/14");
    assert_eq!((status, &product["product_id"]), (200, &json!(14)), "{product}");
    assert_eq!(get("/v3/products/14").2, product, "below the document's server path");
    assert_eq!(run(send(&app, "", "DELETE /products/14", Json::Null)).0, 200);
    assert_eq!(get("/products/14").0, 404, "it remembers");
    assert_eq!(app.sessions().count(), 1);
    // The server's own routes remain where the world has none, and always below the prefix.
    for path in ["/healthz", "/__diorama/healthz", "/__diorama/openapi.json"] {
        assert_eq!(get(path).0, 200, "{path}");
    }
    for path in ["/v1/sessions", "/__diorama/v1/sessions"] {
        assert_eq!(
            (get(path).0, run(send(&app, "secret", &format!("GET {path}"), Json::Null)).0),
            (401, 200)
        );
    }
    let (status, _, problem) = get("/product/14");
    assert_eq!(status, 404);
    assert!(problem["near"].as_array().is_some_and(|near| !near.is_empty()), "{problem}");
    let id = app.sessions().all()[0].id().to_owned();
    assert_eq!(run(send(&app, "secret", &format!("DELETE /v1/sessions/{id}"), Json::Null)).0, 204);
    assert_eq!(get("/products/14").0, 200, "another session takes its place");
}

/// Pages that return the request they got.
struct Echo;

impl Pages for Echo {
    fn answer(&self, _: &App, request: &axum::http::Request<axum::body::Bytes>) -> Response<Body> {
        let said = format!("{} {} {}", request.method(), request.uri(), request.body().len());
        Response::new(Body::from(said))
    }
}

#[test]
fn a_browser_that_asks_for_the_root_is_sent_to_the_pages() {
    let ask = |app: &Arc<App>, line: &str, accept: &'static str, body: &[u8]| {
        let (method, path) = line.split_once(' ').unwrap();
        let headers = HeaderMap::from_iter([(axum::http::header::ACCEPT, HeaderValue::from_static(accept))]);
        let response = respond(app, &method.parse().unwrap(), &path.parse().unwrap(), &headers, body);
        let status = response.status().as_u16();
        let location = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        let bytes = run(axum::body::to_bytes(response.into_body(), usize::MAX)).unwrap();
        (status, location.unwrap_or_default(), String::from_utf8(bytes.to_vec()).unwrap())
    };
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    let without = app(&["shop"], |_| ());
    assert_eq!(ask(&without, "GET /", browser, b"").0, 404, "where no pages are shown");
    let app = app(&["shop"], |settings| settings.public_url = "https://test/below".to_owned());
    app.show_pages(Arc::new(Echo));
    let (status, location, _) = ask(&app, "GET /", browser, b"");
    assert_eq!((status, &*location), (303, "/below/__diorama/console"));
    for line in ["GET /", "POST /"] {
        assert_eq!(ask(&app, line, "application/json", b"").0, 404, "{line}");
    }
    let (status, _, said) = ask(&app, "POST /__diorama/console/a?b=c", browser, b"d=e");
    assert_eq!((status, &*said), (200, "POST /__diorama/console/a?b=c 3"));
}
