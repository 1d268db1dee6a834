use diorama_catalog as catalog;
use diorama_seeds::materialise::Source;
use diorama_seeds::model::{Api, ApiId, Place, World};
use diorama_seeds::schema::Type;
use diorama_seeds::script::{Goal, Script, WithheldDetail};
use diorama_seeds::task::{Call, ChangeCheck, ChangeKind, Checks, GoalCheck, KeyCheck, Outcome};
use diorama_seeds::value::Instant;
use serde_json::{Map, Value as Json, json};

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{HOST, HeaderValue};
use axum::http::{HeaderMap, Method, Response, Uri};
use diorama_sessions::{StateFolder, TaskError, TaskSource, TaskSpec, TaskSummary, WorldSource};
use tower::ServiceExt as _;

use super::*;
use crate::shared::shop;
use diorama_engine::session::{Session, SessionOptions};

mod batch;
mod confirm;
mod connections;
mod fits;
mod kept;
mod limits;
mod nodes;
mod service;
mod snapshots;
mod state;

fn catalog_world(name: &str) -> WorldSource {
    let text = catalog::source(name).unwrap_or(include_str!("../../engine/src/tests/shop.yaml"));
    let doc = diorama_seeds::world::read(name, text.as_bytes()).unwrap();
    WorldSource {
        id: name.to_owned(),
        source: Source::new(doc).unwrap(),
        seed: 0,
        server_path: "/v3".to_owned(),
    }
}

fn app(worlds: &[&str], change: impl FnOnce(&mut Settings)) -> Arc<App> {
    let mut settings = Settings::new("http://test/");
    change(&mut settings);
    let worlds = worlds.iter().map(|name| catalog_world(name)).collect();
    App::new(worlds, Some(Box::new(OneTask)), settings).unwrap()
}

