//! The state of a server: its sessions, its search, its limits.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use diorama_engine::embed::embedded;
use diorama_sessions::{Kind, Problem, Sessions, TaskSource, WorldSource};

use super::answer::Refused;
use super::check::Prover;
use super::mcp::Endpoint;
use super::settings::Settings;
use super::start::StartError;
use super::world::root::Root;
use crate::search::{ApiIndex, SearchError, entries};

/// Bytes of bodies that are held at a time, while they are read and answered.
pub(super) const MAX_BODIES_BYTES: usize = 256 << 20;
/// Requests with large replies that are answered at a time, for each processor. The bytes that answering takes are not
/// counted before there is a reply.
const LARGE_REPLIES_PER_PROCESSOR: usize = 4;
/// The least of such requests that are answered at a time, whatever the processors.
const MIN_LARGE_REPLIES: usize = 8;

/// A server's sessions, and what answers requests about them.
pub struct App {
    pub(super) sessions: Arc<Sessions>,
    pub(super) prover: OnceLock<Box<dyn Prover>>,
    pub(super) search: ApiIndex,
    pub(super) settings: Settings,
    pub(super) mcp: Endpoint,
    /// The session at the root, where there is one.
    pub(super) root: Option<Root>,
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
            root: settings.default_session.then(Root::default),
            sessions,
            prover: OnceLock::new(),
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

    /// The absolute URL of a session's REST API.
    pub(super) fn base_url(&self, id: &str) -> String {
        format!("{}/s/{id}", self.settings.public_url)
    }

    /// Does work whose reply may be large on a thread of its own, of which few do such work at a time.
    pub(super) async fn large<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Refused> {
        // The permit goes along: the work goes on when nobody waits for it any more.
        let permit = Arc::clone(&self.large_replies).acquire_owned().await.ok();
        blocking(move || {
            let _permit = permit;
            work()
        })
        .await
    }
}

/// Does work on a thread of its own: making a world's records and grading take longer than a thread of the runtime may be held.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Refused> {
    let failed = |_| Problem::new(Kind::Failed, "the server failed to answer this request");
    Ok(spawn_blocking(work).await.map_err(failed)??)
}
