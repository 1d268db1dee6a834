//! The live sessions of a server, by ids that cannot be guessed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use serde_json::Value as Json;

use super::problem::Problem;
use super::tasks::TaskSpec;
use super::worlds::Ready;
use crate::session::Session;

/// Calls of one session between resets: its log is kept whole.
pub(super) const MAX_CALLS: usize = 10_000;

/// A session that is served.
pub(super) struct Live {
    pub(super) id: String,
    /// Opens the experimenter's surface for this session alone.
    pub(super) token: String,
    pub(super) world: Arc<Ready>,
    pub(super) session: Session,
    pub(super) task: Option<Arc<TaskSpec>>,
    /// How many turns of the task the user has said.
    pub(super) said: usize,
    /// The result, once the episode has ended.
    pub(super) grade: Option<Json>,
}

impl Live {
    pub(super) fn new(
        world: Arc<Ready>,
        session: Session,
        task: Option<Arc<TaskSpec>>,
    ) -> Result<Self, Problem> {
        Ok(Self { id: unguessable()?, token: unguessable()?, world, session, task, said: 1, grade: None })
    }

    /// Another live session that starts where this one is.
    pub(super) fn fork(&self) -> Result<Self, Problem> {
        Ok(Self {
            id: unguessable()?,
            token: unguessable()?,
            world: Arc::clone(&self.world),
            session: self.session.fork(),
            task: self.task.clone(),
            said: self.said,
            grade: self.grade.clone(),
        })
    }

    pub(super) fn reset(&mut self) {
        self.session.reset();
        self.said = 1;
        self.grade = None;
    }

    /// Refuses what an episode that has ended, or a session with too long a log, does not take.
    pub(super) fn takes_calls(&self) -> Result<(), Problem> {
        if self.grade.is_some() {
            return Err(Problem::new(
                409,
                "the episode has been graded and has ended; reset the session or create another",
            ));
        }
        if self.session.log().len() >= MAX_CALLS {
            let detail =
                format!("the session has had {MAX_CALLS} calls, expected fewer; reset it or create another");
            return Err(Problem::new(429, detail));
        }
        Ok(())
    }
}

/// All live sessions.
pub(super) struct Sessions {
    live: RwLock<HashMap<String, Arc<Mutex<Live>>>>,
    most: usize,
}

impl Sessions {
    pub(super) fn new(most: usize) -> Self {
        Self { live: RwLock::default(), most }
    }

    /// Adds sessions: all, or none where they do not fit.
    pub(super) fn add(&self, new: Vec<Live>) -> Result<(), Problem> {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        if live.len().saturating_add(new.len()) > self.most {
            let detail = format!(
                "found {} sessions and {} to add, expected at most {}; delete some first",
                live.len(),
                new.len(),
                self.most
            );
            return Err(Problem::new(429, detail));
        }
        live.extend(new.into_iter().map(|live| (live.id.clone(), Arc::new(Mutex::new(live)))));
        Ok(())
    }

    pub(super) fn get(&self, id: &str) -> Result<Arc<Mutex<Live>>, Problem> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.get(id).cloned().ok_or_else(|| no_session(id))
    }

    pub(super) fn remove(&self, id: &str) -> Result<(), Problem> {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.remove(id).map(|_| ()).ok_or_else(|| no_session(id))
    }

    pub(super) fn count(&self) -> usize {
        self.live.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// The session behind its lock. A call that panicked left it as it was before, or as it is after: states are replaced
/// whole.
pub(super) fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

fn no_session(id: &str) -> Problem {
    let shown: String = id.chars().take(60).collect();
    Problem::new(404, format!("no session has the id `{shown}`; create one with POST /v1/sessions"))
}

/// 128 bits from the machine, in hexadecimal. The only randomness of the server, and no reply of a world depends on it.
fn unguessable() -> Result<String, Problem> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Problem::new(500, format!("the machine gives no random bytes: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
