//! Owns the tests of `diorama serve` over a real connection on a port of its own.

use std::io::Read;
use std::net::TcpStream;

use diorama_agents::episode::{Task, Worlds};
use diorama_agents::evaluation::environment::{Budget, Environment, EnvironmentError, Finish};
use diorama_agents::evaluation::judge::Judge;
use diorama_agents::evaluation::remote::RemoteEnvironment;
use diorama_output::folder::Folder;
use diorama_output::row::{Dialogue, Role};
use diorama_seeds::ending;
use diorama_seeds::task::Call;
use diorama_tests::requests::{NOTES, serve};
use diorama_tests::server::Server;
use diorama_tests::{dataset, diorama};
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

    // The token is sent as a bearer token. The server refuses a deletion without it.
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
    let out = dataset(folder.path(), 12, 5);
    let server = serve(&["--open", "--tasks", out.to_str().unwrap()]);
    let listed = server.get("/v1/tasks?limit=1000");
    let dataset = Folder::open(diorama_output::storage::Storage::local(out.as_ref())).unwrap();
    let mut rows = 0;
    for row in dataset.rows().map(Result::unwrap) {
        rows += 1;
        let task = Task::of(&row).unwrap();
        let session = server.post("/v1/sessions", json!({"task": row.id, "n": 2}));
        let [solved, idle] = [0, 1].map(|n| session["sessions"][n]["id"].as_str().unwrap().to_owned());
        let shown = server.get(&format!("/v1/sessions/{solved}/task"));
        assert_eq!((&shown["user"], &shown["system"]), (&json!(row.query), &json!(task.system)));
        let tools = serde_json::from_str::<Json>(&row.tools).unwrap();
        let (finish, others) = shown["tools"].as_array().unwrap().split_last().unwrap();
        // Dialogues ask in words for the yes that a policy wants. Agents have a tool for it.
        let (others, confirm) = others.split_at(others.len() - usize::from(task.checks.confirms));
        assert!(confirm.iter().all(|tool| tool["function"]["name"] == "confirm"), "{confirm:?}");
        assert_eq!(others, tools.as_array().unwrap());
        let properties = &finish["function"]["parameters"]["properties"];
        let asked = |schema: &Json| schema["properties"].as_object().unwrap().len();
        let facts = ending::asks(&task.checks, 0);
        assert_eq!(
            (&finish["function"]["name"], asked(&properties["facts"])),
            (&json!("finish"), facts.len())
        );
        follow(&server, &solved, &row, &task);
        for (number, goal) in task.goals.iter().enumerate() {
            // A final answer cannot name an item that no reply has shown.
            let line = format!("POST /v1/sessions/{idle}/finish");
            let (status, ..) = server.send(&line, &[], &end(&task, number, &goal.answer));
            assert!(status == 200 || status == 422, "{line}: {status}");
        }
        let grade = |id: &str| server.post(&format!("/v1/sessions/{id}/grade"), json!({}));
        let graded = grade(&solved);
        assert_eq!(graded["success"], true, "{}: {graded}", row.id);
        assert_eq!(graded["goals"].as_array().unwrap().len(), task.goals.len());
        // If the reference makes no calls, declining alone solves the task.
        let without_calls = task.gold.is_empty();
        assert_eq!(grade(&idle)["success"], without_calls, "{}: the words without their calls", row.id);
    }
    assert!(rows > 0 && listed["total"] == rows, "{rows} {listed}");
    server.stop();
}

