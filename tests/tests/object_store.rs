//! Owns the tests of shards on an S3 server: killed workers, a killed server, refusals, and equality with a
//! local run.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use diorama_output::storage::{Location, Storage};
use diorama_tests::{diorama, files, installed};
use serde_json::{Value as Json, json};

const LINE: &str = "DIORAMA_TEST_LINE";
const RESULT: &str = "DIORAMA_TEST_RESULT";

/// A server that ends with the test.
struct Server {
    child: Child,
    command: Vec<String>,
    port: u16,
}

/// A command in a process of its own, with the credentials of the server.
struct Worker {
    child: Child,
    result: PathBuf,
}

impl Server {
    /// Starts a program. `PORT` in its arguments is replaced by a free port.
    fn start(command: &[&str]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let command: Vec<String> =
            command.iter().map(|part| part.replace("PORT", &port.to_string())).collect();
        let child = spawn(&command);
        let mut server = Self { child, command, port };
        server.wait();
        server
    }

    fn restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = spawn(&self.command);
        self.wait();
    }

    fn wait(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(self.child.try_wait().unwrap().is_none(), "{:?} ended", self.command);
            assert!(Instant::now() < deadline, "{:?} does not listen", self.command);
            std::thread::yield_now();
        }
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        [
            ("AWS_ENDPOINT", endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "S3RVER"),
            ("AWS_SECRET_ACCESS_KEY", "S3RVER"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
    }

    /// Starts a command with the server's settings and some changes.
    fn command(&self, line: &[&str], changed: &[(&str, &str)], folder: &Path) -> Worker {
        let result = tempfile::NamedTempFile::new_in(folder).unwrap().into_temp_path().keep().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "object_store::child_that_runs_a_command", "--nocapture"])
            .env(LINE, serde_json::to_string(line).unwrap())
            .env(RESULT, &result)
            .envs(self.settings())
            .envs(changed.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Worker { child: command.spawn().unwrap(), result }
    }

    /// Runs a command to its end. Returns the exit code, the output and the messages.
    fn run(&self, line: &[&str], changed: &[(&str, &str)], folder: &Path) -> (u64, String, String) {
        self.command(line, changed, folder).wait().unwrap()
    }

    /// Returns all objects below a location.
    fn objects(&self, location: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let location: Location = location.parse().unwrap();
        let storage = Storage::open(&location, self.settings()).unwrap();
        let mut found = BTreeMap::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            for entry in storage.list(&folder).unwrap() {
                let name = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
                match entry.size {
                    Some(size) => {
                        let bytes = storage.read(&name, size).unwrap().unwrap();
                        found.insert(PathBuf::from(name), bytes);
                    }
                    None => folders.push(name),
                }
            }
        }
        found
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    /// Waits for the result. Returns none if the process was killed.
    fn wait(mut self) -> Option<(u64, String, String)> {
        self.child.wait().unwrap();
        let result: Json = serde_json::from_slice(&std::fs::read(&self.result).unwrap()).ok()?;
        let text = |key: &str| result[key].as_str().unwrap().to_owned();
        Some((result["code"].as_u64().unwrap(), text("out"), text("err")))
    }
}

fn spawn(command: &[String]) -> Child {
    let (program, arguments) = command.split_first().unwrap();
    let child = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    child.unwrap_or_else(|error| panic!("cannot start {program}: {error}; `.ci/run` installs it"))
}

/// The child process of these tests, which can be killed and has its own environment.
#[test]
fn child_that_runs_a_command() {
    #[expect(clippy::disallowed_methods, reason = "the parent test hands the command over here")]
    let (Ok(line), Ok(result)) = (std::env::var(LINE), std::env::var(RESULT)) else { return };
    let line: Vec<String> = serde_json::from_str(&line).unwrap();
    let ran = diorama(line);
    let done = json!({ "code": ran.code, "out": ran.out, "err": ran.err });
    std::fs::write(result, done.to_string()).unwrap();
}

