//! Owns the fuzz test of the server: requests that no client would send. The server must answer, name the
//! problem, and keep its sessions intact.

#![allow(clippy::disallowed_methods, reason = "the child is told by its environment")]

mod junk;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value as Json, json};

use self::wire::{Answer, Draft, Expect, Framing};

const FOLDER: &str = "DIORAMA_TEST_FUZZ";
const SEED: u64 = 16;
const WORKERS: u64 = 4;
const REQUESTS: u64 = 40_000;
const TOKEN: &str = "fuzz";
/// Maximum resident memory of the server in KiB, and the `serve` limit on the memory of sessions in bytes.
const MOST_RESIDENT_KIB: u64 = 512 << 10;
const MOST_HELD: &str = "67108864";

/// The server under test. The fuzz test starts it as a child process.
#[test]
fn child_that_is_fuzzed() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let documents = concat!(env!("CARGO_MANIFEST_DIR"), "/data/openapi");
    let mut line = format!(
        "diorama serve --port 0 --control-token {TOKEN} --tasks {folder}/dataset --state {folder}/state \
         --max-bytes {MOST_HELD} --max-session-bytes 8388608 --max-reply-bytes 4194304 --max-sessions 300 \
         --openapi {documents}/tunehall.yaml --openapi {documents}/vet_clinic.yaml"
    );
    for world in ["personal_bank", "dental_clinic", "course_enrolment", "smart_home", "parcel_shipping"] {
        line = format!("{line} --world {world}");
    }
    let code = diorama_agents::cli::main(
        line.split_whitespace().map(Into::into),
        &mut std::io::stdout(),
        &mut std::io::stderr(),
    );
    println!("ended with {code:?}");
}

struct TestServer {
    child: Child,
    address: SocketAddr,
}

fn start(folder: &Path) -> TestServer {
    let said = File::options().create(true).append(true).open(folder.join("stderr")).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fuzz::child_that_is_fuzzed", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(said)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let found =
        lines.find_map(|line| line.split_once("listening on http://").map(|(_, at)| at.parse().unwrap()));
    let address = found.unwrap_or_else(|| panic!("{}", fs::read_to_string(folder.join("stderr")).unwrap()));
    // The child still prints when it ends.
    std::thread::spawn(move || lines.for_each(drop));
    TestServer { child, address }
}

impl TestServer {
    /// Sends a valid request, and returns the body of the reply.
    fn ask(&self, method: &str, path: &str, body: &Json) -> Json {
        let answer = plain(method, path, body).send(self.address).unwrap();
        let json = serde_json::from_slice(&answer.body).unwrap_or_default();
        assert!(answer.status < 300, "{method} {path} {body}: {} {json}", answer.status);
        json
    }
}

fn plain(method: &str, path: &str, body: &Json) -> Draft {
    let headers = [("host", "127.0.0.1"), ("content-type", "application/json"), ("diorama-token", TOKEN)];
    Draft {
        method: method.to_owned(),
        path: path.to_owned(),
        headers: headers.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())).to_vec(),
        body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        framing: Framing::Length,
    }
}

/// An operation of a session's OpenAPI document.
struct Operation {
    name: String,
    method: String,
    path: String,
    /// Each parameter with its location and schema. Members of the body count as parameters.
    parameters: Vec<(String, String, Json)>,
}

fn operations(document: &Json) -> Vec<Operation> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let all = paths
        .flat_map(|(path, methods)| methods.as_object().into_iter().flatten().map(move |one| (path, one)));
    all.map(|(path, (method, operation))| {
        let listed = operation["parameters"].as_array().into_iter().flatten();
        let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
        let placed = listed.map(|one| (text(&one["name"]), text(&one["in"]), one["schema"].clone()));
        let body = &operation["requestBody"]["content"]["application/json"]["schema"]["properties"];
        let members = body.as_object().into_iter().flatten();
        let members = members.map(|(name, schema)| (name.clone(), "body".to_owned(), schema.clone()));
        let (name, parameters) = (text(&operation["operationId"]), placed.chain(members).collect());
        Operation { name, method: method.to_uppercase(), path: path.clone(), parameters }
    })
    .collect()
}

/// State of a session as its worker knows it.
#[derive(Clone)]
struct SessionState {
    id: String,
    world: usize,
    /// Token of the last sign-in.
    token: String,
}

