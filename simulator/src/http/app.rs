//! The state of a server: its worlds, tasks, sessions and settings.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::check::Prover;
use super::metrics::Metrics;
use super::sessions::{Sessions, lock};
use super::settings::Settings;
use super::start::StartError;
use super::store::restore::{LeftOut, Restored, restored};
use super::store::{Store, StoreError};
use super::tasks::TaskSource;
use super::weight::Scale;
use super::worlds::{WorldSource, Worlds};
use crate::search::{ApiIndex, SearchError, entries};
use diorama_engine::embed::embedded;

/// A server's worlds, tasks and sessions, from which it answers.
pub struct App {
    pub(super) worlds: Worlds,
    pub(super) tasks: Option<Box<dyn TaskSource>>,
    pub(super) prover: OnceLock<Box<dyn Prover>>,
    pub(super) search: ApiIndex,
    pub(super) sessions: Sessions,
    /// Bytes that the sessions hold.
    pub(super) scale: Arc<Scale>,
    pub(super) store: Option<Store>,
    left_out: Vec<LeftOut>,
    pub(super) metrics: Metrics,
    pub(super) settings: Settings,
    pub(super) started: Instant,
    /// Milliseconds by which tests are ahead of the machine.
    pub(super) ahead_ms: AtomicU64,
    /// Requests so far, which number those that bring no id.
    pub(super) requests: AtomicU64,
    pub(super) ending: AtomicBool,
}

impl App {
    /// A server of these worlds, and of tasks where there are any, with the sessions of its state folder.
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
        let worlds = Worlds::new(worlds)?;
        let store = settings.state.as_ref().map(|state| Store::open(state, settings.node())).transpose()?;
        let scale = Arc::new(Scale::default());
        let restored = store.as_ref().map(|store| restored(store, &worlds, tasks.as_deref(), &scale));
        let (earlier, left_out) = match restored.transpose()? {
            Some(Restored { live, left_out }) => (live, left_out),
            None => (Vec::new(), Vec::new()),
        };
        // Sessions that were there before are kept, also when fewer are allowed now.
        let most = settings.max_sessions.max(earlier.len());
        let sessions = Sessions::new(settings.node.clone(), most, earlier);
        Ok(Arc::new(Self {
            worlds,
            tasks,
            prover: OnceLock::new(),
            search,
            sessions,
            scale,
            store,
            left_out,
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

    /// The sessions of the state folder that this server cannot continue. They stay in the folder.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Takes those sessions out of the state folder.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn remove_left_out(&self) -> Result<(), StoreError> {
        self.store.as_ref().map_or(Ok(()), |store| store.remove(&self.left_out))
    }

    /// Waits until the state folder cannot be relied on any more, and says why: the server has to end.
    pub(super) async fn lost(&self) -> StoreError {
        match &self.store {
            Some(store) => store.lost().await,
            None => std::future::pending().await,
        }
    }

    /// Milliseconds since the start. Leases and caps by the second count by it; no reply holds it.
    pub(super) fn now_ms(&self) -> u64 {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        elapsed.saturating_add(self.ahead_ms.load(Relaxed))
    }

    /// Takes snapshots of all sessions, so that the next start has nothing to make again.
    pub(super) fn take_snapshots(&self) {
        let Some(store) = &self.store else { return };
        for slot in self.sessions.all() {
            store.snapshot(&mut lock(&slot));
        }
    }

    /// Ends the sessions whose leases are over, and opens a state folder again that could not be written to.
    pub(super) fn sweep(&self) {
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

    /// The absolute URL of a session's REST API.
    pub(super) fn base_url(&self, id: &str) -> String {
        format!("{}/s/{id}", self.settings.public_url)
    }
}