#[test]
fn four_shards_with_one_killed_give_the_bytes_of_a_local_run() {
    let Some(program) = installed("venv-moto/bin/moto_server") else { return };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&[program.to_str().unwrap(), "-H", "127.0.0.1", "-p", "PORT"]);
    let bucket = format!("http://127.0.0.1:{}/rows", server.port);
    assert!(reqwest::blocking::Client::new().put(bucket).send().unwrap().status().is_success());
    let place = "s3://rows/a/run";
    let settings = ["--dialogues", crate::generate::ROWS, "--seed", "7", "--test-share", "0.4"];
    let shard = |shard: &str, changed: &[(&str, &str)]| {
        let line = [&["generate", "--out", place, "--shard", shard, "--json"][..], &settings].concat();
        server.command(&line, changed, folder.path())
    };
    let mut killed = shard("4/4", &[]);
    let storage = Storage::open(&place.parse().unwrap(), server.settings()).unwrap();
    while storage.open_file(".progress/run.json").unwrap().is_none() {
        assert!(killed.child.try_wait().unwrap().is_none(), "the shard ended early");
    }
    killed.child.kill().unwrap();
    assert_eq!(killed.wait(), None);
    for name in ["1/4", "2/4", "3/4"] {
        let (code, _, err) = shard(name, &[]).wait().unwrap();
        assert_eq!(code, 0, "{err}");
    }
    let merge = ["dataset", "merge", place, "--json"];
    let (code, out, _) = server.run(&merge, &[], folder.path());
    let missing: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &missing["missing"]), (3, &json!(["4/4"])));
    assert_eq!(server.run(&["dataset", "verify", place], &[], folder.path()).0, 1, "no manifest, no dataset");
    assert_eq!(shard("4/4", &[]).wait().unwrap().0, 0);
    assert_eq!(server.run(&merge, &[], folder.path()).0, 0);
    assert!(
        server.objects(place) == files(&crate::generate::whole()),
        "the objects are those of a local run"
    );
    let (code, out, _) = server.run(&["dataset", "verify", place, "--json"], &[], folder.path());
    let verified: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((code, verified["replayed"].to_string().as_str()), (0, crate::generate::ROWS));
}

#[test]
fn a_store_that_cannot_be_used_is_named_in_one_message() {
    let Some(program) = installed("venv-moto/bin/moto_server") else { return };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&[program.to_str().unwrap(), "-H", "127.0.0.1", "-p", "PORT"]);
    let fails = |place: &str, changed: &[(&str, &str)], code: u64, expect: &str| {
        let line = ["generate", "--out", place, "-n", "50"];
        let (found, out, err) = server.run(&line, changed, folder.path());
        assert_eq!((found, out.as_str()), (code, ""), "{err}");
        assert!(err.contains(expect) && err.lines().count() == 1, "{err}");
        assert!(!err.contains("S3RVER"), "{err}");
    };
    fails("s3://none/run", &[], 1, "no such bucket");
    fails("s3://none/run", &[("AWS_ALLOW_HTTP", "false")], 2, "AWS_ENDPOINT begins with http://");
    fails("s3://none/run", &[("AWS_ENDPOINT", "http://127.0.0.1:1")], 1, "Connection refused");
}

/// Part of the lane `object-store`, which installs the server. It keeps objects in files, so that the test
/// can kill it too.
#[test]
#[ignore = "takes minutes; a lane runs it"]
fn eight_shards_with_workers_and_server_killed_give_the_bytes_of_a_local_run() {
    const SHARDS: usize = 8;
    let program = installed("npm-s3rver/node_modules/.bin/s3rver").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let local = folder.path().join("local");
    let settings = ["--dialogues", "20000", "--seed", "11"];
    let ran = diorama([&["generate", "--out", local.to_str().unwrap()][..], &settings].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let data = folder.path().join("objects");
    std::fs::create_dir(&data).unwrap();
    let command = [
        "node",
        program.to_str().unwrap(),
        "--directory",
        data.to_str().unwrap(),
        "--address",
        "127.0.0.1",
        "--port",
        "PORT",
        "--configure-bucket",
        "rows",
    ];
    let mut server = Server::start(&command);
    let place = "s3://rows/run";
    let refused = server.run(&["dataset", "stats", place], &[("AWS_ACCESS_KEY_ID", "NOBODY")], folder.path());
    assert!(refused.2.contains("the store refuses the credentials (InvalidAccessKeyId)"), "{}", refused.2);

    // A fixed series of pseudo-random pauses before a worker or the server is killed.
    let mut state = 20_u64;
    let mut pause = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_millis(500 + (state >> 33) % 4_000)
    };
    let (mut kills, mut restarts, mut runs) = (0, 0, 0);
    let mut done = [false; SHARDS];
    while let Some(next) = done.iter().position(|done| !done) {
        let name = format!("{}/{SHARDS}", next + 1);
        let line =
            [&["generate", "--out", place, "--shard", &name, "--threads", "2"][..], &settings].concat();
        let mut worker = server.command(&line, &[], folder.path());
        runs += 1;
        let deadline = Instant::now() + pause();
        while Instant::now() < deadline && worker.child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        match runs % 3 {
            1 if kills < 6 => {
                let _ = worker.child.kill();
                kills += 1;
            }
            2 if restarts < 4 => {
                server.restart();
                restarts += 1;
            }
            _ => {}
        }
        if let Some((code, _, err)) = worker.wait() {
            assert_eq!(code, 0, "{err}");
            done[next] = true;
        }
    }
    println!("{runs} runs of {SHARDS} shards, {kills} killed, server killed {restarts} times");
    let (code, out, err) = server.run(&["dataset", "merge", place], &[], folder.path());
    assert_eq!(code, 0, "{out}{err}");
    assert!(server.objects(place) == files(&local), "the objects are those of a local run");
    assert_eq!(server.run(&["dataset", "verify", place], &[], folder.path()).0, 0);
}
