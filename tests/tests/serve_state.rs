//! Owns the tests of `diorama serve --state`, which is killed again and again: acknowledged requests must
//! persist.

#![allow(clippy::disallowed_methods, reason = "the child is told by its environment")]

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use diorama_tests::requests::NOTES;
use reqwest::blocking as http;
use serde_json::{Value as Json, json};

#[cfg(target_os = "linux")]
mod flushes;

const STATE: &str = "DIORAMA_TEST_STATE";
const CLIENTS: usize = 4;

/// The server that the other tests kill.
#[test]
fn child_that_serves() {
    let Ok(folder) = std::env::var(STATE) else { return };
    let folder = Path::new(&folder);
    let (world, state) = (folder.join("notes.yaml"), folder.join("state"));
    let mut line =
        vec!["diorama", "serve", "--port", "0", "--lease", "0", "--world", world.to_str().unwrap()];
    line.extend(["--state", state.to_str().unwrap()]);
    if std::env::var("DIORAMA_TEST_FSYNC").is_ok() {
        line.push("--fsync");
    }
    let code = diorama_agents::cli::main(
        line.into_iter().map(Into::into),
        &mut std::io::stdout(),
        &mut std::io::stderr(),
    );
    println!("ended with {code:?}");
}

struct TestServer {
    child: Child,
    /// The pipe stays open, because the child still prints when it ends.
    lines: Lines<BufReader<ChildStdout>>,
    url: String,
    http: http::Client,
}

fn start(folder: &Path, fsync: bool) -> TestServer {
    start_with(folder, fsync, |_| {})
}

fn start_with(folder: &Path, fsync: bool, change: impl FnOnce(&mut Command)) -> TestServer {
    let mut command = Command::new(std::env::current_exe().unwrap());
    change(&mut command);
    command
        .args(["--exact", "serve_state::child_that_serves", "--nocapture"])
        .env(STATE, folder)
        .stdout(Stdio::piped());
    if fsync {
        command.env("DIORAMA_TEST_FSYNC", "1");
    }
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = loop {
        let line = lines.next().expect("the server ended").unwrap();
        if let Some((_, url)) = line.split_once("listening on ") {
            break url.to_owned();
        }
        assert!(!line.contains("ended with"), "{line}");
    };
    let http = http::Client::builder().no_proxy().build().unwrap();
    TestServer { child, lines, url, http }
}

impl TestServer {
    /// Sends a request. Returns none if the server is gone or does not confirm the request.
    fn post(&self, path: &str, body: Json) -> Option<Json> {
        let response = self.http.post(format!("{}{path}", self.url)).json(&body).send().ok()?;
        let status = response.status().as_u16();
        let json: Json = response.json().ok()?;
        let unconfirmed = status == 503 || (status == 500 && json["done"] == true);
        assert!(status < 300 || unconfirmed, "{path}: {status} {json}");
        (!unconfirmed).then_some(json)
    }

    fn get(&self, path: &str) -> Json {
        self.http.get(format!("{}{path}", self.url)).send().unwrap().json().unwrap()
    }

    fn create(&self) -> String {
        self.post("/v1/sessions", json!({})).unwrap()["id"].as_str().unwrap().to_owned()
    }
}

/// State of a session as its client knows it.
struct Client {
    id: String,
    /// Notes whose addition the server confirmed.
    notes: Vec<String>,
    /// Notes of the session if the server executed a request that it did not answer.
    or: Option<Vec<String>>,
    made: usize,
}

impl Client {
    /// Sends requests until the server is gone.
    fn work(&mut self, served: &TestServer, answered: &AtomicUsize) {
        loop {
            self.made += 1;
            let (id, step) = (self.id.clone(), self.made);
            let path = |what: &str| format!("/v1/sessions/{id}/{what}");
            let done = if step.is_multiple_of(29) {
                self.or = Some(Vec::new());
                served.post(&path("reset"), Json::Null).map(|_| self.notes.clear())
            } else if step.is_multiple_of(13) {
                served.post(&path("fork"), json!({"n": 2})).map(|forks| {
                    self.id = forks["sessions"][1]["id"].as_str().unwrap().to_owned();
                })
            } else if step.is_multiple_of(11) {
                served.post(&path("clock"), json!({"clock": "2026-04-01T00:00"})).map(|_| ())
            } else {
                let title = format!("note {step}");
                let mut with = self.notes.clone();
                with.push(title.clone());
                self.or = Some(with.clone());
                let call = json!({"api": "AddNote", "arguments": {"title": title}});
                served.post(&path("call"), call).map(|_| self.notes = with)
            };
            if done.is_none() {
                return;
            }
            self.or = None;
            answered.fetch_add(1, SeqCst);
        }
    }

    fn check(&mut self, served: &TestServer, kill: usize) {
        let diff = served.get(&format!("/v1/sessions/{}/diff", self.id));
        let changes = diff["changes"].as_array().unwrap_or_else(|| panic!("kill {kill}: {diff}"));
        let title = |change: &Json| change["after"]["title"].as_str().unwrap().to_owned();
        let mut found: Vec<String> = changes.iter().map(title).collect();
        found.sort_by_key(|title| title[5..].parse::<usize>().unwrap());
        let held = found == self.notes || self.or.as_ref() == Some(&found);
        assert!(held, "kill {kill}: found {found:?}, expected {:?} or {:?}", self.notes, self.or);
        self.notes = found;
        self.or = None;
    }
}

