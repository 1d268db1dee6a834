//! The HTTP server: a world's REST API for agents, sessions and grades for admins.
//!
//! Owns the two surfaces and the sessions behind them. The agent's surface serves calls and the task as a user would
//! put it; the admin's surface needs the control token where there is one. Gold, checks and user facts are never
//! served. Nothing here decides what a call does: requests become [`crate::session::Session`] calls.
//!
//! A request is read whole, answered by one synchronous function ([`App::respond`]), and written whole, so that the
//! server can be tested without a network. No reply of a session holds the time of the machine or a random number.

mod after;
mod auth;
mod batch;
mod body;
pub mod check;
mod connections;
mod control;
mod create;
mod documents;
mod episode;
mod format;
mod manage;
mod mcp;
mod metrics;
mod misread;
mod negotiate;
pub mod openapi;
mod outgoing;
mod problem;
mod record;
mod request;
mod rest;
mod route;
mod server;
mod sessions;
mod settings;
mod step;
mod store;
mod surface;
mod target;
pub mod tasks;
mod text;
mod view;
mod weight;
mod worlds;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::body::Body;
use axum::http::{HeaderMap, Method, Response, Uri};
use axum::response::IntoResponse;

pub use self::auth::Auth;
use self::check::Prover;
use self::metrics::Metrics;
pub use self::server::serve;
pub use self::sessions::unguessable;
use self::sessions::{Sessions, lock};
pub use self::settings::{
    BODY_TIMEOUT, FIRST_REQUEST_TIMEOUT, MAX_BODY_BYTES, MAX_BYTES, MAX_CALLS, MAX_CONNECTIONS,
    MAX_REPLY_BYTES, MAX_SESSION_BYTES, MAX_SESSIONS, Settings, StartError, StateFolder, WRITE_TIMEOUT,
    check_exposure,
};
pub use self::store::StoreError;
use self::store::{Store, restored};
use self::surface::Incoming;
use self::target::Paths;
use self::tasks::TaskSource;
use self::weight::Scale;
use self::worlds::Worlds;
pub use self::worlds::{Ready, WorldSource};
use crate::embed::embedded;
use crate::search::{ApiIndex, SearchError, entries};

/// Everything a server answers from.
pub struct App {
    worlds: Worlds,
    tasks: Option<Box<dyn TaskSource>>,
    prover: OnceLock<Box<dyn Prover>>,
    search: ApiIndex,
    paths: Paths,
    sessions: Sessions,
    /// What the sessions hold.
    scale: Arc<Scale>,
    store: Option<Store>,
    metrics: Metrics,
    settings: Settings,
    started: Instant,
    /// Milliseconds by which tests are ahead of the machine.
    ahead_ms: AtomicU64,
    /// Requests so far, which number those that bring no id.
    requests: AtomicU64,
    ending: AtomicBool,
}

impl App {
    /// A server of these worlds, and of tasks where there are any, with the sessions of its state folder.
    ///
    /// # Errors
    /// [`StartError`] when two worlds have one name, or sessions of the state folder cannot be continued.
    pub fn new(
        worlds: Vec<WorldSource>,
        tasks: Option<Box<dyn TaskSource>>,
        settings: Settings,
    ) -> Result<Arc<Self>, StartError> {
        let apis = worlds.iter().flat_map(|world| entries(&world.id, world.source.world())).collect();
        let search = ApiIndex::new(apis, embedded().map_err(SearchError::from)?)?;
        let worlds = Worlds::new(worlds)?;
        let store = settings.state.as_ref().map(Store::open).transpose()?;
        let scale = Arc::new(Scale::default());
        let earlier = match &store {
            Some(store) => restored(store, &worlds, tasks.as_deref(), &scale)?,
            None => Vec::new(),
        };
        // Sessions that were there before are kept, also when fewer are allowed now.
        let sessions = Sessions::new(settings.max_sessions.max(earlier.len()), earlier);
        Ok(Arc::new(Self {
            worlds,
            tasks,
            prover: OnceLock::new(),
            search,
            paths: Paths::new()?,
            sessions,
            scale,
            store,
            metrics: Metrics::default(),
            settings,
            started: Instant::now(),
            ahead_ms: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            ending: AtomicBool::new(false),
        }))
    }

    /// How many sessions there are.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.sessions.count()
    }

    /// Answers a request whose body has been read.
    #[must_use]
    pub fn respond(&self, method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Response<Body> {
        let target = &self.paths.target(uri.path());
        self.answer(&Incoming { method, uri, headers, body, target, gone: &AtomicBool::new(false) })
    }

    fn answer(&self, request: &Incoming<'_>) -> Response<Body> {
        let response = match self.dispatch(request) {
            Ok(response) => response,
            Err(problem) => problem.into_response(),
        };
        self.metrics.answered(response.status().as_u16());
        negotiate::finish(request, response, || self.requests.fetch_add(1, Relaxed))
    }

    /// Milliseconds since the start. Leases and caps by the second count by it; no reply holds it.
    fn now_ms(&self) -> u64 {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        elapsed.saturating_add(self.ahead_ms.load(Relaxed))
    }

    /// Takes snapshots of all sessions, so that the next start has nothing to make again.
    fn rest(&self) {
        let Some(store) = &self.store else { return };
        for slot in self.sessions.all() {
            store.snapshot(&mut lock(&slot));
        }
    }

    /// Ends the sessions whose leases are over, and opens a state folder again that could not be written to.
    fn sweep(&self) {
        if let Some(store) = &self.store {
            store.recover();
        }
        for slot in self.sessions.over(self.now_ms()) {
            match self.close(&slot) {
                Ok(_) => self.metrics.expired(),
                Err(problem) => tracing::warn!(why = problem.detail(), "a session whose lease is over stays"),
            }
        }
    }
}

#[cfg(test)]
mod tests;