/// Returns the response to a request as its connection would get it.
fn respond(app: &Arc<App>, method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Response<Body> {
    run(respond_to(app, method, uri, headers, body))
}

async fn respond_to(
    app: &Arc<App>,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    body: &[u8],
) -> Response<Body> {
    let mut request = Request::new(Body::from(body.to_vec()));
    (*request.method_mut(), *request.uri_mut()) = (method.clone(), uri.clone());
    *request.headers_mut() = headers.clone();
    request.headers_mut().entry(HOST).or_insert(HeaderValue::from_static("test"));
    router::service(app).oneshot(request).await.unwrap()
}

/// Sends a request with a control token. An empty token is omitted.
async fn send(app: &Arc<App>, token: &str, line: &str, body: Json) -> (u16, HeaderMap, Json) {
    let (method, uri) = line.split_once(' ').unwrap();
    let mut headers = HeaderMap::new();
    if !token.is_empty() {
        headers.insert("diorama-token", token.parse().unwrap());
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let parsed = uri.parse().unwrap_or_else(|error| panic!("{uri}: {error}"));
    let response = respond_to(app, &method.parse().unwrap(), &parsed, &headers, body.as_bytes()).await;
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(&bytes)));
    (parts.status.as_u16(), parts.headers, body)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn ask(app: &Arc<App>, line: &str, body: Json) -> (u16, Json) {
    let (status, headers, body) = run(send(app, "", line, body));
    if status >= 400 {
        assert_eq!(headers["content-type"], "application/problem+json", "{line}");
        assert_eq!(body["status"], json!(status), "{line}");
        assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{line}");
    }
    (status, body)
}

fn session(app: &Arc<App>, asked: Json) -> String {
    let (status, body) = ask(app, "POST /v1/sessions", asked);
    assert_eq!(status, 201, "{body}");
    body["id"].as_str().unwrap().to_owned()
}

struct OneTask;

impl TaskSource for OneTask {
    fn count(&self) -> usize {
        1
    }

    fn list(&self, offset: usize, limit: usize) -> Vec<TaskSummary> {
        let one = TaskSummary {
            id: "t1".into(),
            world: "shop".into(),
            split: "test".into(),
            ability: "call".into(),
        };
        [one].into_iter().skip(offset).take(limit).collect()
    }

    /// The tasks ask to delete product 14 of the shop. The task `t2` also has the tool `confirm`.
    fn task(&self, id: &str) -> Result<Option<TaskSpec>, TaskError> {
        let base = shop();
        let change = ChangeCheck {
            resource: "product".into(),
            kind: ChangeKind::Deleted,
            key: KeyCheck::Key(json!(14)),
            fields: Default::default(),
            goal: 0,
        };
        let goals = vec![GoalCheck { outcome: Outcome::Done, ..GoalCheck::default() }];
        let mut script = script();
        if id == "t2" {
            script.goals[0].wants = vec![confirm::want()];
        }
        Ok(["t1", "t2"].contains(&id).then(|| TaskSpec {
            id: "t1".into(),
            world: "shop".into(),
            world_hash: "h".into(),
            system: "Be brief.".into(),
            script,
            visible: ["DeleteProduct", "GetProduct"].iter().filter_map(|name| base.api_named(name)).collect(),
            checks: Checks {
                version: diorama_seeds::task::CHECKS_VERSION,
                goals,
                changes: vec![change],
                allowed: vec![],
                policy: vec![],
                confirms: id == "t2",
            },
            needed: needed(&base),
            clock: Instant(1_772_442_000),
            seed: 7,
            outages: Vec::new(),
            search: diorama_engine::tools::SearchVersion::V1,
            base,
        }))
    }
}

/// Returns the only call of the task's reference solution.
fn needed(base: &diorama_engine::Base) -> Vec<diorama_grade::NeededCall> {
    let call = json!({
        "api": "DeleteProduct", "arguments": {"product_id": 14},
        "sources": {"product_id": {"from": "user", "turn": 1, "start": 7, "end": 9}},
    });
    diorama_grade::NeededCall::collect(&[serde_json::from_value(call).unwrap()], base)
}

/// Returns the script of a customer who withholds the product.
fn script() -> Script {
    let held =
        WithheldDetail { about: "product".into(), say: "Number 14.".into(), ..WithheldDetail::default() };
    let goal = Goal { user: "Delete a product.".into(), withheld: vec![held], ..Goal::default() };
    Script { goals: vec![goal], ..Script::default() }
}

/// Returns arguments from the first records of a world.
fn example(world: &World, api: &Api) -> Map<String, Json> {
    let mut arguments = Map::new();
    for (position, parameter) in api.parameters.iter().enumerate() {
        if api.token.is_some_and(|token| token.index() == position) {
            arguments.insert(parameter.name.to_string(), json!("no such token"));
            continue;
        }
        let of_record = parameter.field.and_then(|(resource, field)| {
            let value = world.resource(resource).records.first()?.get(field.index())?;
            let json = value.to_json(&world.zone);
            (!value.is_missing() && parameter.schema.parse_json(&json, &world.zone).is_ok()).then_some(json)
        });
        let of_type = || match &parameter.schema.kind {
            Type::Integer | Type::Number | Type::Decimal { .. } if parameter.schema.limits.min.is_some() => {
                parameter.schema.limits.min.as_ref().map_or(json!(1), |min| min.to_json(&world.zone))
            }
            Type::Integer | Type::Number | Type::Decimal { .. } => json!(1),
            Type::Boolean => json!(true),
            Type::Date => json!("2026-03-05"),
            Type::Time => json!("10:00"),
            Type::DateTime => json!("2026-03-05T10:00"),
            Type::Enum(values) => json!(&*values[0]),
            Type::List(_) => json!(["a b", "c&d"]),
            Type::Object(_) => json!({}),
            Type::Reference { resource, .. } => {
                let resource = world.resource(*resource);
                resource
                    .records
                    .first()
                    .map_or(json!("x"), |record| record[resource.key.index()].to_json(&world.zone))
            }
            Type::String | Type::Any => json!("ä/?&=+% x"),
        };
        arguments.insert(parameter.name.to_string(), of_record.unwrap_or_else(of_type));
    }
    arguments
}

fn encoded(json: &Json) -> String {
    let text = match json {
        Json::String(text) => text.clone(),
        Json::Array(items) => return items.iter().map(encoded).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    };
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() { (byte as char).to_string() } else { format!("%{byte:02X}") }
            },
        )
        .collect()
}