/// A world or a task, with the operations of its APIs and its records.
struct Place {
    asked: Json,
    operations: Vec<Operation>,
    records: Vec<Map<String, Json>>,
}

struct Worker<'a> {
    rng: ChaCha8Rng,
    served: &'a TestServer,
    places: &'a [Place],
    candidate: &'a Json,
    sessions: Vec<SessionState>,
    /// Session for replay. The worker only makes calls in it, so that its log can be replayed.
    kept: SessionState,
}

impl Worker<'_> {
    /// Draws plausible arguments, from one record if the record has them.
    fn arguments(&mut self, session: &SessionState, operation: &Operation) -> Map<String, Json> {
        let places = self.places;
        let place = &places[session.world];
        let rng = &mut self.rng;
        let record = place.records.choose(rng);
        let mut given = Map::new();
        for (name, _, schema) in &operation.parameters {
            let of = |record: &Map<String, Json>| record.get(name).filter(|value| !value.is_null()).cloned();
            let found = record.and_then(of).or_else(|| {
                place.records.iter().filter_map(of).take(30).collect::<Vec<_>>().choose(rng).cloned()
            });
            let listed = schema["enum"].as_array().and_then(|values| values.choose(rng)).cloned();
            let fresh = match (schema["type"].as_str(), schema["format"].as_str()) {
                (Some("integer" | "number"), _) => json!(rng.random_range(0..50)),
                (Some("boolean"), _) => json!(true),
                (_, Some("date")) => json!("2026-09-24"),
                (_, Some("date-time")) => json!("2026-09-24T10:00:00Z"),
                _ => json!("lamp"),
            };
            let token = name.contains("token").then(|| json!(session.token));
            let made = token.or(listed).or(found).unwrap_or(fresh);
            if rng.random_bool(0.9) {
                given.insert(name.clone(), made);
            }
        }
        if rng.random_bool(0.5) {
            let mut all = Json::Object(given);
            junk::mutate(rng, &mut all);
            return all.as_object().cloned().unwrap_or_default();
        }
        given
    }

    /// Drafts a call of one of a session's APIs, by its route or by its name.
    fn call(&mut self, session: &SessionState) -> Draft {
        let places = self.places;
        let place = &places[session.world];
        let Some(operation) = place.operations.choose(&mut self.rng) else {
            return plain("GET", &format!("/v1/sessions/{}/task", session.id), &Json::Null);
        };
        let arguments = self.arguments(session, operation);
        let rng = &mut self.rng;
        if operation.path.is_empty() || rng.random_bool(0.4) {
            let mut body = json!({"api": operation.name, "arguments": arguments});
            if rng.random_bool(0.1) {
                junk::mutate(rng, &mut body);
            }
            let mut draft = plain("POST", &format!("/v1/sessions/{}/call", session.id), &Json::Null);
            draft.body = junk::bytes(rng, &body);
            return draft;
        }
        let (mut path, mut parts) = (operation.path.clone(), BTreeMap::<&str, Map<String, Json>>::new());
        for (name, value) in arguments {
            let place = operation
                .parameters
                .iter()
                .find(|(has, ..)| *has == name)
                .map_or("body", |(_, place, _)| place.as_str());
            parts.entry(place).or_default().insert(name, value);
        }
        for (name, value) in parts.remove("path").unwrap_or_default() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            path = path.replace(&format!("{{{name}}}"), &junk::escaped(&text));
        }
        let query =
            parts.remove("query").map_or_else(String::new, |pairs| format!("?{}", junk::query(&pairs)));
        let mut draft = plain(&operation.method, &format!("/s/{}{path}{query}", session.id), &Json::Null);
        if let Some(body) = parts.remove("body") {
            draft.body = junk::bytes(rng, &Json::Object(body));
        }
        draft.headers.push(("authorization".to_owned(), format!("Bearer {}", session.token).into_bytes()));
        draft
    }

    /// Drafts a request to the server's own API: starting, forking and ending sessions, logs, grades,
    /// batches, candidates.
    fn control(&mut self, session: &SessionState) -> Draft {
        let places = self.places;
        let operation = places[session.world].operations.choose(&mut self.rng);
        let arguments = operation.map(|operation| self.arguments(session, operation)).unwrap_or_default();
        let api = operation.map_or("finish", |operation| operation.name.as_str());
        let rng = &mut self.rng;
        let id = &session.id;
        let world = places.choose(rng).map(|place| place.asked.clone()).unwrap_or_default();
        let calls = vec![json!({"session": id, "api": api, "arguments": arguments}); rng.random_range(0..40)];
        let rpc = |method: &str, params: Json| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let begun = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}});
        let ended = json!({"outcome": "done", "facts": {"a": 1}, "message": "It is done.", "reason": "none", "about": {}});
        let all: [(&str, &str, Json); 24] = [
            ("POST", "/v1/sessions", world),
            ("POST", "/fork", json!({"n": 2, "at": rng.random_range(0..20)})),
            ("POST", "/reset", Json::Null),
            ("POST", "/clock", json!({"clock": "2026-04-01T00:00"})),
            ("POST", "/heartbeat", json!({"lease_seconds": 600})),
            ("GET", "", Json::Null),
            ("GET", "/state", Json::Null),
            ("GET", "/diff", Json::Null),
            ("GET", "/log?offset=1&limit=5", Json::Null),
            ("GET", "/export?format=har", Json::Null),
            ("GET", "/export?format=curl", Json::Null),
            ("GET", "/task", Json::Null),
            ("GET", "/tools", Json::Null),
            ("POST", "/messages", json!({"content": "What is your name, please?"})),
            ("POST", "/finish", ended.clone()),
            ("POST", "/grade", ended),
            ("POST", "/mcp", rpc("initialize", begun)),
            ("POST", "/mcp", rpc("tools/list", json!({}))),
            ("POST", "/mcp", rpc("tools/call", json!({"name": api, "arguments": arguments}))),
            ("POST", "/v1/calls", json!({"calls": calls})),
            ("POST", "/v1/search", json!({"query": "pay a bill", "world": "personal_bank", "limit": 3})),
            ("GET", "/v1/sessions?offset=2&limit=3", Json::Null),
            ("GET", "/metrics", Json::Null),
            ("POST", "/v1/check", self.candidate.clone()),
        ];
        // Checking a candidate takes by far the longest.
        let which = if rng.random_bool(0.02) { all.len() - 1 } else { rng.random_range(0..all.len() - 1) };
        let (method, path, mut body) = all[which].clone();
        if !body.is_null() && rng.random_bool(0.6) {
            junk::mutate(rng, &mut body);
        }
        let of_server = path.starts_with("/v1") || path == "/metrics";
        let path = if of_server { path.to_owned() } else { format!("/v1/sessions/{id}{path}") };
        let mut draft = plain(method, &path, &Json::Null);
        if !body.is_null() {
            draft.body = junk::bytes(rng, &body);
        }
        if path.ends_with("/mcp") {
            draft.headers.push(("accept".to_owned(), b"application/json, text/event-stream".to_vec()));
        }
        draft
    }

    /// Sends a request. Returns the status, or the problem with the answer.
    fn step(&mut self) -> Result<u16, String> {
        let alone = self.rng.random_bool(0.2);
        let known = if alone { None } else { self.sessions.choose(&mut self.rng) };
        let session = known.unwrap_or(&self.kept).clone();
        let control = !alone && self.rng.random_bool(0.4);
        let mut draft = if control { self.control(&session) } else { self.call(&session) };
        if self.rng.random_bool(0.05) {
            draft.path = draft.path.replace(&session.id, "00000000000000000000000000000000");
        }
        if self.rng.random_bool(0.3) {
            junk::spoil(&mut self.rng, &mut draft);
        }
        let answer = draft.send(self.served.address);
        let found = judged(&draft, answer.as_ref());
        if let Some(answer) = answer.filter(|answer| answer.status < 300) {
            self.learn(&session, &answer);
        }
        found.map_err(|wrong| {
            let bytes = draft.bytes();
            format!("{wrong}\n{}", String::from_utf8_lossy(&bytes[..bytes.len().min(1_500)]))
        })
    }

    /// Stores the new sessions and tokens of an answer.
    fn learn(&mut self, session: &SessionState, answer: &Answer) {
        let Ok(json) = serde_json::from_slice::<Json>(&answer.body) else { return };
        let token = json["token"].as_str().or_else(|| json["body"]["token"].as_str()).unwrap_or_default();
        for made in json["sessions"].as_array().into_iter().flatten().filter(|made| made["token"].is_string())
        {
            let (id, world) = (made["id"].as_str().unwrap_or_default().to_owned(), json["world"].as_str());
            let named = self.places.iter().position(|place| {
                place.asked["task"] == json["task"]
                    && (json["task"].is_string() || place.asked["world"].as_str() == world)
            });
            self.sessions.push(SessionState {
                id,
                world: named.unwrap_or(session.world),
                token: String::new(),
            });
        }
        if self.sessions.len() > 30 {
            let old = self.sessions.swap_remove(self.rng.random_range(0..self.sessions.len()));
            plain("DELETE", &format!("/v1/sessions/{}", old.id), &Json::Null).send(self.served.address);
        }
        let mine = self.sessions.iter_mut().chain([&mut self.kept]);
        mine.filter(|known| known.id == session.id && !token.is_empty())
            .for_each(|known| known.token = token.to_owned());
    }
}

