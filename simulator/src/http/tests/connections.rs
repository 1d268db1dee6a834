//! Owns the tests of connections that send an incomplete request, or that are too many.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::*;
use crate::http::check::Prover;

struct Listening {
    address: SocketAddr,
    app: Arc<App>,
    _runtime: Runtime,
}

fn listen(change: impl FnOnce(&mut Settings)) -> Listening {
    listening(app(&["shop"], change))
}

fn listening(app: Arc<App>) -> Listening {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(serve(listener, Arc::clone(&app), std::future::pending()));
    Listening { address, app, _runtime: runtime }
}

impl Listening {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes and returns the whole answer, up to the end of the connection.
    fn answer(&self, sent: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(sent.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Requests a reply and does not read it.
    fn ignore(&self, path: &str) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).unwrap();
        stream
    }

    /// Waits until at least `bytes` of replies are unsent. `None` waits until none are.
    fn wait_for_unsent(&self, bytes: Option<u64>) {
        let there = || {
            bytes.map_or(self.app.sessions().scale().unsent() == 0, |bytes| {
                self.app.sessions().scale().unsent() >= bytes
            })
        };
        let came = (0..1_000).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            there()
        });
        assert!(came, "{bytes:?}, found {}", self.app.sessions().scale().unsent());
    }
}

/// Makes a session whose list of notes exceeds the buffer of a socket. Returns the path of the list.
fn large(app: &Arc<App>) -> String {
    let id = session(app, json!({}));
    for _ in 0..LARGE / 1_000_000 {
        assert_eq!(limits::add(app, &id, 1_000_000).0, 201);
    }
    format!("/s/{id}/notes")
}

const LARGE: u64 = 24_000_000;

