//! Steps many sessions at once over a protocol, and measures steps per second and latencies at the client.
//!
//!     cargo bench -p diorama-gym --bench load -- PROTOCOL HOST:PORT SESSIONS STEPS EPISODES
//!     cargo bench -p diorama-gym --bench load -- nemo-gym HOST:PORT SESSIONS STEPS ROW TOOL ARGUMENTS
//!
//! EPISODES is a file that `diorama eval --out` recorded. Each session runs one of its tasks and repeats the
//! first call of its episode. The second form steps another server of NeMo Gym with one call.
//! `benches/gym.sh` runs both. Prints a JSON object.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a bench may end this way"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// Maximum number of sessions that start at the same time.
const STARTING: usize = 64;
/// Number of forks and resets to measure.
const MEASURED: usize = 1_000;

/// The request that starts a session, and the call that the session repeats.
#[derive(Clone)]
struct Play {
    start: Json,
    tool: String,
    arguments: Json,
}

/// A persistent HTTP connection.
struct Http {
    stream: TcpStream,
    host: String,
    read: Vec<u8>,
}

impl Http {
    async fn connect(host: &str) -> Self {
        let stream = TcpStream::connect(host).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, host: host.to_owned(), read: Vec::new() }
    }

    /// Posts a request, and returns the cookie and the body of the reply.
    async fn post(&mut self, path: &str, header: &str, body: &Json) -> (Option<String>, String) {
        let body = body.to_string();
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n{header}content-length: {length}\r\n\r\n",
            self.host
        );
        self.stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let end = self
            .read_until(|read| read.windows(4).position(|found| found == b"\r\n\r\n").map(|at| at + 4))
            .await;
        let head = String::from_utf8(self.read.drain(..end).collect()).unwrap().to_lowercase();
        let value = |name: &str| {
            head.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
        };
        let length: usize = value("content-length:").expect("a reply of known length").parse().unwrap();
        self.read_until(|read| (read.len() >= length).then_some(length)).await;
        let body = String::from_utf8(self.read.drain(..length).collect()).unwrap();
        assert!(head.starts_with("http/1.1 2") || head.starts_with("http/1.1 4"), "{head}{body}");
        let cookie = value("set-cookie:").and_then(|cookie| cookie.split(';').next().map(str::to_owned));
        (cookie, body)
    }

    async fn read_until(&mut self, found: impl Fn(&[u8]) -> Option<usize>) -> usize {
        loop {
            if let Some(found) = found(&self.read) {
                return found;
            }
            let read = self.stream.read_buf(&mut self.read).await.unwrap();
            assert!(read > 0, "the connection ended");
        }
    }
}

/// A session of a protocol.
enum Session {
    NemoGym { http: Http, cookie: String },
    OpenEnv(Box<WebSocketStream<TcpStream>>),
    Ors { http: Http, name: String },
}

impl Session {
    async fn begin(protocol: &str, host: &str, number: usize, start: &Json) -> Self {
        match protocol {
            "nemo-gym" => {
                let mut http = Http::connect(host).await;
                let (cookie, body) = http.post("/seed_session", "", start).await;
                Self::NemoGym {
                    http,
                    cookie: format!("cookie: {}\r\n", cookie.unwrap_or_else(|| panic!("{body}"))),
                }
            }
            "openenv" => {
                let stream = TcpStream::connect(host).await.unwrap();
                stream.set_nodelay(true).unwrap();
                let (mut socket, _) =
                    tokio_tungstenite::client_async(format!("ws://{host}/ws"), stream).await.unwrap();
                ask(&mut socket, &json!({"type": "reset", "data": start})).await;
                Self::OpenEnv(Box::new(socket))
            }
            "ors" => {
                let mut http = Http::connect(host).await;
                let name = format!("x-session-id: load-{number}\r\n");
                let (_, body) = http.post("/create", &name, &json!({"task_spec": start})).await;
                assert!(body.contains("sid"), "{body}");
                Self::Ors { http, name }
            }
            other => panic!("found the protocol {other}, expected nemo-gym, openenv or ors"),
        }
    }

    async fn step(&mut self, play: &Play) {
        match self {
            Self::NemoGym { http, cookie } => {
                http.post(&format!("/{}", play.tool), cookie, &play.arguments).await;
            }
            Self::OpenEnv(socket) => {
                let action =
                    json!({"type": "call_tool", "tool_name": play.tool, "arguments": play.arguments});
                ask(socket, &json!({"type": "step", "data": action})).await;
            }
            Self::Ors { http, name } => {
                http.post("/call", name, &json!({"name": play.tool, "input": play.arguments})).await;
            }
        }
    }
}

async fn ask(socket: &mut WebSocketStream<TcpStream>, message: &Json) {
    socket.send(Message::text(message.to_string())).await.unwrap();
    let reply = socket.next().await.unwrap().unwrap();
    let text = reply.to_text().unwrap();
    assert!(text.contains("\"type\":\"observation\""), "{text}");
}