/// Repeats a row in a session. The calls must return the recorded replies, and the user must send the
/// recorded messages.
fn follow(server: &Server, session: &str, row: &Dialogue, task: &Task) {
    let path = |what: &str| format!("/v1/sessions/{session}/{what}");
    let (mut ended, mut made) = (0, 0);
    let mut messages =
        row.messages.iter().skip_while(|message| message.role != Role::User).skip(1).peekable();
    while let Some(message) = messages.next() {
        for call in &message.tool_calls {
            for asked in task.goals.iter().flat_map(|goal| &goal.consents).filter(|asked| asked.at == made) {
                let calls = serde_json::to_value(&asked.calls).unwrap();
                server.post(&path("confirm"), json!({"calls": calls, "message": "May I do this?"}));
            }
            made += 1;
            let arguments: Json = serde_json::from_str(&call.function.arguments).unwrap();
            let reply =
                server.post(&path("call"), json!({"api": call.function.name, "arguments": arguments}));
            let recorded = messages.next().unwrap().content.as_deref().unwrap();
            assert_eq!(reply["body"], serde_json::from_str::<Json>(recorded).unwrap(), "{}", row.id);
        }
        let Some(words) = message.content.as_deref().filter(|_| message.tool_calls.is_empty()) else {
            continue;
        };
        let goal = &task.goals[ended];
        // The tool `confirm` gets the consent, whose words are the script's.
        let mut consents = task.goals.iter().flat_map(|goal| &goal.consents);
        if words != goal.answer && consents.any(|asked| asked.at == made) {
            messages.next();
            continue;
        }
        let heard = if words == goal.answer {
            ended += 1;
            server.post(&path("finish"), end(task, ended - 1, words))
        } else {
            server.post(&path("messages"), json!({"content": words}))
        };
        let said = messages.next().map(|message| message.content.clone().unwrap());
        assert_eq!((&heard["content"], &heard["done"]), (&json!(said), &json!(said.is_none())), "{}", row.id);
    }
    assert_eq!(ended, task.goals.len());
}

/// Returns the reference's final answer of a goal, in a session with the row's own seed.
fn end(task: &Task, number: usize, words: &str) -> Json {
    let (goal, check) = (&task.goals[number], &task.checks.goals[number]);
    let replies: Vec<Json> = task.replies.iter().map(|reply| serde_json::from_str(reply).unwrap()).collect();
    let made = |_: u32, field: &str| replies.iter().find_map(|reply| member(reply, field));
    let facts = ending::facts(check, made).unwrap();
    let about = ending::subject(check).filter(|_| goal.reason.is_some());
    json!({"outcome": goal.outcome, "reason": goal.reason, "about": about, "facts": facts, "message": words})
}

/// Returns the first member with this name in a reply.
fn member(reply: &Json, name: &str) -> Option<Json> {
    match reply {
        Json::Object(members) => {
            members.get(name).cloned().or_else(|| members.values().find_map(|value| member(value, name)))
        }
        Json::Array(items) => items.iter().find_map(|item| member(item, name)),
        _ => None,
    }
}

/// Makes the same calls in any environment, and returns the observations.
fn explore(runtime: &tokio::runtime::Runtime, environment: &mut dyn Environment, task: &Task) -> Vec<String> {
    let mut seen = vec![format!("{:?}", environment.view())];
    let call = |api: &str, arguments: Json| Call {
        api: api.to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
    };
    let mut calls = vec![
        call("NoSuchApi", json!({})),
        call("ToolSearcher", json!({"keywords": "appointment"})),
        call("ToolSearcher", json!({})),
    ];
    calls.extend(task.gold.iter().map(|gold| call(&gold.api, Json::Object(gold.arguments.clone()))));
    for call in &calls {
        seen.push(format!("{:?}", runtime.block_on(environment.call(call))));
    }
    for words in ["hi", "Could you tell me more?", "What is your favourite colour?"] {
        seen.push(format!("{:?}", runtime.block_on(environment.say(words))));
    }
    for goal in &task.goals {
        let (outcome, reason) = (goal.outcome, goal.reason);
        // The environment refuses a fact that the goal does not ask for, and the goal stays open.
        for facts in [json!({"no_such_fact": 1}), json!({})] {
            let facts = facts.as_object().unwrap().clone();
            let message = goal.answer.clone();
            let end = Finish { outcome, reason, about: Some("x".to_owned()), facts, message };
            seen.push(format!("{:?}", runtime.block_on(environment.finish(&end))));
            seen.push(format!("{:?}", environment.view().tools.last()));
        }
    }
    // The conversation is over or out of budget. Both environments return the same error.
    seen.push(format!("{:?}", runtime.block_on(environment.call(&calls[0]))));
    seen.push(format!("{:?} {:?}", environment.view().conversation, environment.budget()));
    seen
}