#[test]
fn replies_that_nobody_reads_count() {
    let server = listening(limits::notes(|settings| settings.sessions.max_bytes = 120_000_000));
    let path = large(&server.app);
    let held = server.app.sessions().scale().held();
    assert!((2 * LARGE..3 * LARGE).contains(&held), "records and calls: {held}");
    let mut ignored = Vec::new();
    for number in 1..=3 {
        ignored.push(server.ignore(&path));
        server.wait_for_unsent(Some(number * LARGE));
    }
    let ask = |line: &str| {
        server.answer(&format!("{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
    };
    let refused = ask(&format!("GET {path}"));
    assert!(refused.starts_with("HTTP/1.1 503 "), "{}", &refused[..200.min(refused.len())]);
    assert!(refused.contains("--max-bytes") && refused.contains("retry-after: 1"), "{refused}");
    assert!(ask("GET /healthz").starts_with("HTTP/1.1 200 "));
    assert!(ask("GET /metrics").contains("diorama_unsent_bytes 7"));
    drop(ignored);
    server.wait_for_unsent(None);
    assert!(ask(&format!("GET {path}")).starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_reply_that_nobody_reads_is_given_up() {
    let server = listening(limits::notes(|settings| settings.write_timeout = Duration::from_millis(300)));
    let mut ignored = server.ignore(&large(&server.app));
    server.wait_for_unsent(Some(LARGE));
    server.wait_for_unsent(None);
    let mut all = Vec::new();
    let _ = ignored.read_to_end(&mut all);
    assert!((all.len() as u64) < LARGE, "{}", all.len());
}

#[test]
fn a_body_that_never_ends_is_waited_for_so_long() {
    let server = listen(|settings| settings.body_timeout = Duration::from_millis(200));
    let answer = server.answer(
        "POST /v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{\"que",
    );
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("connection: close") && answer.contains("found less"), "{answer}");
}

#[test]
fn who_may_not_come_in_is_told_before_the_body_is_read() {
    let server = listen(|settings| {
        settings.control_token = Some("secret".to_owned());
        settings.body_timeout = Duration::from_secs(3_600);
    });
    let half = |line: &str| {
        let begun = Instant::now();
        let answer = server.answer(&format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n{{"
        ));
        assert!(begun.elapsed() < Duration::from_secs(15), "{line}");
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(half("POST /v1/sessions"), "401");
    assert_eq!(half("POST /v1/check"), "401");
    assert_eq!(half("POST /v1/sessions/nobody/call"), "404");
    assert_eq!(half("POST /s/nobody/products"), "404");
    assert_eq!(half("POST /nowhere"), "404");
    assert_eq!(half("PUT /v1/sessions"), "405");
}

/// Prover that runs until its sender has gone.
struct Endless {
    begun: Sender<()>,
    ended: Sender<()>,
}

impl Prover for Endless {
    fn check(
        &self,
        _: &Arc<diorama_engine::Base>,
        _: &[u8],
        gone: &AtomicBool,
    ) -> Result<Json, check::NoCandidate> {
        self.begun.send(()).unwrap();
        while !gone.load(Relaxed) {
            std::thread::yield_now();
        }
        self.ended.send(()).unwrap();
        Err(check::NoCandidate("stopped".to_owned()))
    }
}

#[test]
fn a_check_is_told_that_its_sender_is_gone() {
    let app = app(&["shop"], |_| ());
    let ((begun, has_begun), (ended, has_ended)) = (channel(), channel());
    app.prove_with(Box::new(Endless { begun, ended }));
    let server = listening(app);
    let mut sender = server.connect();
    let request = "POST /v1/check HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    sender.write_all(request.as_bytes()).unwrap();
    has_begun.recv().unwrap();
    drop(sender);
    has_ended.recv().unwrap();
}

#[test]
fn a_body_that_is_too_large_is_refused_without_waiting_for_it() {
    let server = listen(|settings| settings.body_timeout = Duration::from_secs(3_600));
    let head = "POST /v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let announced = format!("{head}content-length: 2000000\r\n\r\n{{");
    let chunk = format!("{:x}\r\n{}\r\n", MAX_BODY_BYTES + 1, "a".repeat(MAX_BODY_BYTES + 1));
    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}");
    let asking = format!("{head}expect: 100-continue\r\ncontent-length: 2000000\r\n\r\n");
    for sent in [announced, chunked, asking] {
        let answer = server.answer(&sent);
        assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("connection: close"), "{answer}");
    }
}

#[test]
fn a_request_names_one_host() {
    let server = listen(|_| ());
    let check = |head: &str, expect: &str| {
        let answer = server.answer(&format!("GET /healthz {head}connection: close\r\n\r\n"));
        assert!(answer.starts_with(&format!("HTTP/1.{expect} ")), "{head}: {answer}");
    };
    check("HTTP/1.1\r\nhost: localhost\r\n", "1 200");
    check("HTTP/1.1\r\n", "1 400");
    check("HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n", "1 400");
    check("HTTP/1.0\r\n", "0 200");
    check("HTTP/1.0\r\nhost: a\r\nhost: b\r\n", "0 400");
}

#[test]
fn messages_of_mcp_are_refused_as_json_rpc_has_it() {
    let server = listen(|_| ());
    let id = session(&server.app, json!({}));
    let check = |message: &str, code: i64, id_of_error: Json| {
        let length = message.len();
        let answer = server.answer(&format!(
            "POST /v1/sessions/{id}/mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{message}"
        ));
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let body: Json = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
        assert_eq!(
            (&body["error"]["code"], &body["id"]),
            (&json!(code), &id_of_error),
            "{message}: {answer}"
        );
        assert!(body["error"]["message"].as_str().is_some_and(|told| !told.is_empty()), "{answer}");
    };
    let request = |method: &str, params: Json| {
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string()
    };
    check("{\"jsonrpc\": \"2.0\", ", -32700, Json::Null);
    check("nothing", -32700, Json::Null);
    check("[]", -32600, Json::Null);
    check("{\"id\": 7}", -32600, json!(7));
    check(&request("tools/call", json!({"name": 5})), -32602, json!(7));
    check(&request("tools/call", json!({})), -32602, json!(7));
    check(&request("tools/call", json!({"name": "GetProduct", "arguments": [1]})), -32602, json!(7));
    check(&request("tools/call", json!([])), -32602, json!(7));
    check(&request("initialize", json!({"protocolVersion": 5})), -32602, json!(7));
    check(&request("tools/burn", json!({})), -32601, json!(7));
}

#[test]
fn chunks_that_are_none_are_called_so() {
    let server = listen(|_| ());
    let answer = server.answer(
        "POST /v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n",
    );
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[test]
fn connections_are_as_many_as_are_taken() {
    let server = listen(|settings| {
        settings.max_connections = 2;
        settings.max_connections_per_address = Some(2);
    });
    let health = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let first = [server.connect(), server.connect()];
    for stream in &first {
        ask_health(stream);
    }
    let mut third = String::new();
    server.connect().read_to_string(&mut third).unwrap();
    assert!(third.starts_with("HTTP/1.1 503 ") && third.contains("--max-connections"), "{third}");
    drop(first);
    // The server notices the two closed connections at a time of its own.
    let again = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        let mut stream = server.connect();
        let _ = stream.write_all(health.as_bytes());
        let mut begun = [0; 12];
        stream.read_exact(&mut begun).is_ok() && &begun == b"HTTP/1.1 200"
    });
    assert!(again, "a connection is free again");
}

/// Sends a request and reads the reply. The connection stays open.
fn ask_health(mut stream: &TcpStream) {
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.extend(byte);
    }
    assert!(answer.starts_with(b"HTTP/1.1 200"));
}

#[test]
fn connections_that_ask_nothing_make_room() {
    let server = listen(|settings| {
        settings.max_connections = 8;
        settings.first_request_timeout = Duration::from_secs(3_600);
    });
    let mut silent: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    let refused = || {
        let mut answer = String::new();
        server.connect().read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = refused();
    assert!(answer.contains("--max-connections-per-address"), "{answer}");
    // This has the effect of two seconds without a request.
    server.app.sessions().advance(2_000);
    let asking: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    for stream in &asking {
        ask_health(stream);
    }
    for stream in &mut silent {
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "closed");
    }
    let answer = refused();
    assert!(answer.starts_with("HTTP/1.1 503 "), "those that asked may ask again: {answer}");
    asking.iter().for_each(ask_health);
}

#[test]
fn a_connection_that_asks_nothing_ends() {
    let server = listen(|settings| settings.first_request_timeout = Duration::from_millis(200));
    let mut begun = server.connect();
    begun.write_all(b"GET /healthz HTTP/1.1\r\nhost:").unwrap();
    assert_eq!(begun.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_server_ends_though_a_connection_has_sent_half_of_its_first_head() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let shutdown = async move { drop(ended.await) };
    let serving = runtime.spawn(serve(listener, app(&["shop"], |_| ()), shutdown));
    let mut half = TcpStream::connect(address).unwrap();
    half.write_all(b"GET /healthz HTTP/1.1\r\nhost:").unwrap();
    // This reply shows that the server has received the incomplete request.
    ask_health(&TcpStream::connect(address).unwrap());
    drop(end);
    let ended = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), serving).await });
    ended.expect("the server waits for the rest of the head").unwrap().unwrap();
}

