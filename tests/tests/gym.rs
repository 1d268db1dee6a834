//! Owns the tests of `serve --gym`: the same tasks by three protocols, as their clients use them.

mod clients;
mod leaks;
mod nemo_gym;
mod openenv;
mod ors;

use std::path::{Path, PathBuf};

use diorama_tests::requests::serve;
use diorama_tests::server::Server;
use diorama_tests::{dataset, diorama};
use reqwest::blocking::{Client, Response};
use serde_json::{Map, Value as Json, json};
use tempfile::TempDir;

/// A dataset, and the steps that solve each of its tasks.
struct Tasks {
    _folder: TempDir,
    dataset: PathBuf,
    /// File in which `eval` recorded the steps.
    episodes: PathBuf,
    solutions: Vec<Solution>,
}

/// The calls that solve a task.
struct Solution {
    task: String,
    /// Seed of the session for these calls, in digits, because trainers add row numbers to it.
    seed: String,
    calls: Vec<(String, Map<String, Json>)>,
}

impl Tasks {
    /// Generates a dataset of `dialogues` dialogues, and solves it with the oracle agent.
    fn new(dialogues: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dataset = dataset(folder.path(), dialogues, 5);
        let run = folder.path().join("run");
        let line = ["eval", "--agent", "oracle", path(&dataset), "--out", path(&run)];
        let ran = diorama(line);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let episodes = run.join("episodes.jsonl");
        let lines = std::fs::read_to_string(&episodes).unwrap();
        let solutions = lines.lines().map(|line| solution(&serde_json::from_str(line).unwrap())).collect();
        Self { _folder: folder, dataset, episodes, solutions }
    }

    /// Serves the tasks by one protocol.
    fn serve(&self, protocol: &str, more: &[&str]) -> Gym {
        let mut line = vec!["--json", "--open", "--tasks", path(&self.dataset), "--gym", protocol];
        line.extend(more);
        let server = serve(&line);
        let url = server.said["gym"][protocol].as_str().unwrap().to_owned();
        Gym { url, server, client: Client::builder().no_proxy().build().unwrap() }
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the steps of a recorded episode, which solved its task.
fn solution(episode: &Json) -> Solution {
    assert_eq!(episode["grade"]["reward"], json!(1.0), "{}", episode["task"]);
    let call = |step: &Json| {
        let (name, arguments) = match step["step"].as_str()? {
            "called" => (step["api"].as_str()?, step["arguments"].clone()),
            "said" => ("ask_user", json!({"question": step["words"]})),
            "finished" => ("finish", step["end"].clone()),
            _ => return None,
        };
        Some((name.to_owned(), arguments.as_object()?.clone()))
    };
    Solution {
        task: episode["task"].as_str().unwrap().to_owned(),
        seed: episode["seed"].to_string(),
        calls: episode["steps"].as_array().unwrap().iter().filter_map(call).collect(),
    }
}

/// The port of a protocol, and its server.
struct Gym {
    url: String,
    server: Server,
    client: Client,
}

impl Gym {
    fn post(&self, path: &str, headers: &[(&str, &str)], body: &Json) -> Response {
        let mut request = self.client.post(format!("{}{path}", self.url)).body(body.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().unwrap()
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = self.client.get(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().unwrap()
    }

    /// Returns the number of sessions on the server.
    fn sessions(&self) -> u64 {
        self.server.get("/v1/sessions")["total"].as_u64().unwrap()
    }

    /// Waits until the server has this number of sessions. It notices the end of a socket with a short delay.
    fn await_sessions(&self, wanted: u64) {
        let began = std::time::Instant::now();
        while self.sessions() != wanted {
            assert!(
                began.elapsed().as_secs() < 10,
                "there are {} sessions, expected {wanted}",
                self.sessions()
            );
            std::thread::yield_now();
        }
    }
}

/// Returns fault rules that fail every call, so that the agent has no fair chance.
fn always_failing() -> Json {
    json!([{"kind": "error", "status": 503, "probability": 1.0}])
}

/// Returns the number of attempts at a call that always fails. `finish` and `ask_user` never fail.
fn tries(name: &str) -> usize {
    if name == "finish" || name == "ask_user" { 1 } else { 3 }
}