/// Returns the request of a call, in the form of the served document.
fn request(
    document: &Json,
    base: &str,
    world: &World,
    api: &Api,
    arguments: &Map<String, Json>,
) -> (String, Json) {
    let prefix = &world.domains[api.domain.index()].base_path;
    let mut path = format!("{prefix}{}", api.path);
    let operation = &document["paths"][&path][api.method.as_str().to_lowercase()];
    assert_eq!(operation["operationId"], *api.name);
    let (mut query, mut body) = (Vec::new(), Map::new());
    for (name, value) in arguments {
        let declared = api.parameters.iter().find(|parameter| *parameter.name == **name).unwrap();
        let listed =
            operation["parameters"].as_array().unwrap().iter().find(|listed| listed["name"] == **name);
        match listed.map(|listed| listed["in"].as_str().unwrap()) {
            Some("path") => path = path.replace(&format!("{{{name}}}"), &encoded(value)),
            Some("query") => query.push(format!("{name}={}", encoded(value))),
            Some(other) => panic!("{other}"),
            None if declared.place == Place::Body => {
                let schema =
                    operation.pointer("/requestBody/content/application~1json/schema/properties").unwrap();
                assert!(schema.get(name).is_some());
                body.insert(name.clone(), value.clone());
            }
            // The token may be in the query string.
            None => query.push(format!("{name}={}", encoded(value))),
        }
    }
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    let body = if body.is_empty() { Json::Null } else { Json::Object(body) };
    (format!("{} {base}{path}{query}", api.method.as_str()), body)
}

#[test]
fn a_call_by_route_is_a_call_by_name_and_replies_are_of_the_served_schema() {
    let mut succeeded = 0;
    // This checks the server and no domain's text, so one domain in six does.
    for name in catalog::names().step_by(6) {
        let app = app(&[name], |_| ());
        let ready = app.sessions().worlds().only().unwrap().ready().unwrap();
        let world = ready.world();
        let id = session(&app, json!({}));
        let (status, document) = ask(&app, &format!("GET /s/{id}/openapi.json"), Json::Null);
        assert_eq!(status, 200);
        assert_eq!(document["servers"][0]["url"], format!("http://test/s/{id}"));
        for (position, api) in world.apis.iter().enumerate() {
            let arguments = example(world, api);
            let mut direct = Session::new(Arc::clone(&ready.base), SessionOptions::default());
            let entry = direct.call(&Call { api: api.name.to_string(), arguments: arguments.clone() });
            let expect = (entry.reply.status, entry.reply.json_tree(&world.zone));
            let (line, body) = request(&document, &format!("/s/{id}"), world, api, &arguments);
            assert_eq!(ask(&app, &format!("POST /v1/sessions/{id}/reset"), Json::Null).0, 200);
            assert_eq!(ask(&app, &line, body.clone()), expect, "{name}: {line} {body}");
            let (line, _) = request(&document, &format!("/s/{id}/v3"), world, api, &arguments);
            ask(&app, &format!("POST /v1/sessions/{id}/reset"), Json::Null);
            assert_eq!(ask(&app, &line, body), expect, "{name}: {line}, below the server path");
            let schema = tools_schema(&document, world, ApiId(position as u16));
            if entry.reply.is_success() {
                succeeded += 1;
                fits::check(&schema, &expect.1)
                    .unwrap_or_else(|error| panic!("{name} {}: {error}", api.name));
            }
        }
    }
    assert!(succeeded > 60, "only {succeeded} calls succeeded, which leaves too little to compare");
}

