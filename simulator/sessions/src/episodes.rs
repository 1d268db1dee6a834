//! The sessions of a server as other protocols in the same process need them: an episode begins, calls are made, it is graded,
//! it ends.
//!
//! Owns which thread does the work and what a caller waits for. What a call does, and whether a task is solved, is decided
//! where the server's own routes decide it: there is one store of sessions and one grader.

use std::sync::{Arc, MutexGuard};
use std::thread::available_parallelism;

use diorama_seeds::agent_tools;
use diorama_seeds::model::ApiId;
use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json};
use tokio::sync::Semaphore;

use super::after::After;
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

/// Episodes that are set up at a time, for each processor: their worlds may have to be read, and a grade never waits for
/// threads that set up others.
const SETUPS_PER_PROCESSOR: usize = 4;

/// The episodes of a server.
#[derive(Clone)]
pub struct Episodes {
    sessions: Arc<Sessions>,
    setups: Arc<Semaphore>,
}

/// What an episode begins with.
#[derive(Clone, Debug, Default)]
pub struct NewEpisode {
    /// The id of its task.
    pub task: String,
    /// The seed of its session; the task's own without it.
    pub seed: Option<u64>,
    /// Rules of the faults that it meets.
    pub faults: Vec<Json>,
    /// The name that its caller knows it by: the same name with the same `request` gives the same episode again.
    pub key: Option<SessionKey>,
    /// The request that asks for it, as it reads.
    pub request: Vec<u8>,
    /// How long it lives when nobody asks for it, in seconds; 0 is for ever.
    pub lease_seconds: u64,
}

/// The prompt of a task: nothing of how it is solved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The task's id.
    pub task: String,
    /// The system message.
    pub system: String,
    /// The user's first words.
    pub user: String,
}

/// The reply to a call by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// The status, as HTTP has it.
    pub status: u16,
    /// The body, as JSON.
    pub body: String,
    /// True if the user has nothing more to say: the episode can be graded.
    pub over: bool,
}

/// How many sessions there are, and how many there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Sessions now.
    pub active: usize,
    /// Sessions at most.
    pub most: usize,
}

