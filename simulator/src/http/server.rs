//! Connections: reading requests, writing responses, ending in order.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, HeaderValue, ORIGIN};
use axum::http::request::Parts;
use axum::http::{Method, Request, Response};
use axum::response::IntoResponse;
use http_body_util::BodyExt;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::App;
use super::after::After;
use super::mcp::{self, Reached};
use super::problem::Problem;
use super::surface::{Action, Incoming, discreet};
use super::target::Target;

/// How long a connection may take to send the head of a request, or stay silent between two.
const HEAD_TIMEOUT: Duration = Duration::from_secs(75);
/// A line of text that refuses a request, in bytes.
const MAX_LINE: usize = 4_096;
/// How often leases are looked at.
const SWEEP: Duration = Duration::from_secs(1);
/// How long nothing is accepted after accepting failed, as when too many files are open.
const BREATH: Duration = Duration::from_millis(50);

/// Why a connection ends without a response: a fault asked for it.
#[derive(Debug, thiserror::Error)]
#[error("the connection is dropped")]
struct HungUp;

/// What answers the requests of all connections.
struct Server {
    app: Arc<App>,
    mcp: mcp::Service,
}

/// Serves until `shutdown` is done; requests that have begun are finished.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let server = Arc::new(Server { mcp: mcp::service(&app), app });
    let mut http = http1::Builder::new();
    // A date would be the only part of a world's reply that differs from run to run.
    http.auto_date_header(false).timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut sweep = tokio::time::interval(SWEEP);
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    tokio::time::sleep(BREATH).await;
                    continue;
                };
                let _ = stream.set_nodelay(true);
                let server = Arc::clone(&server);
                let service = service_fn(move |request| {
                    let server = Arc::clone(&server);
                    async move { server.answer(request).await }
                });
                let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
                connections.spawn(async move {
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, "a connection ended early");
                    }
                });
            }
            _ = sweep.tick() => {
                // Many leases that end at once take their time in the store.
                let app = Arc::clone(&server.app);
                drop(tokio::task::spawn_blocking(move || app.sweep()));
            }
            Some(_) = connections.join_next() => {}
            () = &mut shutdown => break,
        }
    }
    server.app.ending.store(true, Relaxed);
    drop(listener);
    graceful.shutdown().await;
    while connections.join_next().await.is_some() {}
    server.app.rest();
    Ok(())
}

impl Server {
    async fn answer(&self, request: Request<hyper::body::Incoming>) -> Result<Response<Body>, HungUp> {
        let (parts, body) = request.into_parts();
        let limit = self.app.settings.max_body_bytes;
        let Some(body) = whole(body, limit).await else {
            let detail = format!("the body: expected at most {limit} bytes, found more");
            return Ok(Problem::new(413, detail).with("limit", limit as u64).into_response());
        };
        let logged = tracing::enabled!(tracing::Level::INFO)
            .then(|| (parts.method.clone(), discreet(parts.uri.path()), Instant::now()));
        let response = self.respond(parts, body).await;
        if let Some((method, path, began)) = logged {
            let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            match &response {
                Ok(response) => {
                    let status = response.status().as_u16();
                    let id = response.headers().get("x-request-id").and_then(|id| id.to_str().ok());
                    tracing::info!(%method, path, status, micros, id, "answered");
                }
                Err(_) => tracing::info!(%method, path, micros, "dropped"),
            }
        }
        response
    }

    async fn respond(&self, parts: Parts, body: Bytes) -> Result<Response<Body>, HungUp> {
        let target = self.app.paths.target(parts.uri.path());
        // Its other methods are refused, or answered for browsers, as those of every route.
        if parts.method == Method::POST && target.does(|action| action == Action::Mcp) {
            return self.mcp(&target.id, parts, body).await;
        }
        let quick = self.app.is_quick(&target, parts.uri.path());
        let app = Arc::clone(&self.app);
        let work = move || {
            let Parts { method, uri, headers, .. } = &parts;
            app.answer(&Incoming { method, uri, headers, body: &body, target: &target })
        };
        let mut response = if quick {
            // A panic here must not take the connection along.
            catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| failed())
        } else {
            // Making a world's records and grading take longer than a thread of the runtime may be held.
            tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| failed())
        };
        let Some(After { delay, dropped, saved, .. }) = response.extensions_mut().remove::<After>() else {
            return Ok(response);
        };
        for saved in saved {
            if let Err(problem) = saved.wait().await {
                return Ok(problem.into_response());
            }
        }
        tokio::time::sleep(delay).await;
        if dropped { Err(HungUp) } else { Ok(response) }
    }

    async fn mcp(&self, id: &str, parts: Parts, body: Bytes) -> Result<Response<Body>, HungUp> {
        let slot = match self.app.sessions.get(id, self.app.now_ms()) {
            Ok(slot) => slot,
            Err(problem) => return Ok(problem.into_response()),
        };
        let from_page = parts.headers.contains_key(ORIGIN);
        let hangup = Arc::new(AtomicBool::new(false));
        let mut request = Request::from_parts(parts, http_body_util::Full::new(body));
        request.extensions_mut().insert(Reached { slot, hangup: Arc::clone(&hangup) });
        let response = self.mcp.handle(request).await;
        self.app.metrics.answered(response.status().as_u16());
        if hangup.load(Relaxed) {
            return Err(HungUp);
        }
        let as_io = |never: Infallible| -> io::Error { match never {} };
        let mut response = response.map(|body| Body::new(body.map_err(as_io)));
        if response.status().is_client_error() && !is_json(&response) {
            response = problem_of(response).await;
        }
        if from_page {
            response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        }
        Ok(response)
    }
}

impl App {
    /// Whether a request is answered in microseconds, and nobody else is at its session: a call, above all.
    fn is_quick(&self, target: &Target, path: &str) -> bool {
        target.is_quick(path) && self.sessions.peek(&target.id).is_none_or(|slot| slot.is_free())
    }
}

fn is_json(response: &Response<Body>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.contains("json"))
}

/// A refusal of MCP's transport, which is a line of text, in the form of all others.
async fn problem_of(response: Response<Body>) -> Response<Body> {
    let status = response.status().as_u16();
    let said = whole(response.into_body(), MAX_LINE).await.unwrap_or_default();
    Problem::new(status, String::from_utf8_lossy(&said)).into_response()
}

fn failed() -> Response<Body> {
    Problem::new(500, "the server failed to answer this request").into_response()
}

/// So many times the limit is read of a body that is too large before its sender is cut off.
const DRAINED: usize = 16;

/// A body of at most so many bytes. A larger one is read and dropped: a sender that is still writing would not read
/// the answer.
pub(super) async fn whole<B>(mut body: B, limit: usize) -> Option<Bytes>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
{
    if body.is_end_stream() {
        return Some(Bytes::new());
    }
    let mut first: Option<Bytes> = None;
    let mut more: Vec<u8> = Vec::new();
    let mut seen = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen > limit.saturating_mul(DRAINED) {
            return None;
        }
        if seen > limit {
            continue;
        }
        match &first {
            None => first = Some(data),
            Some(begun) => {
                if more.is_empty() {
                    more.extend_from_slice(begun);
                }
                more.extend_from_slice(&data);
            }
        }
    }
    let whole = if more.is_empty() { first.unwrap_or_default() } else { Bytes::from(more) };
    (seen <= limit).then_some(whole)
}
