//! A server that speaks the protocol of chat models, answers from a script, and misbehaves on demand.
//!
//! It listens on a port of the machine's choosing, keeps its own books, and decides by seed which request meets which fault: the
//! n-th time that one and the same body comes, whatever came between. For tests and benches; it knows no other package.

mod body;
mod books;
mod fault;

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value as Json, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use self::body::Reply;
use self::books::Entry;
pub use self::books::{Books, Received};
pub use self::fault::{Fault, RetryAfter};

/// How a server answers and misbehaves.
pub struct Script {
    /// The answer to a request's body.
    pub answer: Box<dyn Fn(&Json) -> Answer + Send + Sync>,
    /// Faults, each with the share of requests that meet it; the shares add up to at most 1.
    pub faults: Vec<(Fault, f64)>,
    /// Where it follows from which request meets which fault.
    pub seed: u64,
    /// How long each reply takes.
    pub delay: Duration,
    /// Whether tokens are reported.
    pub usage: UsageReport,
    /// Whether requests are kept, for tests that look at what was sent.
    pub keep: Keep,
}

impl Script {
    /// Makes a script without faults, that answers at once, reports tokens and keeps requests.
    pub fn new(answer: impl Fn(&Json) -> Answer + Send + Sync + 'static) -> Self {
        Self {
            answer: Box::new(answer),
            faults: Vec::new(),
            seed: 0,
            delay: Duration::ZERO,
            usage: UsageReport::Given,
            keep: Keep::Requests,
        }
    }
}

/// What a script answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A message of the model, as in `{"role": "assistant", "content": "..."}`.
    Message(Json),
    /// A refusal with its body.
    Status(u16, Json),
}

impl Answer {
    /// Answers with text.
    pub fn text(content: impl Into<String>) -> Self {
        Self::Message(json!({ "role": "assistant", "content": content.into() }))
    }
}

/// Whether replies report their tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageReport {
    /// They do.
    Given,
    /// They don't, as with some servers.
    Absent,
}

/// Whether requests are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// They are.
    Requests,
    /// They are counted only, so that memory stays flat.
    Counts,
}

/// A server that runs until it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

struct Shared {
    script: Script,
    books: books::Keeper,
}

/// How one request goes: a response, or none at all.
type Outcome = Result<Response<Reply>, Cut>;

impl ModelServer {
    /// Starts a server on 127.0.0.1, on a free port. Must be called inside a tokio runtime.
    pub async fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { script, books: books::Keeper::default() });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, _tasks: tasks })
    }

    /// The base URL for clients, without a version.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it has received and answered so far.
    pub fn books(&self) -> Books {
        self.shared.books.books()
    }

    /// What it was sent, in the order of arrival; empty unless requests are kept.
    pub fn received(&self) -> Vec<Received> {
        self.shared.books.received()
    }
}

impl fmt::Debug for ModelServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(connection(stream, Arc::clone(&shared)));
                }
            }
            // Connections that have ended are let go of.
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    // Small replies go out at once. Where that cannot be set they are only late.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { shared.serve(request).await }
    });
    // An error is a client that left, or a fault that was asked for.
    let _ =
        http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await;
}

impl Shared {
    async fn serve(&self, request: Request<Incoming>) -> Outcome {
        let path = request.uri().path().to_owned();
        let authorization = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let authorization = authorization.map(str::to_owned);
        let bytes = request.into_body().collect().await.map_err(|_| Cut)?.to_bytes();
        let Ok(body) = serde_json::from_slice::<Json>(&bytes) else {
            return Ok(refusal(400, &json!({ "error": { "message": "the body is not JSON" } })));
        };
        if !path.ends_with("/v1/chat/completions") {
            return Ok(refusal(404, &json!({ "error": { "message": format!("no such path: {path}") } })));
        }
        let seen = self.books.receive(&bytes, self.script.faults.is_empty());
        if self.script.keep == Keep::Requests {
            self.books.keep(Received { body: body.clone(), authorization });
        }
        let fault = fault::drawn(&self.script.faults, self.script.seed, &bytes, seen);
        if let Some(fault) = &fault {
            self.books.enter(Entry::Fault(fault.name()));
        }
        if !self.script.delay.is_zero() {
            tokio::time::sleep(self.script.delay).await;
        }
        self.answer(&body, fault).await
    }

