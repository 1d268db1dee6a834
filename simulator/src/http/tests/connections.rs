//! Connections that send half of what they said, or too many of them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::*;

struct Listening {
    address: SocketAddr,
    _runtime: Runtime,
}

fn listen(change: impl FnOnce(&mut Settings)) -> Listening {
    let app = app(&["shop"], change);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(serve(listener, app, std::future::pending()));
    Listening { address, _runtime: runtime }
}

impl Listening {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// All that is answered to these bytes, until the server closes the connection.
    fn answer(&self, sent: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(sent.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
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
    let server = listen(|settings| settings.max_connections = 2);
    let health = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut first = [server.connect(), server.connect()];
    for stream in &mut first {
        stream.write_all(health.as_bytes()).unwrap();
        let mut begun = [0; 12];
        stream.read_exact(&mut begun).unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200");
    }
    let mut third = String::new();
    server.connect().read_to_string(&mut third).unwrap();
    assert!(third.starts_with("HTTP/1.1 503 ") && third.contains("--max-connections"), "{third}");
    drop(first);
    // The server sees the two go in its own time.
    let again = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        let mut stream = server.connect();
        let _ = stream.write_all(health.as_bytes());
        let mut begun = [0; 12];
        stream.read_exact(&mut begun).is_ok() && &begun == b"HTTP/1.1 200"
    });
    assert!(again, "a connection is free again");
}
