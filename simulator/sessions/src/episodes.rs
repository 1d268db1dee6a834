//! Episodes for other protocols in the same process: open, call, grade and close them.
//!
//! Owns the choice of threads and the waiting for replies. The server's own routes share the session store
//! and the grader, so both decide alike.

use std::sync::{Arc, MutexGuard};
use std::thread::available_parallelism;

use diorama_seeds::agent_tools;
use diorama_seeds::model::ApiId;
use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json};
use tokio::sync::Semaphore;

use super::after::PendingSteps;
use super::blocking::run_blocking;
use super::creation::{Creation, SessionKey};
use super::live::Live;
use super::named_call::NamedCall;
use super::problem::{Kind, Problem};
use super::registry::Slot;
use super::replies::GradeReply;
use super::requests::{CreateRequest, ForkRequest};
use super::sessions::Sessions;
use super::tasks::TaskSource;
use diorama_engine::tools::TOOL_SEARCHER;

/// Episodes set up at a time, per processor. Their worlds may have to be read. The limit keeps threads free
/// for grades.
const SETUPS_PER_PROCESSOR: usize = 4;

/// The episodes of a server.
#[derive(Clone)]
pub struct Episodes {
    sessions: Arc<Sessions>,
    setups: Arc<Semaphore>,
}

/// The parameters of a new episode.
#[derive(Clone, Debug, Default)]
pub struct NewEpisode {
    /// The id of its task.
    pub task: String,
    /// The seed of its session. If none, the task's own.
    pub seed: Option<u64>,
    /// The rules of injected faults.
    pub faults: Vec<Json>,
    /// The caller's name for it. The same name with the same `request` returns the same episode.
    pub key: Option<SessionKey>,
    /// The request that asks for it, as bytes.
    pub request: Vec<u8>,
    /// Seconds without a request until it is closed. 0 means never.
    pub lease_seconds: u64,
}

/// The prompt of a task. It reveals nothing about the solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The task's id.
    pub task: String,
    /// The system message.
    pub system: String,
    /// The user's first message.
    pub user: String,
}

/// The reply to a call by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallReply {
    /// The HTTP status.
    pub status: u16,
    /// The body, as JSON.
    pub body: String,
    /// True if the user has nothing more to say, so that the episode can be graded.
    pub over: bool,
}

/// The number of sessions and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Current number of sessions.
    pub active: usize,
    /// Maximum number of sessions.
    pub most: usize,
}

