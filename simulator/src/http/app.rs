//! Owns the state of a server: its sessions, its search, its limits.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};
use std::thread::available_parallelism;

use axum::body::{Body, Bytes};
use axum::http::{Request, Response};
use serde_json::Value as Json;
use tokio::sync::Semaphore;

use diorama_engine::embed::embedded;
use diorama_sessions::{
    CreateRequest, Creation, Kind, Problem, Ready, Sessions, Slot, TaskSource, WorldSource,
};

use super::answer::ProblemResponse;
use super::check::Prover;
use super::mcp::Endpoint;
use super::settings::Settings;
use super::start::StartError;
use crate::search::{ApiIndex, SearchError, entries};

/// Maximum number of bytes of bodies in memory, while they are read and answered.
pub(super) const MAX_BODIES_BYTES: usize = 256 << 20;
/// Maximum number of concurrent requests with large replies, per processor. The memory for an answer is not
/// counted before there is a reply.
const LARGE_REPLIES_PER_PROCESSOR: usize = 4;
/// Minimum of that number, regardless of the processors.
const MIN_LARGE_REPLIES: usize = 8;

/// Key of the request that makes the session at the root. A restarted server with the same state folder
/// continues that session.
const ROOT_KEY: &str = "default session";

/// Path of all pages. A world at the root cannot replace it by paths of its own.
pub const PAGES_PATH: &str = "/__diorama/console";

/// Maker of a server's pages for a browser. A crate above this one implements it, and the program that starts
/// the server sets it.
pub trait Pages: Send + Sync {
    /// Answers a request below [`PAGES_PATH`] whose body has been read. It may block.
    fn answer(&self, app: &App, request: &Request<Bytes>) -> Response<Body>;
}

/// A server's sessions, with everything that answers requests about them.
pub struct App {
    pub(super) sessions: Arc<Sessions>,
    pub(super) prover: OnceLock<Box<dyn Prover>>,
    pub(super) pages: OnceLock<Arc<dyn Pages>>,
    pub(super) search: ApiIndex,
    pub(super) settings: Settings,
    pub(super) mcp: Endpoint,
    /// OpenAPI document of the server itself, without its URL.
    pub(super) document: OnceLock<&'static LazyLock<Json>>,
    /// World at the root, after its first use.
    pub(super) root_world: OnceLock<Arc<Ready>>,
    /// Id of the session at the root, after it was made.
    root: RwLock<Option<String>>,
    /// Permits for the bytes of bodies in memory.
    pub(super) bodies: Arc<Semaphore>,
    /// Permits for requests with large replies.
    large_replies: Arc<Semaphore>,
    /// Number of requests so far, which gives an id to requests without one.
    pub(super) requests: AtomicU64,
    pub(super) ending: AtomicBool,
}

impl App {
    /// Makes a server of worlds and optional tasks, with the sessions of its state folder.
    ///
    /// # Errors
    /// Returns a [`StartError`] if two worlds have one name, or if the state folder cannot be read or has
    /// lost data.
    pub fn new(
        worlds: Vec<WorldSource>,
        tasks: Option<Box<dyn TaskSource>>,
        settings: Settings,
    ) -> Result<Arc<Self>, StartError> {
        let apis = worlds.iter().flat_map(|world| entries(&world.id, world.source.world())).collect();
        let search = ApiIndex::new(apis, embedded().map_err(SearchError::from)?)?;
        let sessions = Sessions::open(worlds, tasks, settings.sessions.clone())?;
        let large_replies =
            available_parallelism().map_or(0, |cores| cores.get() * LARGE_REPLIES_PER_PROCESSOR);
        Ok(Arc::new(Self {
            mcp: Endpoint::new(&sessions, &settings),
            document: OnceLock::new(),
            root_world: OnceLock::new(),
            root: RwLock::default(),
            sessions,
            prover: OnceLock::new(),
            pages: OnceLock::new(),
            search,
            settings,
            bodies: Arc::new(Semaphore::new(MAX_BODIES_BYTES)),
            large_replies: Arc::new(Semaphore::new(large_replies.max(MIN_LARGE_REPLIES))),
            requests: AtomicU64::new(0),
            ending: AtomicBool::new(false),
        }))
    }