/// Returns the schema of an API's successful replies.
fn tools_schema(document: &Json, world: &World, api: ApiId) -> Json {
    let api = world.api(api);
    let path = format!("{}{}", world.domains[api.domain.index()].base_path, api.path);
    let success = &document["paths"][path][api.method.as_str().to_lowercase()]["responses"]
        [api.reply.status.to_string()];
    success.pointer("/content/application~1json/schema").cloned().unwrap_or(json!({}))
}

#[test]
fn a_session_shows_what_happened_in_it_and_forks_and_resets() {
    let app = app(&["shop"], |_| ());
    let id = session(&app, json!({"seed": 3, "clock": "2026-03-03T08:00"}));
    let shown = |id: &str, what: &str| ask(&app, &format!("GET /v1/sessions/{id}{what}"), Json::Null).1;
    let first = shown(&id, "");
    assert_eq!((&first["seed"], &first["calls"], &first["graded"]), (&json!(3), &json!(0), &json!(false)));
    assert!(first["clock"].as_str().unwrap().starts_with("2026-03-03T08:00"));
    let call = json!({"api": "DeleteProduct", "arguments": {"product_id": 14}});
    assert_eq!(ask(&app, &format!("POST /v1/sessions/{id}/call"), call).1["status"], 200);
    let (diff, log, state) = (shown(&id, "/diff"), shown(&id, "/log"), shown(&id, "/state"));
    let change = &diff["changes"][0];
    let last = log["calls"].as_array().unwrap().last().unwrap();
    assert_eq!(last["changes"], diff["changes"]);
    let resource = change["resource"].as_str().unwrap();
    let records = state["resources"][resource].as_array().unwrap();
    assert_eq!(records.contains(&change["after"]), !change["after"].is_null());
    let one = shown(&id, &format!("/state?resource={resource}"));
    assert_eq!(one["resources"].as_object().unwrap().len(), 1);
    assert_eq!(shown(&id, "/log?offset=100")["calls"], json!([]));

    let (status, forked) = ask(&app, &format!("POST /v1/sessions/{id}/fork"), json!({"n": 2}));
    assert_eq!((status, forked["sessions"].as_array().unwrap().len()), (201, 2));
    let fork = forked["id"].as_str().unwrap();
    assert_eq!(shown(fork, "/diff"), diff);
    ask(&app, &format!("POST /v1/sessions/{id}/reset"), Json::Null);
    assert_eq!(shown(&id, "/diff"), json!({"changes": []}));
    assert_eq!(shown(&id, ""), first);
    assert_eq!(shown(fork, "/diff"), diff, "a reset of the one leaves the other alone");
    let moved = ask(&app, &format!("POST /v1/sessions/{id}/clock"), json!({"clock": "2026-04-01T00:00"}));
    assert!(moved.1["clock"].as_str().unwrap().starts_with("2026-04-01T00:00"));
    assert_eq!(ask(&app, &format!("DELETE /v1/sessions/{id}"), Json::Null).0, 204);
    assert_eq!(ask(&app, &format!("GET /v1/sessions/{id}"), Json::Null).0, 404);
}

