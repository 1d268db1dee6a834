//! Owns the tests of clients that leave in the middle: the server must free their sessions and memory.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value as Json, json};
use tungstenite::Message;

use super::{Gym, Solution, Tasks};

/// Number of episodes in the long test.
const MANY_EPISODES: usize = 100_000;
/// Lifetime in seconds of an episode without requests.
const LEASE_SECONDS: u64 = 1;
const THREADS: usize = 4;

/// Returns the resident memory of this process in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) << 10
}

/// Behaviour of an episode's client: it finishes, stops after some steps, or leaves in the middle of a
/// request.
#[derive(Clone, Copy)]
enum Client {
    Finishes,
    Stops(usize),
    Breaks(usize),
}

impl Client {
    fn draw(random: &mut ChaCha8Rng, steps: usize) -> Self {
        let at = random.random_range(0..=steps);
        match random.random_range(0..3) {
            0 => Self::Finishes,
            1 => Self::Stops(at),
            _ => Self::Breaks(at),
        }
    }

    fn steps(self) -> usize {
        match self {
            Self::Finishes => usize::MAX,
            Self::Stops(at) | Self::Breaks(at) => at,
        }
    }
}

/// Sends a part of a request, and closes the connection.
fn break_off(url: &str, path: &str, header: &str) {
    let Ok(mut stream) = TcpStream::connect(url.trim_start_matches("http://")) else { return };
    let _ =
        write!(stream, "POST {path} HTTP/1.1\r\nhost: x\r\n{header}\r\ncontent-length: 900\r\n\r\n{{\"a\": ");
}

fn nemo_gym(gym: &Gym, solution: &Solution, client: Client) {
    let row = json!({"id": solution.task, "seed": solution.seed});
    let seeded = gym.post("/seed_session", &[], &row);
    assert!([200, 503].contains(&seeded.status().as_u16()));
    let Some(cookie) = seeded.headers().get("set-cookie").cloned() else { return };
    let cookie = cookie.to_str().unwrap();
    for (name, arguments) in solution.calls.iter().take(client.steps()) {
        gym.post(&format!("/{name}"), &[("cookie", cookie)], &json!(arguments)).bytes().unwrap();
    }
    match client {
        Client::Finishes => {
            let verdict: Json = gym
                .post("/verify", &[("cookie", cookie)], &json!({"id": solution.task, "response": {}}))
                .json()
                .unwrap();
            assert_eq!(verdict["reward"], json!(1.0));
        }
        Client::Stops(_) => {}
        Client::Breaks(_) => break_off(&gym.url, "/verify", &format!("cookie: {cookie}")),
    }
}

fn openenv(gym: &Gym, solution: &Solution, client: Client) {
    let mut socket = gym.socket("/ws");
    let send = |socket: &mut super::openenv::Socket, message: Json| {
        socket.send(Message::text(message.to_string())).unwrap();
    };
    send(&mut socket, json!({"type": "reset", "data": {"id": solution.task, "seed": solution.seed}}));
    socket.read().unwrap();
    for (name, arguments) in solution.calls.iter().take(client.steps()) {
        send(&mut socket, json!({"type": "step", "data": {"tool_name": name, "arguments": arguments}}));
        socket.read().unwrap();
    }
    match client {
        Client::Finishes => send(&mut socket, json!({"type": "close"})),
        Client::Stops(_) => {}
        Client::Breaks(_) => {
            let _ = socket.get_mut().write_all(&[0x81, 0xfe, 0x10]);
        }
    }
}

fn ors(gym: &Gym, solution: &Solution, name: &str, client: Client) {
    let session = [("x-session-id", name)];
    let spec = json!({"task_spec": {"id": solution.task, "seed": solution.seed}});
    if gym.post("/create", &session, &spec).status() != 200 {
        return;
    }
    for (name, arguments) in solution.calls.iter().take(client.steps()) {
        gym.post("/call", &session, &json!({"name": name, "input": arguments})).bytes().unwrap();
    }
    match client {
        Client::Finishes => assert_eq!(gym.post("/delete", &session, &json!({})).status(), 200),
        Client::Stops(_) => {}
        Client::Breaks(_) => break_off(&gym.url, "/call", &format!("x-session-id: {name}")),
    }
}

/// Plays `episodes` episodes by all three protocols. Returns the bytes of memory that were added after the
/// first fifth.
fn play(episodes: usize) -> i64 {
    let tasks = Tasks::new(12);
    let lease = LEASE_SECONDS.to_string();
    let gyms = ["nemo-gym", "openenv", "ors"].map(|protocol| tasks.serve(protocol, &["--gym-lease", &lease]));
    let (played, settled) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (gyms, tasks, played, settled) = (&gyms, &tasks, &played, &settled);
            scope.spawn(move || {
                let mut random = ChaCha8Rng::seed_from_u64(thread as u64);
                loop {
                    let number = played.fetch_add(1, Relaxed);
                    if number >= episodes {
                        return;
                    }
                    if number == episodes / 5 {
                        settled.store(usize::try_from(memory()).unwrap(), Relaxed);
                    }
                    let solution = &tasks.solutions[random.random_range(0..tasks.solutions.len())];
                    let client = Client::draw(&mut random, solution.calls.len());
                    match number % 3 {
                        0 => nemo_gym(&gyms[0], solution, client),
                        1 => openenv(&gyms[1], solution, client),
                        _ => ors(&gyms[2], solution, &format!("s{number}"), client),
                    }
                }
            });
        }
    });
    for gym in &gyms {
        // A closed socket ends its session at once. A lease ends the other sessions.
        let began = Instant::now();
        while gym.sessions() > 0 {
            assert!(
                began.elapsed() < Duration::from_secs(LEASE_SECONDS + 10),
                "{} sessions stay",
                gym.sessions()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    let settled = i64::try_from(settled.into_inner()).unwrap();
    i64::try_from(memory()).unwrap() - settled
}

#[test]
fn no_session_stays_of_clients_that_leave() {
    play(600);
}

#[test]
#[ignore = "minutes: 100,000 episodes"]
fn no_session_and_no_memory_stays_of_a_hundred_thousand_episodes() {
    let began = Instant::now();
    let added = play(MANY_EPISODES);
    println!(
        "{MANY_EPISODES} episodes in {:?}, {} MiB more after the first fifth",
        began.elapsed(),
        added >> 20
    );
    assert!(added < 64 << 20, "{added} bytes were added by four fifths of the episodes");
}