fn kill_again_and_again(kills: usize, fsync: bool) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.yaml"), NOTES).unwrap();
    let mut served = start(folder.path(), fsync);
    let client = |served: &TestServer| Client { id: served.create(), notes: Vec::new(), or: None, made: 0 };
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| client(&served)).collect();
    let mut total = 0;
    for kill in 0..kills {
        let answered = AtomicUsize::new(0);
        let wanted = 5 + (kill * 37) % 90;
        std::thread::scope(|scope| {
            let (served, answered) = (&served, &answered);
            let workers: Vec<_> =
                clients.iter_mut().map(|client| scope.spawn(move || client.work(served, answered))).collect();
            while answered.load(SeqCst) < wanted {
                assert!(
                    !workers.iter().all(std::thread::ScopedJoinHandle::is_finished),
                    "all clients failed"
                );
                std::thread::yield_now();
            }
            // Sends SIGKILL while requests are in progress.
            let pid = served.child.id().to_string();
            assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        });
        served.child.wait().unwrap();
        total += answered.load(SeqCst);
        served = start(folder.path(), fsync);
        for client in &mut clients {
            client.check(&served, kill);
        }
    }
    println!("{kills} kills, {total} answered writes, none lost");
    served.child.kill().unwrap();
    served.child.wait().unwrap();
}

#[test]
fn what_was_answered_survives_kills() {
    kill_again_and_again(4, false);
    kill_again_and_again(2, true);
}