#[test]
fn a_task_is_shown_without_its_solution_and_graded_once() {
    let app = app(&["hotel_rooms"], |_| ());
    let id = session(&app, json!({"task": "t1"}));
    let (_, task) = ask(&app, &format!("GET /v1/sessions/{id}/task"), Json::Null);
    let names: Vec<&Json> =
        task["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["DeleteProduct", "GetProduct", "finish"]);
    assert_eq!((&task["system"], &task["user"]), (&json!("Be brief."), &json!("Delete a product.")));
    assert_eq!(task.as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "system", "user", "tools"]);
    let call = |id: &str, api: &str, arguments: Json| {
        ask(&app, &format!("POST /v1/sessions/{id}/call"), json!({"api": api, "arguments": arguments}))
    };
    assert_eq!(
        call(&id, "ListProducts", json!({})).1["status"],
        404,
        "what is not visible may not be called"
    );
    let say =
        |words: &str| ask(&app, &format!("POST /v1/sessions/{id}/messages"), json!({"content": words})).1;
    assert_eq!(
        say("hi"),
        json!({"content": "Please go ahead.", "done": false}),
        "nothing asked, nothing told"
    );
    assert_eq!(say("Which product?"), json!({"content": "Number 14.", "done": false}));

    let (_, idle) = ask(&app, "POST /v1/sessions", json!({"task": "t1"}));
    let idle = ask(&app, &format!("POST /v1/sessions/{}/grade", idle["id"].as_str().unwrap()), json!({})).1;
    assert_eq!((&idle["success"], &idle["attribution"]), (&json!(false), &json!("agent")));

    let deleted = call(&id, "DeleteProduct", json!({"product_id": 14}));
    assert_eq!(deleted.1["status"], 200, "{deleted:?}");
    let grade = |body: Json| ask(&app, &format!("POST /v1/sessions/{id}/grade"), body);
    let end = json!({"outcome": "done", "message": "Product 14 is deleted."});
    ask(&app, &format!("POST /v1/sessions/{id}/finish"), end);
    let (status, graded) = grade(json!({}));
    assert_eq!(
        (status, &graded["success"], &graded["reward"], &graded["excluded"]),
        (200, &json!(true), &json!(1.0), &json!(false)),
        "{graded}"
    );
    let steps: Vec<&Json> =
        graded["progress"].as_array().unwrap().iter().map(|step| &step["change"]).collect();
    assert_eq!(steps, ["failed", "passed"]);
    assert_eq!(grade(json!({})).1, graded, "a second call repeats the result");
    assert_eq!(grade(json!({"answer": "Nothing was done."})).0, 422, "words are not graded");
    assert_eq!(call(&id, "GetProduct", json!({"product_id": 11})).0, 409, "the episode has ended");
    ask(&app, &format!("POST /v1/sessions/{id}/reset"), Json::Null);
    assert_eq!(call(&id, "GetProduct", json!({"product_id": 14})).1["status"], 200);
    assert_eq!(ask(&app, "GET /v1/tasks", Json::Null).1["total"], 1);
    let world = session(&app, json!({"world": "hotel_rooms"}));
    assert_eq!(
        ask(&app, &format!("POST /v1/sessions/{world}/grade"), json!({})).0,
        409,
        "there is no task to grade"
    );
}

#[test]
fn what_the_admin_holds_needs_the_token() {
    let app = app(&["hotel_rooms"], |settings| settings.control_token = Some("secret".into()));
    let status = |token: &str, line: &str| run(send(&app, token, line, Json::Null)).0;
    assert_eq!(status("", "POST /v1/sessions"), 401);
    assert_eq!(status("secre", "POST /v1/sessions"), 401);
    let created = run(send(&app, "secret", "POST /v1/sessions", json!({"n": 2}))).2;
    let id = created["id"].as_str().unwrap();
    let (own, other) = (
        created["sessions"][0]["token"].as_str().unwrap(),
        created["sessions"][1]["token"].as_str().unwrap(),
    );
    let admin = |route: &route::Route| route.admission.access == route::Access::Admin;
    for route in routes::routes().into_iter().filter(admin) {
        let line = format!("{} {}", route.method, route.path.replace("{id}", id));
        assert_eq!(status("", &line), 401, "{line}");
        assert_eq!(status(other, &line), 401, "{line}");
    }
    assert_eq!(status("", "GET /v1/sessions/unknown/state"), 401, "whether a session is there stays hidden");
    assert_eq!(status(own, &format!("GET /v1/sessions/{id}/state")), 200);
    assert_eq!(status(own, "GET /v1/tasks"), 401);
    assert_eq!(status("", &format!("GET /s/{id}/openapi.json")), 200);
    assert_eq!(status("", "GET /healthz"), 200);
    assert_eq!(status("secret", "GET /metrics"), 200);
}