/// Checks an answer against the guarantees of HTTP and of the server's documents.
fn judged(draft: &Draft, answer: Option<&Answer>) -> Result<u16, String> {
    let expect = draft.expect();
    let Some(Answer { status, kind, body }) = answer else {
        return if expect == Expect::Answer { Err("no answer".to_owned()) } else { Ok(0) };
    };
    let text = String::from_utf8_lossy(body);
    let shown: String = text.chars().take(400).collect();
    let wrong = |what: &str| Err(format!("{what}: {status} {kind} {shown}"));
    let json: Option<Json> = serde_json::from_slice(body).ok();
    if *status >= 500 {
        return wrong("a failure of the server");
    }
    // Statuses of replies inside the reply, as in a call by name or in a batch.
    let within = json.iter().flat_map(|json| json["results"].as_array().into_iter().flatten().chain([json]));
    let within: Vec<u64> = within.filter_map(|reply| reply["status"].as_u64()).collect();
    if *status < 300 && within.iter().any(|status| *status >= 500) {
        return wrong("a failure of the world");
    }
    if draft.method == "HEAD" || expect != Expect::Answer {
        return Ok(*status);
    }
    if kind.contains("json") && json.is_none() && !body.is_empty() {
        return wrong("no JSON");
    }
    let says = |json: &Json| json.to_string().split('"').any(|part| part.len() > 8 && part.contains(' '));
    if *status >= 400 && !(kind.contains("json") && json.as_ref().is_some_and(says)) {
        return wrong("a refusal that does not say why");
    }
    Ok(within.first().map_or(*status, |status| *status as u16))
}

