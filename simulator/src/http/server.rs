//! The server's own API over connections: reading requests, writing responses, ending in order.

use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{CONNECTION, HOST, HeaderValue};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, Response, Version};
use axum::response::IntoResponse;
use hyper::body::Bytes;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::accept::{HungUp, Service, accept};
use super::after::After;
use super::app::App;
use super::body::{MAX_LINE, Unread, read_away, read_whole};
use super::incoming::{Access, Incoming, cut_ids};
use super::mcp;
use super::outgoing::Outgoing;
use super::problem::Problem;
use super::routes::route_of;
use super::store::StoreError;
use super::target::{Place, Target};

/// How long the body of a refused request is still read: a sender that is still writing would not read the answer.
const LET_FINISH: Duration = Duration::from_secs(1);
/// Limits of bytes that are read of a body that is too large before its sender is cut off.
const READ_AWAY: usize = 16;
/// Bytes of bodies that are held at a time, while they are read and answered.
const READING_BYTES: usize = 256 << 20;
/// Requests with large replies that are answered at a time, for each processor. The bytes that answering takes are not
/// counted before there is a reply.
const LARGE_REPLIES_PER_PROCESSOR: usize = 4;
/// The least of such requests that are answered at a time, whatever the processors.
const MIN_LARGE_REPLIES: usize = 8;
/// Bytes of a body that are read in less time than a thread of the runtime may be held.
const MAX_QUICK_BODY_BYTES: usize = 32 << 10;
/// How often leases are looked at.
const SWEEP: Duration = Duration::from_secs(1);

/// Somebody who waits for an answer.
#[derive(Default)]
struct Waiting {
    gone: Arc<AtomicBool>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.gone.store(true, Relaxed);
    }
}

/// The services that answer the requests of all connections.
struct Server {
    app: Arc<App>,
    mcp: mcp::Endpoint,
    /// As many permits as bytes of bodies may still be held.
    reading: Semaphore,
    /// As many permits as requests with large replies may still be answered.
    working: Arc<Semaphore>,
}

/// Serves until `shutdown` is done; requests that have begun are finished.
///
/// # Errors
/// When the state folder cannot be relied on any more: the disk did not confirm what was written.
pub async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), StoreError> {
    let reading = Semaphore::new(READING_BYTES);
    let most_working = available_parallelism()
        .map_or(0, |cores| cores.get() * LARGE_REPLIES_PER_PROCESSOR)
        .max(MIN_LARGE_REPLIES);
    let working = Arc::new(Semaphore::new(most_working));
    let mcp = mcp::Endpoint::new(&app);
    let server = Arc::new(Server { mcp, app: Arc::clone(&app), reading, working });
    let ending = {
        let app = Arc::clone(&app);
        async move {
            shutdown.await;
            app.ending.store(true, Relaxed);
        }
    };
    tokio::select! {
        () = accept(listener, Arc::clone(&app), server, ending) => {}
        never = sweep(&app) => match never {},
        error = app.lost() => return Err(error),
    }
    app.take_snapshots();
    Ok(())
}

/// Ends sessions whose leases are over, again and again.
async fn sweep(app: &Arc<App>) -> Infallible {
    let mut sweep = tokio::time::interval(SWEEP);
    loop {
        sweep.tick().await;
        // Many leases that end at once take their time in the store.
        let app = Arc::clone(app);
        drop(tokio::task::spawn_blocking(move || app.sweep()));
    }
}

impl Service for Server {
    async fn answer(&self, request: Request<hyper::body::Incoming>) -> Result<Response<Outgoing>, HungUp> {
        self.respond_to(request).await
    }
}

