//! `serve --gym`: the same tasks by three protocols, as their clients speak them.

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
    /// The file in which `eval` recorded them.
    episodes: PathBuf,
    solutions: Vec<Solution>,
}

/// The steps that solve a task, as calls of tools.
struct Solution {
    task: String,
    /// The seed of the session that they solve it in, in digits: trainers add numbers of rows up.
    seed: String,
    calls: Vec<(String, Map<String, Json>)>,
}

impl Tasks {
    /// A dataset of so many dialogues, solved by the agent that makes the reference calls.
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

    /// A server of the tasks, by one protocol.
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

/// The steps of a recorded episode, which solved its task.
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

/// A protocol's port, and the server behind it.
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

    /// How many sessions the server has.
    fn sessions(&self) -> u64 {
        self.server.get("/v1/sessions")["total"].as_u64().unwrap()
    }

    /// Waits until there are so many sessions: a socket's end is noticed soon after it.
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

/// Rules of faults that refuse every call: the agent has no fair chance.
fn always_failing() -> Json {
    json!([{"kind": "error", "status": 503, "probability": 1.0}])
}

/// How often an agent tries a call that always fails before it gives up: ends and questions do not fail.
fn tries(name: &str) -> usize {
    if name == "finish" || name == "ask_user" { 1 } else { 3 }
}