#[test]
fn a_connection_that_stays_silent_between_requests_ends() {
    let server = listen(|_| ());
    let mut silent = server.connect();
    ask_health(&silent);
    silent.write_all(b"GET /healthz HTTP/1.1\r\nhost:").unwrap();
    server.app.sessions().advance(75_000);
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "closed");
}

/// A single thread answers all connections here. Requests of all kinds that wait for a session must not block
/// it.
#[test]
fn requests_that_wait_hold_up_no_others() {
    let app = app(&["shop"], |_| {});
    let id = session(&app, json!({"task": "t1"}));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(serve(listener, Arc::clone(&app), std::future::pending()));
    let send = |line: &str, body: &Json| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let head = format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        stream
    };
    let status = |mut stream: TcpStream| {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
    };
    let arguments = json!({"product_id": 11});
    let at = |path: &str| format!("POST /v1/sessions/{id}/{path}");
    let call = json!({"api": "GetProduct", "arguments": arguments});
    // Knowledge of an API's pace must not be the reason that requests leave the thread.
    assert_eq!(ask(&app, &at("call"), call.clone()).0, 200);
    let mcp =
        |method: &str, params: Json| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let requests = [
        (at("call"), call.clone()),
        (at("call"), json!({"api": "ask_user", "arguments": {"question": "Which product?"}})),
        (
            "POST /v1/calls".to_owned(),
            json!({"calls": [{"session": id, "api": "GetProduct", "arguments": arguments}]}),
        ),
        (at("messages"), json!({"content": "Which product?"})),
        (at("mcp"), mcp("tools/list", json!({}))),
        (at("mcp"), mcp("tools/call", json!({"name": "GetProduct", "arguments": arguments}))),
        (at("fork"), json!({})),
        (at("clock"), json!({"clock": "2026-05-01T10:00"})),
        (format!("GET /s/{id}/products/11"), Json::Null),
        (format!("GET /s/{id}/openapi.json"), Json::Null),
        (format!("GET /v1/sessions/{id}"), Json::Null),
        (at("grade"), json!({})),
    ];
    let slot = app.sessions().peek(&id).unwrap();
    let held = slot.lock();
    let waiting: Vec<(&str, TcpStream)> =
        requests.iter().map(|(line, body)| (line.as_str(), send(line, body))).collect();
    for _ in 0..5 {
        assert_eq!(status(send("GET /healthz", &Json::Null)), 200);
    }
    drop(held);
    for (line, stream) in waiting {
        let status = status(stream);
        assert!(status < 300 || status == 409, "{line}: {status}");
    }
}