    /// Returns the sessions.
    #[must_use]
    pub const fn sessions(&self) -> &Arc<Sessions> {
        &self.sessions
    }

    /// Returns the endpoint of the Model Context Protocol.
    #[must_use]
    pub const fn mcp(&self) -> &Endpoint {
        &self.mcp
    }

    /// Returns the maximum length of a request's body, in bytes.
    #[must_use]
    pub const fn max_body_bytes(&self) -> usize {
        self.settings.max_body_bytes
    }

    /// Sets the prover that checks candidates.
    pub fn prove_with(&self, prover: Box<dyn Prover>) {
        let _ = self.prover.set(prover);
    }

    /// Sets the pages for browsers.
    pub fn show_pages(&self, pages: Arc<dyn Pages>) {
        let _ = self.pages.set(pages);
    }

    /// Returns the path of the first page, including the path of the public URL.
    #[must_use]
    pub fn pages_url(&self) -> String {
        let below_scheme = self.settings.public_url.split_once("://").map_or("", |(_, rest)| rest);
        let path = below_scheme.find('/').map_or("", |start| &below_scheme[start..]);
        format!("{path}{PAGES_PATH}")
    }

    /// Returns the absolute URL under which clients reach the server.
    #[must_use]
    pub fn public_url(&self) -> &str {
        &self.settings.public_url
    }

    /// Returns the token for the admin API, or none if it is open.
    #[must_use]
    pub fn control_token(&self) -> Option<&str> {
        self.settings.control_token.as_deref()
    }

    /// Returns the search among the APIs of all worlds.
    #[must_use]
    pub const fn search(&self) -> &ApiIndex {
        &self.search
    }

    /// Prepares the world at the root of the server.
    pub(super) async fn prepare_root_world(&self) -> Result<Arc<Ready>, Problem> {
        let sessions = Arc::clone(&self.sessions);
        let world = diorama_sessions::run_blocking(move || sessions.worlds().only()?.ready()).await?;
        Ok(Arc::clone(self.root_world.get_or_init(|| world)))
    }

    /// Returns the session at the root of the server. The first request makes it, as does the first one after
    /// its deletion.
    pub(super) async fn root_session(&self) -> Result<Arc<Slot>, Problem> {
        let known = self.root.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(slot) = known.and_then(|id| self.sessions.get(&id).ok()) {
            return Ok(slot);
        }
        let sessions = Arc::clone(&self.sessions);
        let made = diorama_sessions::run_blocking(move || {
            let request = CreateRequest { lease_seconds: Some(0), ..CreateRequest::default() };
            sessions.create(request, Some(&Creation::new(None, ROOT_KEY, b"")))
        });
        let (made, steps) = made.await?;
        steps.settle().await?;
        let none = || Problem::new(Kind::Failed, "no session was made");
        let slot = made.into_iter().next().ok_or_else(none)?;
        *self.root.write().unwrap_or_else(PoisonError::into_inner) = Some(slot.id().to_owned());
        Ok(slot)
    }

    /// Returns the absolute URL of a session's REST API.
    #[must_use]
    pub fn base_url(&self, id: &str) -> String {
        format!("{}/s/{id}", self.settings.public_url)
    }

    /// Runs work with a possibly large reply on a thread of its own. A semaphore limits the number of such
    /// threads.
    pub(super) async fn large<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, ProblemResponse> {
        // The work holds the permit, because it continues even if its request has ended.
        let permit = Arc::clone(&self.large_replies).acquire_owned().await.ok();
        run_blocking(move || {
            let _permit = permit;
            work()
        })
        .await
    }
}

/// Runs work on a thread of its own, because making a world's records and grading would block a thread of the
/// runtime for too long.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, ProblemResponse> {
    Ok(diorama_sessions::run_blocking(work).await?)
}
