//! Owns the worlds of a server: their sources, and those that are ready to run.

use std::any::Any;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use diorama_seeds::materialise::Source;
use diorama_seeds::model::{ApiId, World};
use diorama_seeds::world::Report;
use lru::LruCache;

use super::pace::Pace;
use super::problem::{Kind, Problem};
use super::tasks::TaskSpec;
use diorama_engine::{Base, BaseError};

/// A world to serve.
pub struct WorldSource {
    /// The name by which callers choose it.
    pub id: String,
    /// The source of its document.
    pub source: Source,
    /// The seed of its records.
    pub seed: u64,
    /// A second path for its REST API (an imported document's server path), or an empty string.
    pub server_path: String,
}

/// Two worlds have the same name.
#[derive(Debug, thiserror::Error)]
#[error("two worlds have the name `{0}`; give each its own, or join them with --compose")]
pub struct SameName(String);

/// A world that runs.
pub struct Ready {
    /// Its name.
    pub id: String,
    /// The world, frozen.
    pub base: Arc<Base>,
    /// A second path for its REST API, without a final slash, or an empty string.
    pub server_path: String,
    /// The hash of its canonical form.
    pub hash: String,
    /// The pace of its APIs.
    pub(crate) pace: Pace,
    /// Data that a server derives from the world once.
    attached: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Ready {
    fn new(id: &str, base: Arc<Base>, hash: &str, server_path: &str) -> Self {
        let server_path = server_path.trim_end_matches('/').to_owned();
        let pace = Pace::new(base.world().apis.len());
        Self { id: id.to_owned(), base, server_path, hash: hash.to_owned(), pace, attached: OnceLock::new() }
    }

    /// Returns the compiled world.
    #[must_use]
    pub fn world(&self) -> &World {
        self.base.world()
    }

    /// Returns true if calls of an API should run on a thread of their own.
    #[must_use]
    pub fn is_slow(&self, api: ApiId) -> bool {
        self.pace.is_slow(Some(api))
    }

    /// Runs a call and records its time.
    pub fn time<T>(&self, api: ApiId, work: impl FnOnce() -> T) -> T {
        self.pace.time(Some(api), work)
    }

    /// Returns data that a server derives from the world once, such as route tables. Returns none if data of
    /// another type is attached.
    pub fn attached<T: Any + Send + Sync>(&self, make: impl FnOnce(&World) -> T) -> Option<&T> {
        self.attached.get_or_init(|| Box::new(make(self.world()))).downcast_ref()
    }
}

/// A named world, which is compiled when it is first needed.
pub struct ServedWorld {
    /// The source of the world.
    pub source: WorldSource,
    ready: OnceLock<Result<Arc<Ready>, NotReady>>,
}

/// The reason for which a world cannot run.
#[derive(Debug, thiserror::Error)]
enum NotReady {
    /// Its document has errors.
    #[error("{0}")]
    Document(#[from] Report),
    /// The engine refuses it.
    #[error(transparent)]
    Engine(#[from] BaseError),
}

impl ServedWorld {
    /// Returns the world, ready to run.
    ///
    /// # Errors
    /// [`Kind::Failed`] if the world cannot be compiled.
    pub fn ready(&self) -> Result<Arc<Ready>, Problem> {
        match self.ready.get_or_init(|| self.make().map(Arc::new)) {
            Ok(ready) => Ok(Arc::clone(ready)),
            Err(error) => Err(Problem::new(Kind::Failed, format!("world `{}`: {error}", self.source.id))),
        }
    }

    fn make(&self) -> Result<Ready, NotReady> {
        let WorldSource { id, source, seed, server_path } = &self.source;
        let running = source.materialise(*seed)?;
        let base = Base::new(running.world)?;
        Ok(Ready::new(id, base, &running.hash, server_path))
    }
}

/// All worlds of a server.
pub struct Worlds {
    served: Vec<ServedWorld>,
    /// The most recently used worlds of tasks, by id. The task source owns their bases.
    of_tasks: Mutex<LruCache<String, Arc<Ready>>>,
}

/// Maximum number of task worlds that are kept ready.
const KEPT: NonZeroUsize = match NonZeroUsize::new(64) {
    Some(kept) => kept,
    None => NonZeroUsize::MIN,
};

impl Worlds {
    pub(crate) fn new(sources: Vec<WorldSource>) -> Result<Self, SameName> {
        let mut served: Vec<ServedWorld> = Vec::with_capacity(sources.len());
        for source in sources {
            if served.iter().any(|known| known.source.id == source.id) {
                return Err(SameName(source.id));
            }
            served.push(ServedWorld { source, ready: OnceLock::new() });
        }
        Ok(Self { served, of_tasks: Mutex::new(LruCache::new(KEPT)) })
    }

    /// Returns all worlds.
    #[must_use]
    pub fn all(&self) -> &[ServedWorld] {
        &self.served
    }

    /// Returns the world with a name.
    ///
    /// # Errors
    /// [`Kind::Invalid`] without such a world.
    pub fn named(&self, id: &str) -> Result<&ServedWorld, Problem> {
        let found = self.served.iter().find(|served| served.source.id == id);
        found.ok_or_else(|| Problem::about("world", &format!("one of {}", self.names()), format!("`{id}`")))
    }

    /// Returns the only world, for requests that name none.
    ///
    /// # Errors
    /// [`Kind::Invalid`] unless there is exactly one.
    pub fn only(&self) -> Result<&ServedWorld, Problem> {
        match self.served.as_slice() {
            [only] => Ok(only),
            [] => Err(Problem::about("task", "the id of a task, as no world is served by name", "nothing")),
            _ => Err(Problem::about("world", &format!("one of {}", self.names()), "nothing")),
        }
    }

    /// Returns the world of a task.
    pub(crate) fn of_task(&self, task: &TaskSpec) -> Arc<Ready> {
        let mut kept = self.of_tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = kept.get(&task.world).filter(|ready| Arc::ptr_eq(&ready.base, &task.base)) {
            return Arc::clone(ready);
        }
        let ready = Arc::new(Ready::new(&task.world, Arc::clone(&task.base), &task.world_hash, ""));
        kept.put(task.world.clone(), Arc::clone(&ready));
        ready
    }

    fn names(&self) -> String {
        self.served.iter().map(|served| &*served.source.id).collect::<Vec<_>>().join(", ")
    }
}