#[test]
fn errors_say_what_is_wrong_and_what_was_expected() {
    let app = app(&["hotel_rooms", "smart_home"], |settings| settings.sessions.max_sessions = 2);
    let check = |line: &str, body: Json, status: u16, part: &str| {
        let found = ask(&app, line, body);
        let detail = found.1["detail"].as_str().unwrap_or_default();
        assert!(found.0 == status && detail.contains(part), "{line}: {found:?}");
    };
    check("POST /v1/sessions", Json::Null, 422, "one of hotel_rooms, smart_home");
    check("POST /v1/sessions", json!({"world": "x"}), 422, "one of hotel_rooms, smart_home");
    check(
        "POST /v1/sessions",
        json!({"world": "smart_home", "faults": [{"status": 500}]}),
        422,
        "`faults[0]`",
    );
    check("POST /v1/sessions", json!({"world": "smart_home", "n": 0}), 422, "`n`");
    check("POST /v1/sessions", json!({"world": "smart_home", "n": 3}), 429, "at most 2");
    check("POST /v1/sessions", json!({"world": "smart_home", "clock": "soon"}), 422, "`clock`");
    check("POST /v1/sessions", json!({"task": "nope"}), 422, "`task`");
    check("POST /v1/sessions", json!({"sed": 1}), 422, "sed");
    check("POST /v1/sessions", json!([1]), 422, "object");
    check("PUT /v1/sessions", Json::Null, 405, "POST");
    check("GET /v1/session", Json::Null, 404, "/openapi.json");
    check("GET /v1/worlds/x", Json::Null, 404, "/v1/worlds");
    check("POST /v1/search", json!({}), 422, "query");
    check("POST /v1/search", json!({"query": "lamp", "domain": "nosuch"}), 422, "`domain`");
    check("GET /s/nope/rooms", Json::Null, 404, "no session");
    let id = session(&app, json!({"world": "smart_home"}));
    check(&format!("GET /s/{id}/devces"), Json::Null, 404, "did you mean");
    check(&format!("GET /v1/sessions/{id}/log?limit=x"), Json::Null, 422, "`limit`");
    check(&format!("GET /v1/sessions/{id}/state?resource=x"), Json::Null, 422, "`resource`");
    let options = run(send(&app, "", &format!("OPTIONS /s/{id}/devices"), Json::Null));
    assert_eq!((options.0, options.1.contains_key("allow")), (204, true));
    let refused = run(send(&app, "", &format!("PUT /s/{id}/devices"), Json::Null));
    assert_eq!((refused.0, &refused.1["allow"]), (405, &options.1["allow"]));
}

#[test]
fn a_surface_that_is_open_is_served_on_loopback_only() {
    let check = |address: &str, token: Option<&str>| check_exposure(address.parse().unwrap(), token).is_ok();
    assert!(check("127.0.0.1", None) && check("::1", None) && check("0.0.0.0", Some("t")));
    assert!(!check("0.0.0.0", None) && !check("192.168.1.4", None) && !check("::", None));
}

#[test]
fn a_search_finds_apis_and_the_metrics_count() {
    let app = app(&["hotel_rooms", "city_library"], |_| ());
    let hits = |body: Json| ask(&app, "POST /v1/search", body).1["hits"].as_array().unwrap().clone();
    let found = hits(json!({"query": "borrow a book from the library", "k": 3}));
    assert_eq!((found.len(), &found[0]["world"]), (3, &json!("city_library")));
    assert!(
        hits(json!({"query": "book", "k": 50, "world": "hotel_rooms"}))
            .iter()
            .all(|hit| hit["world"] == "hotel_rooms")
    );
    assert_eq!(hits(json!({"query": "?!"})), Vec::<Json>::new());
    let id = session(&app, json!({"world": "hotel_rooms"}));
    ask(&app, &format!("POST /v1/sessions/{id}/call"), json!({"api": "NoSuchApi"}));
    let text = ask(&app, "GET /metrics", Json::Null).1;
    let text = text.as_str().unwrap();
    assert!(
        text.contains("\ndiorama_sessions 1\n") && text.contains("\ndiorama_call_errors_total 1\n"),
        "{text}"
    );
}