#[test]
fn an_environment_is_the_same_in_process_and_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let out = dataset(folder.path(), 16, 3);
    let server = serve(&["--open", "--tasks", out.to_str().unwrap()]);
    let worlds = Worlds::new(Folder::open(diorama_output::storage::Storage::local(out.as_ref())).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let short = Budget { calls: 4, ..Budget::USUAL };
    let kinds = [Budget::USUAL, short];
    for (row, budget) in Folder::open(diorama_output::storage::Storage::local(out.as_ref()))
        .unwrap()
        .rows()
        .map(Result::unwrap)
        .zip(kinds.into_iter().cycle())
    {
        let task = Task::of(&row).unwrap();
        let seed = task.episode.session_seed;
        let judge = Judge::new(Task::of(&row).unwrap(), worlds.get(&row.world_id).unwrap()).unwrap();
        let mut local = judge.open(seed, budget).unwrap();
        let session = server.post("/v1/sessions", json!({"task": row.id, "seed": seed}));
        let joined = RemoteEnvironment::join(&server.url, session["id"].as_str().unwrap(), budget);
        let mut remote = runtime.block_on(joined).unwrap();
        let (here, there) = (explore(&runtime, &mut local, &task), explore(&runtime, &mut remote, &task));
        assert_eq!(here, there, "{}", row.id);
    }
    server.stop();
    let gone = runtime.block_on(RemoteEnvironment::join("http://127.0.0.1:1", "none", Budget::USUAL));
    assert!(matches!(gone.err(), Some(EnvironmentError::Transport { .. })));
}

#[test]
fn candidates_are_checked_by_the_server_as_by_the_command() {
    let good = include_str!("../data/candidates/dental_move.json");
    let server = serve(&[]);
    let verdicts = server.post("/v1/check", serde_json::from_str(good).unwrap());
    assert_eq!(verdicts["passes"], true, "{verdicts}");
    let mut bad: Json = serde_json::from_str(good).unwrap();
    bad["goals"][0]["turns"] = json!([]);
    let (status, _, problem) = server.send("POST /v1/check", &[], &bad);
    assert!(status == 422 && problem["detail"].as_str().unwrap().contains("goals[0]"), "{problem}");
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
        // The bearer token of a world is not the control token.
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
fn a_node_names_its_sessions_and_answers_agent_checks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.yaml");
    std::fs::write(&file, NOTES).unwrap();
    let world = ["--json", "--world", file.to_str().unwrap()];
    let server = serve(&[&world[..], &["--node", "n-1", "--agent-check", "0"]].concat());
    assert_eq!(server.said["node"], "n-1");
    let id = server.session().unwrap()["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("n-1_"), "{id}");
    let mut check = TcpStream::connect(server.said["agent_check"].as_str().unwrap()).unwrap();
    let mut line = String::new();
    check.read_to_string(&mut line).unwrap();
    assert_eq!(line, "up ready 99%\n");
    let error = Server::start(&[&world[..], &["--node", "n_1"]].concat()).err().unwrap();
    assert!(
        error.contains("'--node <NAME>': expected 1 to 32 letters (a to z), digits and `-`, found '_'"),
        "{error}"
    );
}

#[test]
fn tasks_are_served_behind_a_token_that_is_made_unless_the_surface_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let out = dataset(folder.path(), 20, 3);
    let out = out.to_str().unwrap();
    let server = serve(&["--json", "--tasks", out]);
    let token = server.said["control_token"].as_str().unwrap();
    assert_eq!(server.send("GET /v1/tasks", &[], &Json::Null).0, 401);
    assert_eq!(server.send("GET /v1/tasks", &[("diorama-token", "guess")], &Json::Null).0, 401);
    assert_eq!(server.send("GET /v1/tasks", &[("diorama-token", token)], &Json::Null).0, 200);
    server.stop();

    let server = serve(&["--json", "--open", "--tasks", out]);
    assert_eq!(server.said["control_token"], Json::Null);
    let tasks = server.get("/v1/tasks");
    let searched = |task: &&Json| task["ability"] != "call";
    let task = tasks["tasks"].as_array().unwrap().iter().find(searched).unwrap();
    let id = server.post("/v1/sessions", json!({"task": task["id"]}))["id"].as_str().unwrap().to_owned();
    let paths = || server.get(&format!("/s/{id}/openapi.json"))["paths"].as_object().unwrap().len();
    let (before, tools) = (paths(), server.get(&format!("/v1/sessions/{id}/tools")));
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert!(
        before < names.len(),
        "what is to be found by searching is not in the document: {before} of {names:?}"
    );
    let search = json!({"api": "ToolSearcher", "arguments": {"keywords": names.join(" ")}});
    server.post(&format!("/v1/sessions/{id}/call"), search);
    assert!(paths() > before, "what was found is");
    server.stop();
}

