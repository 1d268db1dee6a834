//! Owns the server that speaks the protocol of chat models, answers from a script, and misbehaves on demand.
//!
//! It listens on a free port, and counts requests and replies. The seed, the body, and the number of earlier
//! arrivals decide which fault a request meets. It serves tests and benches, and depends on no other package
//! of the workspace.

mod body;
mod counts;
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

use self::body::{Cut, Reply};
use self::counts::Entry;
pub use self::counts::{RecordedRequest, ServerCounts};
pub use self::fault::{Fault, RetryAfter};

/// Answers and faults of a server.
pub struct Script {
    /// The answer to a request's body.
    pub answer: Box<dyn Fn(&Json) -> Answer + Send + Sync>,
    /// Faults, each with the share of requests that meet it; the shares add up to at most 1.
    pub faults: Vec<(Fault, f64)>,
    /// Seed that decides which request meets which fault.
    pub seed: u64,
    /// Delay of each reply.
    pub delay: Duration,
    /// Decides whether replies report their tokens.
    pub usage: UsageField,
    /// Decides whether the server keeps requests for tests to read.
    pub keep: Keep,
}

impl Script {
    /// Makes a script without faults. Its server answers without delay, reports tokens and keeps requests.
    pub fn new(answer: impl Fn(&Json) -> Answer + Send + Sync + 'static) -> Self {
        Self {
            answer: Box::new(answer),
            faults: Vec::new(),
            seed: 0,
            delay: Duration::ZERO,
            usage: UsageField::Given,
            keep: Keep::Requests,
        }
    }
}

/// Answer of a script.
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

/// Decides whether replies report their tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageField {
    /// Replies report their tokens.
    Given,
    /// Replies report none, as with some servers.
    Absent,
}

/// Decides whether the server keeps requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The server keeps all requests.
    Requests,
    /// The server only counts requests, so that its memory stays flat.
    Counts,
}

/// A server that runs until it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<ServerState>,
    _tasks: JoinSet<()>,
}

struct ServerState {
    script: Script,
    counts: counts::Counter,
}

/// Response to one request, or a cut connection.
type Outcome = Result<Response<Reply>, Cut>;

impl ModelServer {
    /// Starts a server on 127.0.0.1, on a free port. Must be called inside a tokio runtime.
    pub async fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(ServerState { script, counts: counts::Counter::default() });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, _tasks: tasks })
    }

    /// Returns the base URL for clients, without a version.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> ServerCounts {
        self.shared.counts.counts()
    }

    /// Returns the requests in the order of arrival. The list is empty unless the script keeps requests.
    pub fn received(&self) -> Vec<RecordedRequest> {
        self.shared.counts.received()
    }
}

impl fmt::Debug for ModelServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}

async fn accept(listener: TcpListener, shared: Arc<ServerState>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(connection(stream, Arc::clone(&shared)));
                }
            }
            // Drops the tasks of connections that have ended.
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<ServerState>) {
    // Sends small replies without delay. If the option cannot be set, they only arrive later.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { shared.serve(request).await }
    });
    // The error comes from a client that left, or from a fault of the script.
    let _ =
        http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await;
}

impl ServerState {
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
        let seen = self.counts.receive(&bytes, self.script.faults.is_empty());
        if self.script.keep == Keep::Requests {
            self.counts.keep(RecordedRequest { body: body.clone(), authorization });
        }
        let fault = fault::drawn(&self.script.faults, self.script.seed, &bytes, seen);
        if let Some(fault) = &fault {
            self.counts.enter(Entry::Fault(fault.name()));
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
                self.counts.enter(Entry::Lost);
                std::future::pending::<Infallible>().await;
                Err(Cut)
            }
            Some(Fault::Cut) => {
                self.counts.enter(Entry::Lost);
                Err(Cut)
            }
            Some(Fault::CutBody) => {
                self.counts.enter(Entry::Lost);
                let (text, _) = self.completion(body, &[message]);
                let mut response = Response::new(Reply::cut(text[..text.len() / 2].to_owned()));
                response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
                Ok(response)
            }
            Some(Fault::CutJson) => {
                self.counts.enter(Entry::Lost);
                let (text, _) = self.completion(body, &[message]);
                Ok(Response::new(Reply::whole(text[..text.len() / 2].to_owned())))
            }
            Some(Fault::NoChoices) => Ok(self.reply(body, &[])),
            Some(Fault::WrongSchema) => Ok(self.reply(body, &[fault::wrong_schema()])),
            Some(Fault::Prose) => Ok(self.reply(body, &[fault::in_prose(message)])),
            Some(Fault::Refusal) => Ok(self.reply(body, &[fault::refusal()])),
        }
    }

    /// Makes a whole reply, and counts it.
    fn reply(&self, body: &Json, messages: &[Json]) -> Response<Reply> {
        let (text, tokens) = self.completion(body, messages);
        self.counts.enter(match self.script.usage {
            UsageField::Given => Entry::Answered { input: tokens.0, output: tokens.1 },
            UsageField::Absent => Entry::Lost,
        });
        let mut response = Response::new(Reply::whole(text));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    /// Returns the text of a reply, and its tokens: one for each four bytes, as a rough measure.
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
        if self.script.usage == UsageField::Given {
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
