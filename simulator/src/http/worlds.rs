//! The worlds that are served: sources, and what of them is ready to run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use diorama_seeds::materialise::Source;
use diorama_seeds::model::World;

use super::StartError;
use super::problem::Problem;
use super::route::Routes;
use super::tasks::TaskSpec;
use crate::engine::Base;
use crate::grade::Vocabulary;

/// A world to serve.
pub struct WorldSource {
    /// The name callers choose it by.
    pub id: String,
    /// Where it comes from.
    pub source: Source,
    /// The seed of its records.
    pub seed: u64,
    /// A path under which its REST API is answered too (an imported document's server path), or nothing.
    pub server_path: String,
}

/// A world that runs.
pub struct Ready {
    pub(super) id: String,
    pub(super) base: Arc<Base>,
    pub(super) routes: Routes,
    pub(super) server_path: String,
    pub(super) hash: String,
    vocabulary: OnceLock<Vocabulary>,
}

impl Ready {
    fn new(id: &str, base: Arc<Base>, hash: &str, server_path: &str) -> Self {
        let server_path = server_path.trim_end_matches('/').to_owned();
        let routes = Routes::new(base.world());
        Self {
            id: id.to_owned(),
            base,
            routes,
            server_path,
            hash: hash.to_owned(),
            vocabulary: OnceLock::new(),
        }
    }

    pub(super) fn world(&self) -> &World {
        self.base.world()
    }

    /// The names of the world's records, read when the first episode is graded.
    pub(super) fn vocabulary(&self) -> &Vocabulary {
        self.vocabulary.get_or_init(|| Vocabulary::new(&self.base))
    }
}

/// A world by name, made ready when first needed.
pub(super) struct Served {
    pub(super) source: WorldSource,
    ready: OnceLock<Result<Arc<Ready>, String>>,
}

impl Served {
    /// The world, ready to run.
    pub(super) fn ready(&self) -> Result<Arc<Ready>, Problem> {
        let made = self.ready.get_or_init(|| self.make().map(Arc::new));
        made.clone().map_err(|error| Problem::new(500, format!("world `{}`: {error}", self.source.id)))
    }

    fn make(&self) -> Result<Ready, String> {
        let WorldSource { id, source, seed, server_path } = &self.source;
        let running = source.run(*seed).map_err(|report| report.to_string())?;
        let base = Base::new(running.world).map_err(|error| error.to_string())?;
        Ok(Ready::new(id, base, &running.hash, server_path))
    }
}

/// All worlds of a server.
pub(super) struct Worlds {
    served: Vec<Served>,
    /// Worlds of tasks, by id. As many as fit; the bases behind them belong to the task source.
    of_tasks: Mutex<HashMap<String, Arc<Ready>>>,
}

/// So many worlds of tasks are kept ready.
const KEPT: usize = 64;

impl Worlds {
    pub(super) fn new(sources: Vec<WorldSource>) -> Result<Self, StartError> {
        let mut served: Vec<Served> = Vec::with_capacity(sources.len());
        for source in sources {
            if served.iter().any(|known| known.source.id == source.id) {
                return Err(StartError::SameName(source.id));
            }
            served.push(Served { source, ready: OnceLock::new() });
        }
        Ok(Self { served, of_tasks: Mutex::default() })
    }

    pub(super) fn all(&self) -> &[Served] {
        &self.served
    }

    pub(super) fn named(&self, id: &str) -> Result<&Served, Problem> {
        let found = self.served.iter().find(|served| served.source.id == id);
        found.ok_or_else(|| Problem::about("world", &format!("one of {}", self.names()), format!("`{id}`")))
    }

    /// The world that is meant when none is named.
    pub(super) fn only(&self) -> Result<&Served, Problem> {
        match self.served.as_slice() {
            [only] => Ok(only),
            [] => Err(Problem::about("task", "the id of a task, as no world is served by name", "nothing")),
            _ => Err(Problem::about("world", &format!("one of {}", self.names()), "nothing")),
        }
    }

    /// The world of a task.
    pub(super) fn of_task(&self, task: &TaskSpec) -> Arc<Ready> {
        let mut kept = self.of_tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = kept.get(&task.world).filter(|ready| Arc::ptr_eq(&ready.base, &task.base)) {
            return Arc::clone(ready);
        }
        if kept.len() >= KEPT {
            kept.clear();
        }
        let ready = Arc::new(Ready::new(&task.world, Arc::clone(&task.base), &task.world_hash, ""));
        kept.insert(task.world.clone(), Arc::clone(&ready));
        ready
    }

    fn names(&self) -> String {
        self.served.iter().map(|served| &*served.source.id).collect::<Vec<_>>().join(", ")
    }
}
