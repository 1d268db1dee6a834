//! Owns requests as bytes, including those that an HTTP client would not send, and their answers.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// A request before serialization.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) body: Vec<u8>,
    pub(super) framing: Framing,
}

/// The way in which a request states the length of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length,
    /// Chunks of this many bytes.
    Chunks(usize),
    /// Chunks whose sizes are wrong.
    BadChunks,
    /// The body has fewer bytes than the head states. The rest never comes.
    Cut,
    /// A length that is no number, or two lengths.
    BadLength,
}

/// The guarantees of HTTP to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expect {
    /// An answer whose body names the problem, if any.
    Answer,
    /// A refusal, whose body the HTTP parser makes.
    Refusal,
    /// No answer is required, because the request was never whole.
    Perhaps,
}

/// An answer of the server.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) body: Vec<u8>,
}

impl Draft {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.path).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        let length = self.body.len();
        let framing = match self.framing {
            Framing::Length if length == 0 => String::new(),
            Framing::Length => format!("content-length: {length}\r\n"),
            Framing::Cut => format!("content-length: {}\r\n", length + 7),
            Framing::BadLength => format!("content-length: {length}\r\ncontent-length: x{length}\r\n"),
            Framing::Chunks(_) | Framing::BadChunks => "transfer-encoding: chunked\r\n".to_owned(),
        };
        bytes.extend(format!("{framing}connection: close\r\n\r\n").into_bytes());
        match self.framing {
            Framing::Length | Framing::Cut | Framing::BadLength => bytes.extend(&self.body),
            Framing::Chunks(size) => {
                for chunk in self.body.chunks(size) {
                    bytes.extend([format!("{:X}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
                }
                bytes.extend(b"0\r\n\r\n");
            }
            Framing::BadChunks => {
                let sizes = ["ZZ", "-1", "ffffffffffffffffff", "", "1;x=\"", "5"];
                bytes.extend([sizes[length % sizes.len()].as_bytes(), b"\r\n", &self.body].concat());
            }
        }
        bytes
    }

    /// Returns the expected behaviour of the server.
    pub(super) fn expect(&self) -> Expect {
        let odd = |text: &str| text.bytes().any(|byte| byte <= b' ' || byte == 0x7f);
        let method = self.method.is_empty() || !self.method.bytes().all(|byte| byte.is_ascii_graphic());
        let head: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        match self.framing {
            Framing::Cut => Expect::Perhaps,
            Framing::BadLength => Expect::Refusal,
            _ if method || odd(&self.path) || !self.path.is_ascii() => Expect::Refusal,
            _ if self.path.len() > 60_000 || head > 60_000 || self.headers.len() > 90 => Expect::Refusal,
            _ if self.headers.iter().any(|(name, value)| {
                odd(name) || value.iter().any(|byte| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f)
            }) =>
            {
                Expect::Refusal
            }
            _ => Expect::Answer,
        }
    }

    /// Sends the request on a connection of its own. Returns none if the connection ends without an answer.
    pub(super) fn send(&self, address: SocketAddr) -> Option<Answer> {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may refuse a request and close the connection before the client has sent it all.
        let _ = stream.write_all(&self.bytes());
        if matches!(self.framing, Framing::Cut | Framing::BadChunks) {
            let _ = stream.shutdown(Shutdown::Write);
        }
        let mut all = Vec::new();
        if let Err(error) = stream.read_to_end(&mut all) {
            assert!(error.kind() != ErrorKind::WouldBlock, "no answer within a minute");
        }
        let mut rest = all.as_slice();
        let (head, body, status) = loop {
            let end = rest.windows(4).position(|four| four == b"\r\n\r\n")?;
            let head = String::from_utf8_lossy(&rest[..end]).to_lowercase();
            let status: u16 = head.get(9..12)?.parse().ok()?;
            rest = &rest[end + 4..];
            if status >= 200 {
                break (head, rest, status);
            }
        };
        let kind = head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap_or_default();
        let body = if head.contains("transfer-encoding: chunked") { joined(body)? } else { body.to_vec() };
        Some(Answer { status, kind: kind.to_owned(), body })
    }
}

/// Joins the chunks of a body.
fn joined(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let line = body.windows(2).position(|two| two == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&body[..line]).ok()?.trim(), 16).ok()?;
        whole.extend(body.get(line + 2..line + 2 + size)?);
        if size == 0 {
            return Some(whole);
        }
        body = body.get(line + 4 + size..)?;
    }
}
