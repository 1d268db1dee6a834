//! Owns the tests of the official Python client against a session's MCP endpoint.

mod every_tool;

use std::path::{Path, PathBuf};
use std::process::Command;

use diorama_tests::installed;
use diorama_tests::requests::{NOTES, serve};
use diorama_tests::server::Server;
use serde_json::{Value as Json, json};

fn python() -> Option<PathBuf> {
    installed("venv-mcp/bin/python")
}

/// Returns the client's view of a session after some tool calls.
fn client(python: &Path, server: &Server, id: &str, calls: &[(&str, Json)]) -> Json {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mcp/client.py");
    let mut command = Command::new(python);
    command.arg(script).arg(format!("{}/v1/sessions/{id}/mcp", server.url));
    for (name, arguments) in calls {
        command.arg(name).arg(arguments.to_string());
    }
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn names(seen: &Json) -> Vec<&str> {
    seen["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_client_lists_searches_and_calls_and_rest_sees_the_change() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.yaml");
    std::fs::write(&file, NOTES).unwrap();
    let server = serve(&["--world", file.to_str().unwrap()]);
    let [id, other] =
        [0, 1].map(|_| server.post("/v1/sessions", Json::Null)["id"].as_str().unwrap().to_owned());
    let calls = [
        ("ToolSearcher", json!({"keywords": "add a note"})),
        ("AddNote", json!({"title": "Tea", "stars": 2})),
        ("AddNote", json!({"title": "Tea", "stars": -2})),
        ("ListNotes", json!({})),
        ("NoSuchTool", json!({})),
    ];
    let seen = client(&python, &server, &id, &calls);
    assert_eq!(seen["server"], "diorama");
    assert_eq!(names(&seen), ["ToolSearcher", "SignIn", "ListNotes", "AddNote", "DeleteNote"]);
    let add = &seen["tools"][3];
    assert_eq!(add["schema"]["properties"]["stars"]["minimum"], 0, "{add}");
    assert_eq!(seen["more"], Json::Null);
    let unknown = -32601;
    let expected = json!({
        "prompts": unknown, "resources": unknown, "templates": unknown, "prompt": unknown, "resource": unknown,
        "cursor": -32602,
    });
    assert_eq!(seen["refused"], expected);
    // The client refuses content that violates the output schema.
    assert_eq!(add["output"]["properties"]["title"]["type"], "string", "{add}");
    let results = seen["results"].as_array().unwrap();
    let failed: Vec<bool> = results.iter().map(|result| result["error"].as_bool().unwrap()).collect();
    assert_eq!(failed, [false, false, true, false, true], "{results:?}");
    let found: Json = serde_json::from_str(results[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(found["tools"][0]["name"], "AddNote", "{found}");
    assert_eq!(results[1]["structured"]["title"], "Tea");
    assert!(results[2]["text"].as_str().unwrap().contains("stars"), "{}", results[2]);

    let listed = server.get(&format!("/s/{id}/notes"));
    assert!(listed.to_string().contains("\"Tea\""), "{listed}");
    assert_eq!(server.get(&format!("/v1/sessions/{other}/diff")), json!({"changes": []}));
    let log = server.get(&format!("/v1/sessions/{id}/log"));
    assert_eq!(log["total"], 6, "five by MCP and one by REST");

    // The client reads writes that were made over REST.
    server.post(&format!("/s/{id}/notes"), json!({"title": "Rice"}));
    let seen = client(&python, &server, &id, &[("ListNotes", json!({}))]);
    assert!(seen["results"][0]["text"].as_str().unwrap().contains("\"Rice\""), "{seen}");
    server.stop();
}

#[test]
fn a_call_that_is_not_made_is_a_tool_error_that_says_why() {
    let Some(python) = python() else { return };
    let server = serve(&["--compose", "--max-calls", "1"]);
    let id = server.post("/v1/sessions", Json::Null)["id"].as_str().unwrap().to_owned();
    let calls = [
        ("ToolCaller", json!({"arguments": {}})),
        ("ToolCaller", json!({"api": "ListDentists", "arguments": [1]})),
        ("ToolSearcher", json!({"keywords": "dentists"})),
        ("ToolSearcher", json!({"keywords": "dentists"})),
    ];
    let seen = client(&python, &server, &id, &calls);
    let results = seen["results"].as_array().unwrap();
    let said: Vec<(bool, Json)> = results
        .iter()
        .map(|result| {
            let text: Json = serde_json::from_str(result["text"].as_str().unwrap()).unwrap();
            assert!(result["error"] == false || result["structured"].is_null(), "{result}");
            (result["error"].as_bool().unwrap(), text["status"].clone())
        })
        .collect();
    assert_eq!(said, [(true, json!(422)), (true, json!(422)), (false, Json::Null), (true, json!(429))]);
    assert!(results[0]["text"].as_str().unwrap().contains("`api`: expected"), "{}", results[0]);
    server.stop();
}

#[test]
fn replies_keep_to_the_schemas_of_their_tools() {
    let Some(python) = python() else { return };
    let signing = [
        ("city_library", "SignIn", "member", ["card_number", "pin"], "session_token"),
        ("personal_bank", "Login", "customer", ["customer_number", "passcode"], "access_token"),
    ];
    for (world, sign_in, users, secrets, token) in signing {
        let server = serve(&[]);
        let made = server.post("/v1/sessions", json!({"world": world}));
        let id = made["id"].as_str().unwrap();
        let state = server.get(&format!("/v1/sessions/{id}/state?resource={users}"));
        let user = &state["resources"][users][0];
        let secret = json!({secrets[0]: user[secrets[0]], secrets[1]: user[secrets[1]]});
        let seen = client(&python, &server, id, &[(sign_in, secret)]);
        let issued = &seen["results"][0]["structured"]["token"];
        let call = |tool: &'_ Json| match &tool["schema"]["properties"][token] {
            Json::Null => json!({}),
            _ => json!({token: issued}),
        };
        let tools = seen["tools"].as_array().unwrap();
        let calls: Vec<(&str, Json)> =
            tools.iter().map(|tool| (tool["name"].as_str().unwrap(), call(tool))).collect();
        // The client ends with an error if a reply violates its schema.
        let seen = client(&python, &server, id, &calls);
        let made = seen["results"].as_array().unwrap().iter().filter(|result| result["error"] == false);
        let made = made.count();
        assert!(made >= 3, "{world}: {made} of {}: {seen}", calls.len());
        assert!(seen["tools"].as_array().unwrap().iter().any(|tool| !tool["output"].is_null()), "{world}");
        server.stop();
    }
}

#[test]
fn of_a_large_pool_a_client_sees_the_search_and_the_caller() {
    let Some(python) = python() else { return };
    let server = serve(&["--compose"]);
    let id = server.post("/v1/sessions", Json::Null)["id"].as_str().unwrap().to_owned();
    let keywords = json!({"keywords": "list dentists"});
    let seen = client(&python, &server, &id, &[("ToolSearcher", keywords.clone())]);
    assert_eq!(names(&seen), ["ToolSearcher", "ToolCaller"]);
    let found: Json = serde_json::from_str(seen["results"][0]["text"].as_str().unwrap()).unwrap();
    let name = found["tools"][0]["name"].as_str().unwrap();
    let seen = client(&python, &server, &id, &[("ToolCaller", json!({"api": name, "arguments": {}}))]);
    let log = server.get(&format!("/v1/sessions/{id}/log"));
    assert_eq!(log["calls"][1]["api"], name);
    assert_eq!(seen["results"][0]["error"], json!(log["calls"][1]["status"].as_u64().unwrap() >= 400));
    server.stop();
}

#[test]
fn a_session_that_is_not_there_and_a_dropped_connection_are_errors() {
    let Some(python) = python() else { return };
    let server = serve(&[]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mcp/client.py");
    let ran = Command::new(&python)
        .arg(script)
        .arg(format!("{}/v1/sessions/nope/mcp", server.url))
        .output()
        .unwrap();
    assert!(!ran.status.success());
    let (status, _, problem) = server.send("POST /v1/sessions/nope/mcp", &[], &json!({"jsonrpc": "2.0"}));
    assert_eq!((status, &problem["status"]), (404, &json!(404)));
    let id = server.post("/v1/sessions", json!({"world": "dental_clinic"}))["id"].clone();
    let mcp = format!("/v1/sessions/{}/mcp", id.as_str().unwrap());
    let page = [("origin", "http://a.example"), ("access-control-request-method", "POST")];
    for (line, headers, expected) in [
        (format!("GET {mcp}"), &[][..], 405),
        (format!("POST {mcp}"), &[("accept", "application/json")][..], 406),
        (format!("OPTIONS {mcp}"), &page[..], 204),
        // A page of another site must not reach the server through a browser, even under a name that resolves
        // to this machine.
        (format!("POST {mcp}"), &page[..1], 403),
        (format!("POST {mcp}"), &[("host", "a.example:8080")], 403),
    ] {
        let (status, kind, problem) = server.send(&line, headers, &json!({"jsonrpc": "2.0"}));
        assert_eq!(status, expected, "{line}: {problem}");
        assert!(status == 204 || kind == "application/problem+json", "{line}: {kind} {problem}");
    }
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for origin in ["http://localhost:6274", "http://127.0.0.1:3000", &*server.url] {
        let headers = [("accept", "application/json, text/event-stream"), ("origin", origin)];
        let (status, _, reply) = server.send(&format!("POST {mcp}"), &headers, &ping);
        assert_eq!((status, &reply["result"]), (200, &json!({})), "{origin}: {reply}");
    }
    let faults = json!([{"kind": "drop"}]);
    let made = server.post("/v1/sessions", json!({"world": "dental_clinic", "faults": faults}));
    let id = made["id"].as_str().unwrap();
    let listed = server.get("/v1/worlds/dental_clinic");
    let name = listed["apis"][0]["name"].as_str().unwrap();
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {}},
    });
    let headers = [("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2025-06-18")];
    let dropped = server.try_send(&format!("POST /v1/sessions/{id}/mcp"), &headers, &call);
    assert!(dropped.is_err(), "{dropped:?}");
    let log = server.get(&format!("/v1/sessions/{id}/log"));
    assert_eq!(log["calls"][0]["faults"][0]["kind"], "drop", "{log}");
    server.stop();
}