    async fn answer(&self, body: &Json, fault: Option<Fault>) -> Outcome {
        let message = match (self.script.answer)(body) {
            Answer::Message(message) => message,
            Answer::Status(status, words) => return Ok(refusal(status, &words)),
        };
        let words = |text: &str| json!({ "error": { "message": text } });
        match fault {
            None => Ok(self.reply(body, &[message])),
            Some(Fault::RateLimit(after)) => {
                let mut response = refusal(429, &words("slow down"));
                if let Some(after) = after.header() {
                    response.headers_mut().insert(RETRY_AFTER, after);
                }
                Ok(response)
            }
            Some(Fault::Error(status)) => Ok(refusal(status, &words("something broke"))),
            Some(Fault::Hang) => {
                self.books.enter(Entry::Lost);
                std::future::pending::<Infallible>().await;
                Err(Cut)
            }
            Some(Fault::Cut) => {
                self.books.enter(Entry::Lost);
                Err(Cut)
            }
            Some(Fault::CutBody) => {
                self.books.enter(Entry::Lost);
                let (text, _) = self.completion(body, &[message]);
                let mut response = Response::new(Reply::cut(text[..text.len() / 2].to_owned()));
                response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
                Ok(response)
            }
            Some(Fault::CutJson) => {
                self.books.enter(Entry::Lost);
                let (text, _) = self.completion(body, &[message]);
                Ok(Response::new(Reply::whole(text[..text.len() / 2].to_owned())))
            }
            Some(Fault::NoChoices) => Ok(self.reply(body, &[])),
            Some(Fault::WrongSchema) => Ok(self.reply(body, &[fault::wrong_schema()])),
            Some(Fault::Prose) => Ok(self.reply(body, &[fault::in_prose(message)])),
            Some(Fault::Refusal) => Ok(self.reply(body, &[fault::refusal()])),
        }
    }

    /// A whole reply, entered into the books.
    fn reply(&self, body: &Json, messages: &[Json]) -> Response<Reply> {
        let (text, tokens) = self.completion(body, messages);
        self.books.enter(match self.script.usage {
            UsageReport::Given => Entry::Answered { input: tokens.0, output: tokens.1 },
            UsageReport::Absent => Entry::Lost,
        });
        let mut response = Response::new(Reply::whole(text));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    /// The text of a reply, and its tokens: one for each four bytes, as far as anybody here knows.
    fn completion(&self, body: &Json, messages: &[Json]) -> (String, (u64, u64)) {
        let count = |json: &Json| json.to_string().len().div_ceil(4) as u64;
        let (input, output) = (count(&body["messages"]), messages.iter().map(count).sum::<u64>());
        let choices = messages.iter().enumerate().map(|(index, message)| {
            let called = message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
            let reason = if called { "tool_calls" } else { "stop" };
            json!({ "index": index, "message": message, "finish_reason": reason })
        });
        let mut completion = json!({
            "id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": choices.collect::<Vec<_>>(),
        });
        if self.script.usage == UsageReport::Given {
            completion["usage"] = json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output });
        }
        (completion.to_string(), (input, output))
    }
}

fn refusal(status: u16, body: &Json) -> Response<Reply> {
    let mut response = Response::new(Reply::whole(body.to_string()));
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::BAD_GATEWAY);
    response
}

/// The connection ends here.
#[derive(Debug)]
struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the connection is cut, as the script says")
    }
}

impl std::error::Error for Cut {}