impl Episodes {
    /// Makes the episodes of a server.
    #[must_use]
    pub fn new(sessions: &Arc<Sessions>) -> Self {
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            sessions: Arc::clone(sessions),
            setups: Arc::new(Semaphore::new(cores * SETUPS_PER_PROCESSOR)),
        }
    }

    /// Returns the source of tasks.
    #[must_use]
    pub fn tasks(&self) -> Option<&dyn TaskSource> {
        self.sessions.tasks()
    }

    /// Returns the number of sessions and its limit.
    #[must_use]
    pub fn capacity(&self) -> Capacity {
        Capacity { active: self.sessions.count(), most: self.sessions.most() }
    }

    /// Returns the id of the episode with the caller's name.
    #[must_use]
    pub fn named(&self, key: &SessionKey) -> Option<String> {
        self.sessions.named(key)
    }

    /// Returns true if the episode exists. Renews its lease.
    #[must_use]
    pub fn is_live(&self, id: &str) -> bool {
        self.sessions.get(id).is_ok()
    }

    /// Opens an episode and returns its id.
    ///
    /// # Errors
    /// 422 for an unknown task or a malformed fault. 429 if the server is full. 503 if the state folder
    /// cannot be written.
    pub async fn open(&self, new: NewEpisode) -> Result<String, Problem> {
        let NewEpisode { task, seed, faults, key, request, lease_seconds } = new;
        let creation = key.map(|key| Creation::named(key, &request));
        let asked = CreateRequest {
            task: Some(task),
            seed,
            faults: Some(faults),
            lease_seconds: Some(lease_seconds),
            ..CreateRequest::default()
        };
        self.set_up(move |sessions| sessions.create(asked, creation.as_ref())).await
    }

    /// Forks an episode, now or after `at` calls, and returns the id of the fork.
    ///
    /// # Errors
    /// As [`Episodes::open`]. 404 if the episode does not exist.
    pub async fn fork(
        &self,
        from: &str,
        at: Option<usize>,
        key: Option<SessionKey>,
        request: &[u8],
    ) -> Result<String, Problem> {
        let slot = self.slot(from)?;
        let creation = key.map(|key| Creation::named(key, request));
        let asked = ForkRequest { n: None, at };
        self.set_up(move |sessions| sessions.fork(slot.lock(), &asked, creation.as_ref())).await
    }

    /// Returns the prompt of an episode's task.
    ///
    /// # Errors
    /// 404 if the episode does not exist.
    pub async fn prompt(&self, id: &str) -> Result<Prompt, Problem> {
        let task = self.look(id, Live::task).await?;
        let (id, system, user) = (task.id.clone(), task.system.clone(), task.script.opening().to_owned());
        Ok(Prompt { task: id, system, user })
    }

    /// Returns the tools that the agent may call now, in OpenAI's function format: visible APIs and
    /// conversation tools.
    ///
    /// # Errors
    /// 404 if the episode does not exist.
    pub async fn tools(&self, id: &str) -> Result<Vec<Json>, Problem> {
        self.look(id, |live| Ok(tools_of(live))).await
    }

    /// Makes a call by name: to an API, to the tool search, or to a conversation tool. A refusal by the world
    /// is a reply, not an error.
    ///
    /// # Errors
    /// 404 if the episode does not exist. 409 after its grade. 429 at a limit. 504 if a fault loses the
    /// reply.
    pub async fn call(
        &self,
        id: &str,
        name: &str,
        arguments: Map<String, Json>,
    ) -> Result<CallReply, Problem> {
        let call = Call { api: name.to_owned(), arguments };
        let (called, after) = self.sessions.call(self.slot(id)?, call, called).await?;
        after.settle().await?;
        Ok(called)
    }

    /// Returns true if the name is an API of the episode's world, or another tool.
    ///
    /// # Errors
    /// 404 if the episode does not exist.
    pub fn has_tool(&self, id: &str, name: &str) -> Result<bool, Problem> {
        let slot = self.slot(id)?;
        let known = name == TOOL_SEARCHER || slot.speaks(name) || slot.world.base.api_named(name).is_some();
        Ok(known)
    }

    /// Counts the agent's steps: API calls, messages to the user, and ends of goals.
    ///
    /// # Errors
    /// 404 if the episode does not exist.
    pub async fn steps(&self, id: &str) -> Result<usize, Problem> {
        self.look(id, |live| Ok(live.session.calls() + live.said.exchanges().len())).await
    }

    /// Returns true if the user has nothing more to say, or the episode has a grade.
    ///
    /// # Errors
    /// 404 if the episode does not exist.
    pub async fn is_over(&self, id: &str) -> Result<bool, Problem> {
        self.look(id, |live| Ok(live.grade.is_some() || live.said.is_over())).await
    }

    /// Ends the episode and grades it. Later calls return the same grade.
    ///
    /// # Errors
    /// 404 if the episode does not exist. 500 if the task's checks do not fit its world.
    pub async fn grade(&self, id: &str) -> Result<GradeReply, Problem> {
        let (slot, sessions) = (self.slot(id)?, Arc::clone(&self.sessions));
        let (grade, after) = run_blocking(move || sessions.grade(&mut *slot.enter()?)).await?;
        after.settle().await?;
        Ok(grade)
    }

    /// Closes the episode and frees its memory. Returns false if it did not exist.
    ///
    /// # Errors
    /// 503 if the state folder cannot be written.
    pub async fn close(&self, id: &str) -> Result<bool, Problem> {
        let Some(slot) = self.sessions.peek(id) else { return Ok(false) };
        let sessions = Arc::clone(&self.sessions);
        match run_blocking(move || sessions.close(&slot)).await {
            Ok(saved) => saved.settle().await.map(|()| true),
            Err(gone) if gone.kind() == Kind::NotFound => Ok(false),
            Err(problem) => Err(problem),
        }
    }

    /// Reads an episode on this thread if its session is free, else on a thread that can wait.
    async fn look<T: Send + 'static>(
        &self,
        id: &str,
        look: impl FnOnce(&Live) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let slot = self.slot(id)?;
        if let Some(live) = slot.lock_soon() {
            live.check_present()?;
            return look(&live);
        }
        run_blocking(move || look(&*slot.enter()?)).await
    }

    fn slot(&self, id: &str) -> Result<Arc<Slot>, Problem> {
        self.sessions.get(id)
    }

    /// Makes a session on a thread of its own. [`SETUPS_PER_PROCESSOR`] bounds these threads.
    async fn set_up(
        &self,
        make: impl FnOnce(&Sessions) -> Result<(Vec<Arc<Slot>>, PendingSteps), Problem> + Send + 'static,
    ) -> Result<String, Problem> {
        let permit = Arc::clone(&self.setups).acquire_owned().await;
        let sessions = Arc::clone(&self.sessions);
        let made = run_blocking(move || {
            let _permit = permit;
            let (made, after) = make(&sessions)?;
            let first = made.first().ok_or_else(|| Problem::new(Kind::Failed, "no session was made"))?;
            Ok((first.lock().id.clone(), after))
        });
        let (id, after) = made.await?;
        after.settle().await?;
        Ok(id)
    }
}