#[test]
#[ignore = "takes minutes; a lane runs it"]
fn what_was_answered_survives_a_hundred_kills() {
    kill_again_and_again(70, false);
    kill_again_and_again(30, true);
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Adds notes to sessions in turn until `tries` attempts are made or the server is gone. Returns the
/// confirmed titles, by session.
fn add_notes(served: &TestServer, ids: &[String], worker: usize, tries: usize) -> Vec<(String, String)> {
    let mut added = Vec::new();
    for round in 0..tries {
        let id = &ids[(worker * 7919 + round * 31) % ids.len()];
        let title = format!("note {worker}-{round}");
        let call = json!({"api": "AddNote", "arguments": {"title": title}});
        let sent = served.http.post(format!("{}/v1/sessions/{id}/call", served.url)).json(&call).send();
        // A fault may drop the connection, or the server may have ended. Neither is an answer.
        let Ok(response) = sent else { continue };
        let status = response.status().as_u16();
        assert!(status == 200 || status == 404, "{status}");
        let Ok(reply) = response.json::<Json>() else { continue };
        if reply["status"] == 201 {
            added.push((id.clone(), title));
        }
    }
    added
}

/// Uses sessions with mixed faults from eight clients at once.
fn soak_round(
    served: &TestServer,
    tries: usize,
    stop_after: Option<usize>,
) -> (Vec<String>, Vec<(String, String)>) {
    let faults = json!([
        {"kind": "latency", "ms": 0, "max_ms": 3, "probability": 0.2},
        {"kind": "error", "status": 503, "probability": 0.05, "executed": true},
        {"kind": "rate_limit", "probability": 0.05},
        {"kind": "drop", "probability": 0.02},
        {"kind": "timeout", "ms": 5, "probability": 0.02},
        {"kind": "rename", "rename": {"title": "heading"}, "probability": 0.1},
    ]);
    let mut ids = Vec::new();
    for seed in 0..4 {
        let asked = json!({"n": 500, "seed": seed, "faults": faults});
        let made = served.post("/v1/sessions", asked).unwrap();
        let of = |session: &Json| session["id"].as_str().unwrap().to_owned();
        ids.extend(made["sessions"].as_array().unwrap().iter().map(of));
    }
    let added = std::thread::scope(|scope| {
        let ids = &ids;
        let workers: Vec<_> =
            (0..8).map(|worker| scope.spawn(move || add_notes(served, ids, worker, tries))).collect();
        if let Some(calls) = stop_after {
            while metric(served, "diorama_calls_total{status=\"2xx\"}") < calls {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            let pid = served.child.id().to_string();
            assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        }
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    (ids, added)
}

fn metric(served: &TestServer, name: &str) -> usize {
    let text = served.http.get(format!("{}/metrics", served.url)).send().unwrap().text();
    let text = text.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().parse().unwrap()
}

fn delete(served: &TestServer, ids: &[String]) {
    for id in ids {
        served.http.delete(format!("{}/v1/sessions/{id}", served.url)).send().unwrap();
    }
}

#[test]
#[ignore = "takes minutes; a lane runs it"]
fn two_thousand_sessions_under_faults_lose_nothing_at_a_sigterm_and_leak_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.yaml"), NOTES).unwrap();
    let mut served = start(folder.path(), false);
    let (_, added) = soak_round(&served, 6_000, Some(8_000));
    let ended = served.child.wait().unwrap();
    assert!(ended.success(), "{ended}");
    assert!(added.len() > 5_000, "{}", added.len());

    served = start(folder.path(), false);
    for (id, title) in &added {
        let diff = served.get(&format!("/v1/sessions/{id}/diff"));
        let is_there =
            diff["changes"].as_array().unwrap().iter().any(|change| change["after"]["title"] == **title);
        assert!(is_there, "{title} was answered and is lost");
    }
    println!("{} answered writes, none lost at SIGTERM", added.len());
    let all = served.get("/v1/sessions?limit=1000&offset=1000");
    assert_eq!(all["total"], 2_000);
    let listed: Vec<String> = [0, 1_000]
        .iter()
        .flat_map(|offset| {
            let page = served.get(&format!("/v1/sessions?limit=1000&offset={offset}"));
            let ids: Vec<String> = page["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["id"].as_str().unwrap().to_owned())
                .collect();
            ids
        })
        .collect();
    delete(&served, &listed);

    // The first rounds warm the allocator and fill the store's buffers. Later rounds must not add memory.
    let mut resident = Vec::new();
    for _ in 0..8 {
        let (ids, _) = soak_round(&served, 2_000, None);
        delete(&served, &ids);
        resident.push(resident_kib(served.child.id()));
    }
    println!("resident after each round: {resident:?} KiB");
    let (before, after) = (resident[3], resident[7]);
    assert!(after * 10 <= before * 11, "memory grows: {resident:?}");
    assert_eq!(
        metric(&served, "diorama_http_responses_total{status=\"5xx\"}"),
        0,
        "faults of `call` are in the body"
    );
    served.child.kill().unwrap();
    served.child.wait().unwrap();
}

/// Makes sessions with `writes` writes each: new notes, or the same note again and again.
fn busy_sessions(served: &TestServer, sessions: usize, writes: usize, new: bool) {
    let made = served.post("/v1/sessions", json!({"n": sessions})).unwrap();
    let ids: Vec<&str> =
        made["sessions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    std::thread::scope(|scope| {
        for ids in ids.chunks(sessions.div_ceil(8)) {
            scope.spawn(move || {
                for (id, write) in ids.iter().flat_map(|id| (0..writes).map(move |write| (id, write))) {
                    let add = json!({"api": "AddNote", "arguments": {"title": format!("note {write}")}});
                    let star = json!({"api": "StarNote", "arguments": {"note_id": 1, "stars": write}});
                    let call = if new { add } else { star };
                    served.post(&format!("/v1/sessions/{id}/call"), call).unwrap();
                }
            });
        }
    });
}

/// Starts and ends a server. Returns the seconds until it listens, with those for starting the process.
fn start_seconds(folder: &Path, end: &str) -> f64 {
    let began = std::time::Instant::now();
    let mut served = start(folder, false);
    let took = began.elapsed().as_secs_f64();
    // A server that answers also listens to signals.
    served.get("/healthz");
    assert!(Command::new("kill").args([end, &served.child.id().to_string()]).status().unwrap().success());
    assert_eq!(served.child.wait().unwrap().success(), end == "-TERM", "{end}");
    took
}

#[test]
#[ignore = "takes minutes; a lane runs it"]
fn what_a_restart_takes_with_and_without_snapshots() {
    const STAR: &str = "  - {name: StarNote, method: PATCH, path: '/notes/{note_id}/stars', parameters: {note_id: {ref: note}, \
                        stars: {type: integer, min: 0}}, behaviour: {patch: note}}\n";
    let number = |name: &str, default: usize| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (sessions, writes) = (number("DIORAMA_TEST_SESSIONS", 100), number("DIORAMA_TEST_WRITES", 1_000));
    for new in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("notes.yaml"), format!("{NOTES}{STAR}")).unwrap();
        let empty = start_seconds(folder.path(), "-KILL");
        let mut served = start(folder.path(), false);
        busy_sessions(&served, sessions, writes, new);
        served.child.kill().unwrap();
        served.child.wait().unwrap();
        let killed = start_seconds(folder.path(), "-TERM");
        let ended = start_seconds(folder.path(), "-KILL");
        let database = fjall::Database::builder(folder.path().join("state")).open().unwrap();
        let snapshots = database.keyspace("snapshots", fjall::KeyspaceCreateOptions::default).unwrap();
        let names: Vec<_> = snapshots.iter().map(|entry| entry.key().unwrap()).collect();
        assert_eq!(names.len(), sessions);
        names.into_iter().for_each(|name| snapshots.remove(name).unwrap());
        drop((snapshots, database));
        let without = start_seconds(folder.path(), "-KILL");
        let what = if new { "new records" } else { "changes of one record" };
        println!(
            "{sessions} sessions of {writes} {what}: a start takes {without:.2} s without snapshots, {killed:.2} s after \
             SIGKILL ({:.1} times faster), {ended:.2} s after SIGTERM ({:.1} times); {empty:.2} s with no session",
            (without - empty) / (killed - empty),
            (without - empty) / (ended - empty),
        );
    }
}