/// Returns the plays that the arguments name.
fn plays(arguments: &[String]) -> Vec<Play> {
    match arguments {
        [file] => {
            let lines = std::fs::read_to_string(file).unwrap();
            let play = |line: &str| {
                let episode: Json = serde_json::from_str(line).unwrap();
                let called =
                    episode["steps"].as_array()?.iter().find(|step| step["step"] == "called")?.clone();
                let start = json!({"id": episode["task"], "seed": episode["seed"].to_string()});
                Some(Play {
                    start,
                    tool: called["api"].as_str()?.to_owned(),
                    arguments: called["arguments"].clone(),
                })
            };
            lines.lines().filter_map(play).collect()
        }
        [row, tool, arguments] => vec![Play {
            start: serde_json::from_str(row).unwrap(),
            tool: tool.clone(),
            arguments: serde_json::from_str(arguments).unwrap(),
        }],
        other => panic!("found {} arguments, expected EPISODES, or ROW TOOL ARGUMENTS", other.len()),
    }
}

/// Returns the median, the 99th percentile and the maximum of latencies, in milliseconds.
fn percentiles(mut latencies: Vec<Duration>) -> Json {
    latencies.sort_unstable();
    let at = |share: f64| {
        let place = ((latencies.len() as f64 * share) as usize).min(latencies.len() - 1);
        (latencies[place].as_secs_f64() * 1e6).round() / 1e3
    };
    json!({"p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1.0)})
}

/// Measures forks of an episode, and starts of episodes of one task, one after the other.
async fn forks_and_resets(host: &str, play: &Play) -> Json {
    let Session::NemoGym { mut http, cookie } = Session::begin("nemo-gym", host, 0, &play.start).await else {
        return Json::Null;
    };
    for _ in 0..10 {
        http.post(&format!("/{}", play.tool), &cookie, &play.arguments).await;
    }
    let origin = cookie.trim().rsplit_once('=').unwrap().1.to_owned();
    let mut measured = serde_json::Map::new();
    for (name, start) in [
        ("fork", json!({"fork_of": origin})),
        ("fork_at", json!({"fork_of": origin, "at": 5})),
        ("reset", play.start.clone()),
    ] {
        let mut latencies = Vec::with_capacity(MEASURED);
        for _ in 0..MEASURED {
            let began = Instant::now();
            let (made, _) = http.post("/seed_session", "", &start).await;
            latencies.push(began.elapsed());
            http.post("/close_session", &format!("cookie: {}\r\n", made.unwrap()), &json!({})).await;
        }
        measured.insert(name.to_owned(), percentiles(latencies));
    }
    http.post("/close_session", &cookie, &json!({})).await;
    Json::Object(measured)
}

async fn load(protocol: String, host: String, sessions: usize, steps: usize, plays: Arc<Vec<Play>>) -> Json {
    let (starting, together) = (Arc::new(Semaphore::new(STARTING)), Arc::new(Barrier::new(sessions + 1)));
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..sessions {
        let (protocol, host, plays) = (protocol.clone(), host.clone(), Arc::clone(&plays));
        let (starting, together) = (Arc::clone(&starting), Arc::clone(&together));
        tasks.spawn(async move {
            let play = &plays[number % plays.len()];
            let mut session = {
                let _one = starting.acquire().await.unwrap();
                Session::begin(&protocol, &host, number, &play.start).await
            };
            together.wait().await;
            let mut latencies = Vec::with_capacity(steps);
            for _ in 0..steps {
                let began = Instant::now();
                session.step(play).await;
                latencies.push(began.elapsed());
            }
            latencies
        });
    }
    together.wait().await;
    let (begun, stepping) = (began.elapsed(), Instant::now());
    let mut latencies = Vec::with_capacity(sessions * steps);
    while let Some(task) = tasks.join_next().await {
        latencies.extend(task.unwrap());
    }
    let seconds = stepping.elapsed().as_secs_f64();
    let mut result = percentiles(latencies);
    result["protocol"] = json!(protocol);
    result["sessions"] = json!(sessions);
    result["begun_per_second"] = json!((sessions as f64 / begun.as_secs_f64()).round());
    result["steps_per_second"] = json!(((sessions * steps) as f64 / seconds).round());
    result
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [protocol, host, sessions, steps, what @ ..] = given.as_slice() else {
        println!(
            "load: found no arguments, expected PROTOCOL HOST:PORT SESSIONS STEPS EPISODES; see benches/gym.sh"
        );
        return;
    };
    let plays = Arc::new(plays(what));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (sessions, steps) = (sessions.parse().unwrap(), steps.parse().unwrap());
    let mut result =
        runtime.block_on(load(protocol.clone(), host.clone(), sessions, steps, Arc::clone(&plays)));
    if protocol == "nemo-gym" && what.len() == 1 {
        result["begin"] = runtime.block_on(forks_and_resets(host, &plays[0]));
    }
    println!("{result}");
}
