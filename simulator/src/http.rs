//! The HTTP server: a world's REST API for agents, sessions and grades for experimenters.
//!
//! Owns the two surfaces and the sessions behind them. The agent's surface serves calls and the task as a user would
//! put it; the experimenter's surface needs the control token where there is one. Gold, checks and user facts are never
//! served. Nothing here decides what a call does: requests become [`crate::session::Session`] calls.
//!
//! A request is read whole, answered by one synchronous function ([`App::respond`]), and written whole, so that the
//! server can be tested without a network.

mod control;
mod episode;
mod manage;
mod metrics;
pub mod openapi;
mod problem;
mod request;
mod rest;
mod route;
mod sessions;
mod surface;
pub mod tasks;
mod text;
mod view;
mod worlds;

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Response, Uri};
use axum::response::IntoResponse;
use http_body_util::BodyExt;
use tokio::net::TcpListener;

use self::metrics::Metrics;
use self::problem::Problem;
use self::sessions::Sessions;
use self::tasks::TaskSource;
use self::worlds::Worlds;
pub use self::worlds::{Ready, WorldSource};
use crate::search::{ApiSearch, LexicalSearch, SearchError, entries};

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The absolute URL under which it is reached, without a final slash.
    pub public_url: String,
    /// What the experimenter's surface asks for in `Diorama-Token`; open without it.
    pub control_token: Option<String>,
    /// Sessions at a time.
    pub max_sessions: usize,
    /// Bytes of a request's body.
    pub max_body_bytes: usize,
}

/// Sessions at a time, unless told otherwise.
pub const MAX_SESSIONS: usize = 10_000;
/// Bytes of a request's body, unless told otherwise.
pub const MAX_BODY_BYTES: usize = 1 << 20;

impl Settings {
    /// The usual bounds, with the experimenter's surface open.
    #[must_use]
    pub fn new(public_url: &str) -> Self {
        Self {
            public_url: public_url.trim_end_matches('/').to_owned(),
            control_token: None,
            max_sessions: MAX_SESSIONS,
            max_body_bytes: MAX_BODY_BYTES,
        }
    }
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Two worlds have the same name.
    #[error("two worlds have the name `{0}`; give each its own, or join them with --compose")]
    SameName(String),
    /// The experimenter's surface would be open to a network.
    #[error("{0} is not a loopback address: set a control token, or bind to 127.0.0.1")]
    Unprotected(IpAddr),
    /// The index of APIs cannot be made.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// Refuses to open the experimenter's surface to a network.
///
/// # Errors
/// [`StartError::Unprotected`] without a token anywhere but on loopback.
pub const fn check_exposure(address: IpAddr, control_token: Option<&str>) -> Result<(), StartError> {
    if control_token.is_none() && !address.is_loopback() {
        return Err(StartError::Unprotected(address));
    }
    Ok(())
}

/// Everything a server answers from.
pub struct App {
    worlds: Worlds,
    tasks: Option<Box<dyn TaskSource>>,
    search: Box<dyn ApiSearch>,
    sessions: Sessions,
    metrics: Metrics,
    settings: Settings,
}

impl App {
    /// A server of these worlds, and of tasks where there are any.
    ///
    /// # Errors
    /// [`StartError`] when two worlds have one name.
    pub fn new(
        worlds: Vec<WorldSource>,
        tasks: Option<Box<dyn TaskSource>>,
        settings: Settings,
    ) -> Result<Arc<Self>, StartError> {
        let search = LexicalSearch::new(
            worlds.iter().flat_map(|world| entries(&world.id, world.source.world())).collect(),
        )?;
        Ok(Arc::new(Self {
            worlds: Worlds::new(worlds)?,
            tasks,
            search: Box::new(search),
            sessions: Sessions::new(settings.max_sessions),
            metrics: Metrics::default(),
            settings,
        }))
    }

    /// Answers a request whose body has been read.
    #[must_use]
    pub fn respond(&self, method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Response<Body> {
        let request = surface::Incoming { method, uri, headers, body };
        let response = match self.dispatch(&request) {
            Ok(response) => response,
            Err(problem) => problem.into_response(),
        };
        self.metrics.answered(response.status().as_u16());
        response
    }
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
    let router = Router::new().fallback(answer).with_state(app);
    axum::serve(listener, router).with_graceful_shutdown(shutdown).await
}

async fn answer(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let limit = app.settings.max_body_bytes;
    let Some(body) = whole(body, limit).await else {
        return Problem::new(413, format!("the body: expected at most {limit} bytes, found more"))
            .into_response();
    };
    // Making a world's records and grading take longer than a thread of the runtime may be held.
    let work = move || app.respond(&parts.method, &parts.uri, &parts.headers, &body);
    match tokio::task::spawn_blocking(work).await {
        Ok(response) => response,
        Err(_) => Problem::new(500, "the server failed to answer this request").into_response(),
    }
}

/// So many times the limit is read of a body that is too large before its sender is cut off.
const DRAINED: usize = 16;

/// A body of at most so many bytes. A larger one is read and dropped: a sender that is still writing would not read
/// the answer.
async fn whole(mut body: Body, limit: usize) -> Option<Vec<u8>> {
    let mut kept = Vec::new();
    let mut seen = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen > limit.saturating_mul(DRAINED) {
            return None;
        }
        if seen <= limit {
            kept.extend_from_slice(&data);
        }
    }
    (seen <= limit).then_some(kept)
}

#[cfg(test)]
mod tests;