/// Returns the worlds and some tasks, each inspected in a session of its own.
fn places(served: &TestServer) -> Vec<Place> {
    let worlds = served.ask("GET", "/v1/worlds", &Json::Null);
    let tasks = served.ask("GET", "/v1/tasks?limit=12", &Json::Null);
    let named = |list: &Json, of: &str| -> Vec<Json> {
        list[of].as_array().unwrap().iter().map(|one| json!({of.trim_end_matches('s'): one["id"]})).collect()
    };
    let asked = named(&worlds, "worlds").into_iter().chain(named(&tasks, "tasks"));
    let place = |asked: Json| {
        let id = served.ask("POST", "/v1/sessions", &asked)["id"].as_str().unwrap().to_owned();
        let state = served.ask("GET", &format!("/v1/sessions/{id}/state"), &Json::Null);
        let records = state["resources"].as_object().unwrap().values().filter_map(Json::as_array).flatten();
        let records = records.filter_map(|record| record.as_object().cloned()).collect();
        let mut operations = operations(&served.ask("GET", &format!("/s/{id}/openapi.json"), &Json::Null));
        if asked["task"].is_string() {
            let tools = served.ask("GET", &format!("/v1/sessions/{id}/tools"), &Json::Null);
            operations.extend(tools["tools"].as_array().into_iter().flatten().map(|tool| {
                let members = tool["function"]["parameters"]["properties"].as_object().into_iter().flatten();
                let parameters =
                    members.map(|(name, schema)| (name.clone(), "body".to_owned(), schema.clone()));
                let name = tool["function"]["name"].as_str().unwrap_or_default().to_owned();
                Operation {
                    name,
                    method: String::new(),
                    path: String::new(),
                    parameters: parameters.collect(),
                }
            }));
        }
        served.ask("DELETE", &format!("/v1/sessions/{id}"), &Json::Null);
        Place { asked, operations, records }
    };
    asked.map(place).collect()
}