#[test]
fn tasks_are_served_of_the_files_that_the_manifest_names() {
    let folder = tempfile::tempdir().unwrap();
    let out = dataset(folder.path(), 12, 5);
    let line = ["--open", "--tasks", out.to_str().unwrap()];
    // The server also serves rows of another engine version.
    let manifest = out.join("manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let older = text.replacen("\"engine_version\": \"engine/1\"", "\"engine_version\": \"engine/0\"", 1);
    assert!(text != older, "the manifest names the engine");
    std::fs::write(&manifest, older).unwrap();
    serve(&line).stop();
    let rows = std::fs::read_dir(out.join("data")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&rows).unwrap();
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    std::fs::write(&rows, bytes).unwrap();
    let error = diorama_tests::server::Server::start(&line).err().unwrap();
    assert!(error.contains("Changed") && error.contains("found checksum"), "{error}");
}

#[test]
fn worlds_of_one_name_go_by_the_names_of_their_files() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["here.yaml", "there.yaml"] {
        std::fs::write(folder.path().join(file), NOTES).unwrap();
    }
    let server = serve(&["--world", folder.path().to_str().unwrap(), "--world", "dental_clinic"]);
    let worlds = server.get("/v1/worlds");
    let ids: Vec<&Json> = worlds["worlds"].as_array().unwrap().iter().map(|world| &world["id"]).collect();
    assert_eq!(ids, ["here", "there", "dental_clinic"]);
    server.stop();
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

#[test]
fn an_export_with_credentials_is_let_in_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.json");
    let list =
        json!({"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}});
    let reply = json!({"200": {"description": "ok", "content": {"application/json": {"schema": list}}}});
    let document = json!({
        "openapi": "3.0.0",
        "info": {"title": "Notes", "version": "1"},
        "paths": {
            "/notes": {"get": {"operationId": "listNotes", "security": [{"key": []}], "responses": reply}},
            "/drafts": {"get": {"operationId": "listDrafts", "security": [{"sign_in": []}], "responses": reply}},
        },
        "components": {"securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Notes-Key"},
            "sign_in": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {}}}},
        }},
    });
    std::fs::write(&file, document.to_string()).unwrap();
    let server = serve(&["--openapi", file.to_str().unwrap(), "--auth", "enforce"]);
    let session = server.post("/v1/sessions", Json::Null);
    let id = session["id"].as_str().unwrap();
    for api in ["ListNotes", "ListDrafts"] {
        server.post(&format!("/v1/sessions/{id}/call"), json!({"api": api, "arguments": {}}));
    }
    let statuses = |query: &str| -> Vec<u16> {
        let exported = server.get(&format!("/v1/sessions/{id}/export?format=har{query}"));
        let entries = exported["log"]["entries"].as_array().unwrap();
        let send = |entry: &Json| {
            let request = &entry["request"];
            let headers = request["headers"].as_array().unwrap().iter();
            let headers: Vec<_> = headers
                .map(|header| (header["name"].as_str().unwrap(), header["value"].as_str().unwrap()))
                .collect();
            let line = format!("GET {}", request["url"].as_str().unwrap());
            server.send(&line, &headers, &Json::Null).0
        };
        entries.iter().map(send).collect()
    };
    assert_eq!(statuses(""), [401, 401]);
    assert_eq!(statuses("&credentials=true"), [200, 200]);
    server.stop();
}
