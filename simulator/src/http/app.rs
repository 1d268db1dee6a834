//! The state of a server: its sessions, its search, its limits.

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

use super::answer::Refused;
use super::check::Prover;
use super::mcp::Endpoint;
use super::settings::Settings;
use super::start::StartError;
use crate::search::{ApiIndex, SearchError, entries};

/// Bytes of bodies that are held at a time, while they are read and answered.
pub(super) const MAX_BODIES_BYTES: usize = 256 << 20;
/// Requests with large replies that are answered at a time, for each processor. The bytes that answering takes are not
/// counted before there is a reply.
const LARGE_REPLIES_PER_PROCESSOR: usize = 4;
/// The least of such requests that are answered at a time, whatever the processors.
const MIN_LARGE_REPLIES: usize = 8;

/// The key of the request that makes the session at the root: a server that starts again with the same state folder goes on with it.
const ROOT_KEY: &str = "default session";

/// The path below which all pages lie, also where a world at the root has paths of the same name.
pub const PAGES_PATH: &str = "/__diorama/console";

/// Makes the pages of a server for a browser. Another crate does, which stands on this one; who starts the server brings it.
pub trait Pages: Send + Sync {
    /// Answers a request whose path begins with [`PAGES_PATH`] and whose body has been read. It may block.
    fn answer(&self, app: &App, request: &Request<Bytes>) -> Response<Body>;
}

/// A server's sessions, and what answers requests about them.
pub struct App {
    pub(super) sessions: Arc<Sessions>,
    pub(super) prover: OnceLock<Box<dyn Prover>>,
    pub(super) pages: OnceLock<Arc<dyn Pages>>,
    pub(super) search: ApiIndex,
    pub(super) settings: Settings,
    pub(super) mcp: Endpoint,
    /// The OpenAPI document of the server itself, without its URL.
    pub(super) document: OnceLock<&'static LazyLock<Json>>,
    /// The world at the root, once it is needed.
    pub(super) root_world: OnceLock<Arc<Ready>>,
    /// The id of the session at the root, once it is made.
    root: RwLock<Option<String>>,
    /// As many permits as bytes of bodies may still be held.
    pub(super) bodies: Arc<Semaphore>,
    /// As many permits as requests with large replies may still be answered.
    large_replies: Arc<Semaphore>,
    /// Requests so far, which number those that bring no id.
    pub(super) requests: AtomicU64,
    pub(super) ending: AtomicBool,
}

impl App {
    /// Returns a server of these worlds, and of tasks where there are any, with the sessions of its state folder.
    ///
    /// # Errors
    /// [`StartError`] when two worlds have one name, or the state folder cannot be read or lacks what was written to it.
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

    /// The sessions.
    #[must_use]
    pub const fn sessions(&self) -> &Arc<Sessions> {
        &self.sessions
    }

    /// The server's side of the Model Context Protocol.
    #[must_use]
    pub const fn mcp(&self) -> &Endpoint {
        &self.mcp
    }

    /// The bytes that a request's body may have.
    #[must_use]
    pub const fn max_body_bytes(&self) -> usize {
        self.settings.max_body_bytes
    }

    /// Has candidates held against worlds by this prover.
    pub fn prove_with(&self, prover: Box<dyn Prover>) {
        let _ = self.prover.set(prover);
    }

    /// Shows these pages to browsers.
    pub fn show_pages(&self, pages: Arc<dyn Pages>) {
        let _ = self.pages.set(pages);
    }

    /// The path of the first page, with the path of the public URL before it.
    #[must_use]
    pub fn pages_url(&self) -> String {
        let below_scheme = self.settings.public_url.split_once("://").map_or("", |(_, rest)| rest);
        let path = below_scheme.find('/').map_or("", |start| &below_scheme[start..]);
        format!("{path}{PAGES_PATH}")
    }

    /// The absolute URL under which clients reach the server.
    #[must_use]
    pub fn public_url(&self) -> &str {
        &self.settings.public_url
    }

    /// The token that the admin API needs; none where that is open.
    #[must_use]
    pub fn control_token(&self) -> Option<&str> {
        self.settings.control_token.as_deref()
    }

    /// The search among the APIs of all worlds.
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

    /// The session at the root of the server. It is made when first needed, and again after it was deleted.
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

    /// The absolute URL of a session's REST API.
    #[must_use]
    pub fn base_url(&self, id: &str) -> String {
        format!("{}/s/{id}", self.settings.public_url)
    }

    /// Does work whose reply may be large on a thread of its own, of which few do such work at a time.
    pub(super) async fn large<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Refused> {
        // The permit goes along: the work goes on when nobody waits for it any more.
        let permit = Arc::clone(&self.large_replies).acquire_owned().await.ok();
        run_blocking(move || {
            let _permit = permit;
            work()
        })
        .await
    }
}

/// Does work on a thread of its own: making a world's records and grading take longer than a thread of the runtime may be held.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Refused> {
    Ok(diorama_sessions::run_blocking(work).await?)
}
