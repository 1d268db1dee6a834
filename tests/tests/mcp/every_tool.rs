//! Owns the test that calls every tool of documents and of the catalog with the official clients for Python
//! and TypeScript. Both clients check results against the output schemas of the tools, and refuse results
//! that do not fit.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use diorama_tests::requests::serve;
use diorama_tests::server::Server;
use diorama_tests::{installed, shared_data};
use serde_json::{Map, Value as Json, json};

/// Number of rounds of calls. Each round takes arguments from replies of earlier rounds.
const ROUNDS: usize = 3;

/// Values by the folded names of the members that held them.
type ValuesByName = BTreeMap<String, Vec<Json>>;

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn look_at(name: &str, value: &Json, seen: &mut ValuesByName) {
    match value {
        Json::Object(members) => members.iter().for_each(|(name, inner)| look_at(name, inner, seen)),
        Json::Array(items) => items.iter().for_each(|item| look_at(name, item, seen)),
        Json::Null => {}
        leaf => seen.entry(plain(name)).or_default().push(leaf.clone()),
    }
}

fn is_of(schema: &Json, value: &Json) -> bool {
    match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        _ => true,
    }
}

/// Returns a value for a schema: one that a reply showed under the name or under any key, else a simple one.
fn value(name: &str, schema: &Json, seen: &ValuesByName) -> Json {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    for word in ["oneOf", "anyOf", "allOf"] {
        if let Some(first) = schema[word].get(0) {
            return value(name, first, seen);
        }
    }
    let name = plain(name);
    let shown = seen.get(&name).or_else(|| seen.get("id").filter(|_| name.ends_with("id")));
    if let Some(known) = shown.and_then(|values| values.iter().find(|known| is_of(schema, known))) {
        return known.clone();
    }
    match schema["type"].as_str() {
        Some("object") => arguments(schema, seen),
        Some("array") => json!([value(&name, &schema["items"], seen)]),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(true),
        _ => match schema["format"].as_str() {
            Some("date") => json!("2026-03-02"),
            Some("date-time") => json!("2026-03-02T09:00:00Z"),
            Some("email") => json!("ana@example.org"),
            _ => json!("x".repeat(schema["minLength"].as_u64().unwrap_or(3) as usize)),
        },
    }
}

fn arguments(schema: &Json, seen: &ValuesByName) -> Json {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let members = required.map(|name| (name.to_owned(), value(name, &schema["properties"][name], seen)));
    Json::Object(members.collect::<Map<String, Json>>())
}

/// Returns calls of every tool of a world, and the number that succeed in this order. Calls that may fail
/// come last, one for each tool.
fn calls(server: &Server, world: &str) -> (Vec<Json>, usize) {
    let id = session(server, world);
    let accept = [("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2025-06-18")];
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let (_, _, listed) = server.send(&format!("POST /v1/sessions/{id}/mcp"), &accept, &list);
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{world}: {listed}")).clone();
    let (mut seen, mut made) = (ValuesByName::new(), Vec::new());
    for _ in 0..ROUNDS {
        for tool in &tools {
            let (name, given) = (&tool["name"], arguments(&tool["inputSchema"], &seen));
            let call = json!({"api": name, "arguments": given});
            let reply = server.post(&format!("/v1/sessions/{id}/call"), call);
            if reply["status"].as_u64().is_some_and(|status| status < 300) {
                look_at("", &reply["body"], &mut seen);
                made.push(json!([name, given]));
            }
        }
    }
    let good = made.len();
    made.extend(tools.iter().map(|tool| json!([tool["name"], {"no_such_member": [1]}])));
    (made, good)
}

fn session(server: &Server, world: &str) -> String {
    server.post("/v1/sessions", json!({"world": world}))["id"].as_str().unwrap().to_owned()
}

/// Returns the client's report on the calls of each session.
fn outcomes(client: &mut Command, sessions: &Json) -> Vec<Vec<String>> {
    let mut child =
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(sessions.to_string().as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// Checks that both clients can call every tool of the worlds on a server.
fn check(server: &Server, least: usize) {
    let (Some(python), Some(node)) = (installed("venv-mcp/bin/python"), installed("npm-mcp/node_modules"))
    else {
        return;
    };
    let script = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mcp").join(name);
    let mut clients = [Command::new(python), Command::new("node")];
    clients[0].arg(script("every_tool.py"));
    clients[1].arg(script("every_tool.mjs")).arg(node);
    let names = server.said["worlds"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    let worlds: Vec<(&str, Vec<Json>, usize)> = names
        .map(|world| {
            let (calls, good) = calls(server, world);
            (world, calls, good)
        })
        .collect();
    for client in &mut clients {
        let sessions = worlds.iter().map(|(world, calls, _)| {
            let url = format!("{}/v1/sessions/{}/mcp", server.url, session(server, world));
            json!({"url": url, "calls": calls})
        });
        let found = outcomes(client, &sessions.collect());
        let mut succeeded = 0;
        for ((world, calls, good), outcomes) in worlds.iter().zip(found) {
            for (number, (call, outcome)) in calls.iter().zip(outcomes).enumerate() {
                let expected: &[&str] = if number < *good { &["ok"] } else { &["ok", "error"] };
                assert!(expected.contains(&&*outcome), "{client:?}: {world}: {call}: {outcome}");
                succeeded += usize::from(outcome == "ok");
            }
        }
        assert!(succeeded >= least, "{client:?}: only {succeeded} calls succeeded");
        println!("{succeeded} calls succeeded in {} worlds", worlds.len());
    }
}

#[test]
fn official_clients_take_the_replies_of_every_tool_of_documents() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let own =
        ["mcp/harbour.yaml", "openapi/parcel_post.json", "openapi/tunehall.yaml", "openapi/vet_clinic.yaml"];
    let mut documents: Vec<PathBuf> = own.iter().map(|file| data.join(file)).collect();
    // Documents modelled on public bug reports.
    for folder in ["openapi-cases", "cases4"] {
        let Some(folder) = shared_data(folder) else { continue };
        let entries =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().join("openapi.yaml"));
        // Replies of this document lack keys that it requires, because their schemas bound them.
        let known = |document: &PathBuf| {
            document.exists() && !document.to_string_lossy().contains("numbers-and-keys")
        };
        documents.extend(entries.filter(known));
    }
    let files: Vec<&str> = documents.iter().map(|file| file.to_str().unwrap()).collect();
    let server = serve(&[&["--json", "--auth", "off"], &*files].concat());
    check(&server, 40);
}

#[test]
fn official_clients_take_the_replies_of_every_tool_of_the_catalog() {
    check(&serve(&["--json"]), 200);
}