impl Slot {
    /// Returns true if a name is a conversation tool and no API of the world.
    #[must_use]
    pub fn speaks(&self, name: &str) -> bool {
        let own = |tool: &str| name == tool && self.world.base.api_named(tool).is_none();
        own(agent_tools::ASK_USER) || own(agent_tools::CONFIRM) || own(diorama_seeds::ending::FINISH)
    }
}

impl Sessions {
    /// Calls an API or a conversation tool, and reads its reply with `show`. Fast calls run on this thread.
    /// If the session is busy, the API is slow or the user answers, another thread waits.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if the session is gone. [`Kind::Conflict`] after the episode has ended.
    /// [`Kind::TooMany`] at a limit.
    pub async fn call<T: Send + 'static>(
        self: &Arc<Self>,
        slot: Arc<Slot>,
        call: Call,
        show: fn(&NamedCall, &Live) -> T,
    ) -> Result<(T, PendingSteps), Problem> {
        let slow = slot.speaks(&call.api) || slot.world.pace.is_slow(slot.world.base.api_named(&call.api));
        if let Some(live) = (!slow).then(|| slot.lock_soon()).flatten() {
            return self.call_and_show(&slot, live, call, show);
        }
        let sessions = Arc::clone(self);
        run_blocking(move || sessions.call_and_show(&slot, slot.lock(), call, show)).await
    }

    fn call_and_show<T>(
        &self,
        slot: &Slot,
        mut live: MutexGuard<'_, Live>,
        call: Call,
        show: fn(&NamedCall, &Live) -> T,
    ) -> Result<(T, PendingSteps), Problem> {
        live.check_present()?;
        let world = &slot.world;
        world.pace.time(world.base.api_named(&call.api), || {
            let made = self.call_by_name(&mut live, call)?;
            Ok((show(&made, &live), made.after))
        })
    }
}

/// Returns the reply to a call by name.
fn called(made: &NamedCall, live: &Live) -> CallReply {
    let body = made.body_text(&live.world.world().zone);
    CallReply { status: made.status(), body, over: live.said.is_over() }
}

/// Returns the tools that a session's agent may call now.
fn tools_of(live: &Live) -> Vec<Json> {
    let base = &live.world.base;
    let visible: Vec<ApiId> = live.session.visible().collect();
    let mut tools: Vec<Json> = Vec::with_capacity(visible.len() + 4);
    if live.searches() {
        tools.push(base.tool_searcher_schema().clone());
    }
    tools.extend(visible.iter().filter_map(|api| base.tool_schema(*api)).map(|tool| Json::clone(tool)));
    tools.extend(live.own_tools());
    tools
}