impl Episodes {
    /// The episodes of a server.
    #[must_use]
    pub fn new(sessions: &Arc<Sessions>) -> Self {
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            sessions: Arc::clone(sessions),
            setups: Arc::new(Semaphore::new(cores * SETUPS_PER_PROCESSOR)),
        }
    }

    /// The tasks that episodes can be of.
    #[must_use]
    pub fn tasks(&self) -> Option<&dyn TaskSource> {
        self.sessions.tasks()
    }

    /// How many sessions there are, and how many there may be.
    #[must_use]
    pub fn capacity(&self) -> Capacity {
        Capacity { active: self.sessions.count(), most: self.sessions.most() }
    }

    /// The id of the episode that a caller knows by this name.
    #[must_use]
    pub fn named(&self, key: &SessionKey) -> Option<String> {
        self.sessions.named(key)
    }

    /// Whether there is such an episode. Its lease begins anew.
    #[must_use]
    pub fn is_live(&self, id: &str) -> bool {
        self.sessions.get(id).is_ok()
    }

    /// Begins an episode and gives its id.
    ///
    /// # Errors
    /// 422 where there is no such task or a fault is no rule, 429 where the server has no place for it, 503 where nothing can be
    /// written down.
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

    /// Begins an episode where another one is, or was after so many calls, and gives its id.
    ///
    /// # Errors
    /// As [`Episodes::open`]; 404 without that episode.
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

    /// The prompt of an episode's task.
    ///
    /// # Errors
    /// 404 without such an episode.
    pub async fn prompt(&self, id: &str) -> Result<Prompt, Problem> {
        let task = self.look(id, Live::task).await?;
        let (id, system, user) = (task.id.clone(), task.system.clone(), task.script.opening().to_owned());
        Ok(Prompt { task: id, system, user })
    }

    /// The tools that an episode's agent may call now, in OpenAI's function format: APIs that are visible, and those of the
    /// conversation.
    ///
    /// # Errors
    /// 404 without such an episode.
    pub async fn tools(&self, id: &str) -> Result<Vec<Json>, Problem> {
        self.look(id, |live| Ok(tools_of(live))).await
    }

    /// Makes a call by name: of an API, of the search, or of a tool of the conversation. What the world refuses is a reply.
    ///
    /// # Errors
    /// 404 without such an episode, 409 after its grade, 429 at a cap, 504 where a fault loses the reply.
    pub async fn call(&self, id: &str, name: &str, arguments: Map<String, Json>) -> Result<Called, Problem> {
        let call = Call { api: name.to_owned(), arguments };
        let (called, after) = self.sessions.call(self.slot(id)?, call, called).await?;
        after.settle().await?;
        Ok(called)
    }

    /// Whether the episode's world has an API of this name, or the name is that of another tool.
    ///
    /// # Errors
    /// 404 without such an episode.
    pub fn has_tool(&self, id: &str, name: &str) -> Result<bool, Problem> {
        let slot = self.slot(id)?;
        let known = name == TOOL_SEARCHER || slot.speaks(name) || slot.world.base.api_named(name).is_some();
        Ok(known)
    }

    /// How many steps the episode's agent has taken: calls of APIs, words to the user, and endings of goals.
    ///
    /// # Errors
    /// 404 without such an episode.
    pub async fn steps(&self, id: &str) -> Result<usize, Problem> {
        self.look(id, |live| Ok(live.session.calls() + live.said.exchanges().len())).await
    }

    /// Returns true if the user has nothing more to say, or the episode is graded.
    ///
    /// # Errors
    /// 404 without such an episode.
    pub async fn is_over(&self, id: &str) -> Result<bool, Problem> {
        self.look(id, |live| Ok(live.grade.is_some() || live.said.is_over())).await
    }

    /// Ends the episode, and grades it. Once graded, the grade is repeated.
    ///
    /// # Errors
    /// 404 without such an episode, 500 where the task's checks do not fit its world.
    pub async fn grade(&self, id: &str) -> Result<GradeReply, Problem> {
        let (slot, sessions) = (self.slot(id)?, Arc::clone(&self.sessions));
        let (grade, after) = run_blocking(move || sessions.grade(&mut *slot.enter()?)).await?;
        after.settle().await?;
        Ok(grade)
    }

    /// Ends the episode and frees what it holds. True if it was there: ending twice is no error.
    ///
    /// # Errors
    /// 503 where its end cannot be written down.
    pub async fn close(&self, id: &str) -> Result<bool, Problem> {
        let Some(slot) = self.sessions.peek(id) else { return Ok(false) };
        let sessions = Arc::clone(&self.sessions);
        match run_blocking(move || sessions.close(&slot)).await {
            Ok(saved) => saved.settle().await.map(|()| true),
            Err(gone) if gone.kind() == Kind::NotFound => Ok(false),
            Err(problem) => Err(problem),
        }
    }

    /// Looks at an episode: at once where nobody else is at its session, else on another thread, which waits.
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

    /// Makes a session on a thread of its own, of which few make sessions.
    async fn set_up(
        &self,
        make: impl FnOnce(&Sessions) -> Result<(Vec<Arc<Slot>>, After), Problem> + Send + 'static,
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
    /// Returns true if a name is that of a tool of the conversation, and of no API of the world.
    #[must_use]
    pub fn speaks(&self, name: &str) -> bool {
        let own = |tool: &str| name == tool && self.world.base.api_named(tool).is_none();
        own(agent_tools::ASK_USER) || own(agent_tools::CONFIRM) || own(diorama_seeds::ending::FINISH)
    }
}

impl Sessions {
    /// Makes a call of an API or of a tool of the conversation, and reads its reply off with `show`. A call of microseconds is made
    /// at once; where another is at the session, the API is slow, or the user is to answer, another thread waits.
    ///
    /// # Errors
    /// [`Kind::NotFound`] where the session is gone, [`Kind::Conflict`] once the episode has ended, [`Kind::TooMany`] at a cap.
    pub async fn call<T: Send + 'static>(
        self: &Arc<Self>,
        slot: Arc<Slot>,
        call: Call,
        show: fn(&NamedCall, &Live) -> T,
    ) -> Result<(T, After), Problem> {
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
    ) -> Result<(T, After), Problem> {
        live.check_present()?;
        let world = &slot.world;
        world.pace.time(world.base.api_named(&call.api), || {
            let made = self.call_by_name(&mut live, call)?;
            Ok((show(&made, &live), made.after))
        })
    }
}

/// The reply to a call by name.
fn called(made: &NamedCall, live: &Live) -> Called {
    let body = made.body_text(&live.world.world().zone);
    Called { status: made.status(), body, over: live.said.is_over() }
}

/// The tools that a session's agent may call now.
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