impl Server {
    async fn respond_to(
        &self,
        request: Request<hyper::body::Incoming>,
    ) -> Result<Response<Outgoing>, HungUp> {
        let (parts, body) = request.into_parts();
        if let Err(problem) = has_one_host(&parts) {
            let _ = timeout(LET_FINISH, read_away(body, &parts.headers, MAX_LINE)).await;
            return Ok(Outgoing::response(cut_off(problem), &self.app.scale));
        }
        let target = Target::of(parts.uri.path());
        // A caller without access is refused before the body is read.
        let (body, _held) = if self.app.admits(&parts, &target) {
            match self.read(&parts.headers, body).await {
                Ok(read) => read,
                Err(problem) => return Ok(Outgoing::response(cut_off(problem), &self.app.scale)),
            }
        } else {
            let limit = self.app.settings.max_body_bytes;
            let _ = timeout(LET_FINISH, read_away(body, &parts.headers, limit)).await;
            (Bytes::new(), None)
        };
        let logged = tracing::enabled!(tracing::Level::INFO)
            .then(|| (parts.method.clone(), cut_ids(parts.uri.path()), Instant::now()));
        let response = self.respond(parts, target, body).await;
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

    /// A request's body, and the permits for its bytes.
    async fn read(
        &self,
        headers: &HeaderMap,
        mut body: hyper::body::Incoming,
    ) -> Result<(Bytes, Option<SemaphorePermit<'_>>), Problem> {
        let (limit, within) = (self.app.settings.max_body_bytes, self.app.settings.body_timeout);
        let mut held: Option<SemaphorePermit<'_>> = None;
        let hold = |bytes: usize| {
            let permit =
                u32::try_from(bytes).ok().and_then(|bytes| self.reading.try_acquire_many(bytes).ok());
            let Some(permit) = permit else { return false };
            match &mut held {
                Some(held) => held.merge(permit),
                None => held = Some(permit),
            }
            true
        };
        let read = timeout(within, read_whole(&mut body, limit, hold)).await;
        let seconds = within.as_secs();
        let unread = match read {
            Ok(Ok(body)) => return Ok((body, held)),
            Ok(Err(unread)) => unread,
            Err(_) => {
                let detail = format!("the body: expected all of it within {seconds} seconds, found less");
                return Err(Problem::new(408, detail).with("limit_seconds", seconds));
            }
        };
        Err(match unread {
            Unread::TooLarge => {
                let _ = timeout(within, read_away(body, headers, limit.saturating_mul(READ_AWAY))).await;
                let detail = format!("the body: expected at most {limit} bytes, found more");
                Problem::new(413, detail).with("limit", limit as u64)
            }
            Unread::Crowded => {
                let detail = format!("the server holds {READING_BYTES} bytes of bodies already; try again");
                Problem::new(503, detail).with("limit", READING_BYTES as u64).retry_after(1)
            }
            Unread::Broken(error) => {
                Problem::new(400, format!("the body: expected what its headers say, found {error}"))
            }
        })
    }

    /// The response, which is counted from the moment that it is there.
    async fn respond(&self, parts: Parts, target: Target, body: Bytes) -> Result<Response<Outgoing>, HungUp> {
        let scale = &self.app.scale;
        let mut response = Outgoing::response(self.work(parts, target, body).await, scale);
        let Some(After { delay, dropped, saved, .. }) = response.extensions_mut().remove::<After>() else {
            return Ok(response);
        };
        for saved in saved {
            if let Err(problem) = saved.wait().await {
                return Ok(Outgoing::response(problem.into_response(), scale));
            }
        }
        tokio::time::sleep(delay).await;
        if dropped { Err(HungUp) } else { Ok(response) }
    }

    async fn work(&self, parts: Parts, target: Target, body: Bytes) -> Response<Body> {
        // Requests that tell of the server, or make room in it, are always answered.
        if !target.has(|route| route.always)
            && let Err(problem) = self.app.scale.takes_replies(self.app.settings.max_bytes)
        {
            return problem.into_response();
        }
        // Its other methods are refused, or answered for browsers, as those of every route.
        if parts.method == Method::POST && target.is_mcp() {
            let _permit = self.working.acquire().await;
            return self.mcp.answer(&target.id, parts, body).await;
        }
        let quick = target.is_quick() && body.len() <= MAX_QUICK_BODY_BYTES;
        let limited = target.may_be_large();
        let app = Arc::clone(&self.app);
        // Dropped with this future, as when the connection ends while it waits.
        let waiting = Waiting::default();
        let gone = Arc::clone(&waiting.gone);
        let work = move |in_haste: bool| {
            let Parts { method, uri, headers, .. } = &parts;
            let (id, access, document) = (&*target.id, target.access(), target.document);
            let body = &body;
            app.answer(
                target.place,
                &Incoming { method, uri, headers, body, id, access, document, gone: &gone, in_haste },
            )
        };
        if quick {
            // A panic here must not take the connection along.
            match catch_unwind(AssertUnwindSafe(|| work(true))) {
                Ok(Some(response)) => return response,
                Ok(None) => {}
                Err(_) => return failed(),
            }
        }
        // The permit goes along: the work goes on when nobody waits for it any more.
        let working = Arc::clone(&self.working);
        let permit = if limited { working.acquire_owned().await.ok() } else { None };
        let work = move || (work(false), permit);
        // Making a world's records and grading take longer than a thread of the runtime may be held.
        let done = tokio::task::spawn_blocking(work).await;
        done.ok().and_then(|(response, _)| response).unwrap_or_else(failed)
    }
}

/// Refuses a request that names no host, or more than one (RFC 9112, 3.2). HTTP/1.0 needs none.
fn has_one_host(parts: &Parts) -> Result<(), Problem> {
    match parts.headers.get_all(HOST).iter().count() {
        1 => Ok(()),
        0 if parts.version < Version::HTTP_11 => Ok(()),
        found => Err(Problem::new(400, format!("the header Host: expected one, found {found}"))),
    }
}

/// The refusal of a request of which not all was read: nothing more can come on its connection.
fn cut_off(problem: Problem) -> Response<Body> {
    let mut response = problem.into_response();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

impl App {
    /// Returns true if a request's body is worth reading: its route is there, and its session or token is known.
    fn admits(&self, parts: &Parts, target: &Target) -> bool {
        let known = || self.sessions.get(&target.id, self.now_ms());
        let routes = match target.place {
            Place::World(_) => return known().is_ok(),
            Place::Server(routes) => routes,
            Place::Nowhere => return false,
        };
        let Some(route) = route_of(routes, &parts.method) else { return false };
        let live = if route.has_session() { known().map(Some) } else { Ok(None) };
        live.is_ok_and(|live| {
            route.access != Access::Admin || self.check_token(&parts.headers, live.as_ref()).is_ok()
        })
    }
}

fn failed() -> Response<Body> {
    Problem::new(500, "the server failed to answer this request").into_response()
}