/// Returns all calls of a session with their replies, which it requests in pages.
fn log(served: &TestServer, id: &str) -> Vec<Json> {
    let mut calls = Vec::new();
    loop {
        let page =
            served.ask("GET", &format!("/v1/sessions/{id}/log?offset={}&limit=50", calls.len()), &Json::Null);
        match page["calls"].as_array().filter(|more| !more.is_empty()) {
            Some(more) => calls.extend(more.clone()),
            None => return calls,
        }
    }
}

/// Repeats a session's calls in a fork of its beginning. Returns the number of calls.
fn replays(served: &TestServer, id: &str) -> usize {
    let calls = log(served, id);
    let again = served.ask("POST", &format!("/v1/sessions/{id}/fork"), &json!({"at": 0}));
    let path = format!("/v1/sessions/{}/call", again["sessions"][0]["id"].as_str().unwrap());
    for call in &calls {
        let reply = served.ask("POST", &path, &json!({"api": call["api"], "arguments": call["arguments"]}));
        assert_eq!((&reply["status"], &reply["body"]), (&call["status"], &call["body"]), "{call}");
    }
    calls.len()
}

#[test]
#[ignore = "takes minutes; a lane runs it"]
fn odd_requests_are_answered_and_leave_the_server_whole() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (seed, requests) = (number("DIORAMA_FUZZ_SEED", SEED), number("DIORAMA_FUZZ_REQUESTS", REQUESTS));
    let folder = tempfile::tempdir().unwrap();
    let _ = diorama_tests::dataset(folder.path(), 60, 5);
    let candidate = include_str!("../data/candidates/bank_transfer.json");
    let candidate: Json = serde_json::from_str(candidate).unwrap();
    let mut served = start(folder.path());
    let places = places(&served);
    let (wrong, seen) = (Mutex::new(BTreeSet::new()), Mutex::new(BTreeMap::<u16, u64>::new()));
    let kept: Vec<String> = std::thread::scope(|scope| {
        let (served, places, candidate, wrong, seen) = (&served, &places, &candidate, &wrong, &seen);
        let work = |number: u64| {
            let world = number as usize % places.len();
            let id =
                served.ask("POST", "/v1/sessions", &places[world].asked)["id"].as_str().unwrap().to_owned();
            let kept = SessionState { id, world, token: String::new() };
            let rng = ChaCha8Rng::seed_from_u64(seed * WORKERS + number);
            let mut worker = Worker { rng, served, places, candidate, sessions: Vec::new(), kept };
            for step in 0..requests / WORKERS {
                if worker.sessions.len() < 4 {
                    let place = places.choose(&mut worker.rng).unwrap();
                    let made = plain("POST", "/v1/sessions", &place.asked).send(served.address).unwrap();
                    worker.learn(&worker.kept.clone(), &made);
                }
                match worker.step() {
                    Ok(status) => *seen.lock().unwrap().entry(status).or_default() += 1,
                    Err(what) => {
                        wrong.lock().unwrap().insert(format!("{what}\n(worker {number}, step {step})"));
                    }
                }
            }
            worker.kept.id
        };
        let workers: Vec<_> = (0..WORKERS).map(|number| scope.spawn(move || work(number))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let wrong = wrong.into_inner().unwrap();
    println!("{} answers are wrong", wrong.len());
    wrong.iter().take(20).for_each(|wrong| println!("\n{wrong}"));
    let status = fs::read_to_string(format!("/proc/{}/status", served.child.id())).unwrap();
    let height = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let height: u64 = height.split_whitespace().next().unwrap().parse().unwrap();
    let replayed: usize = kept.iter().map(|id| replays(&served, id)).sum();
    let logs: Vec<Vec<Json>> = kept.iter().map(|id| log(&served, id)).collect();
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let mut served = start(folder.path());
    assert_eq!(kept.iter().map(|id| log(&served, id)).collect::<Vec<_>>(), logs, "logs after a kill");
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    println!(
        "{requests} requests: {:?}; {height} KiB at the height; {replayed} calls replayed",
        seen.lock().unwrap()
    );
    let said = fs::read_to_string(folder.path().join("stderr")).unwrap();
    assert!(!said.contains("panicked"), "{said}");
    assert!(wrong.is_empty(), "{} answers are wrong; see above", wrong.len());
    assert!(height < MOST_RESIDENT_KIB, "{height} KiB");
}
