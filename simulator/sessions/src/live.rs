//! Owns the live session: the engine's session, its task, its messages and its memory use.

use std::sync::Arc;

use super::creation::Creation;
use super::node::new_id;
use super::problem::{Kind, Problem};
use super::random::unguessable;
use super::replies::GradeReply;
use super::settings::Settings;
use super::tasks::TaskSpec;
use super::weight::{Scale, Weight};
use super::worlds::Ready;
use diorama_engine::session::Session;
use diorama_user::conversation::Conversation;

/// A request works on sessions up to this many bytes without a thread of its own.
const MAX_LITTLE_BYTES: u64 = 64 << 10;

/// A live session.
pub struct Live {
    /// Its id.
    pub id: String,
    /// The request that made it, if it had a key.
    pub(crate) creation: Option<Arc<Creation>>,
    /// Opens the admin API for this session only.
    pub token: String,
    /// The world.
    pub world: Arc<Ready>,
    /// The engine's session.
    pub session: Session,
    /// Its task, if it has one.
    pub task: Option<Arc<TaskSpec>>,
    /// The messages between assistant and user.
    pub said: Conversation,
    /// The grade, after the episode has ended.
    pub grade: Option<GradeReply>,
    /// Milliseconds without a request until the session is closed. 0 means never.
    pub lease_ms: u64,
    /// The name of the events that it shares with other forks in the store.
    pub(crate) prefix: Option<String>,
    /// Number of its next event in the store.
    pub(crate) next_event: u64,
    /// Number of the next event when the last snapshot was taken.
    pub(crate) snapshot_event: u64,
    /// Number of its calls that the store has.
    pub(crate) calls_written: usize,
    /// Bytes that it uses in memory.
    weight: Weight,
    /// Bytes of these that its messages use.
    said_bytes: u64,
    /// True if the session was deleted while a request waited for it.
    pub(crate) gone: bool,
    /// The second of the last call, and the number of calls in that second.
    window: (u64, u32),
}

impl Live {
    /// Makes a session without id and token.
    pub(crate) fn new(
        world: Arc<Ready>,
        session: Session,
        task: Option<Arc<TaskSpec>>,
        lease_ms: u64,
        weight: Weight,
    ) -> Self {
        Self {
            weight,
            said_bytes: 0,
            calls_written: session.calls(),
            id: String::new(),
            creation: None,
            token: String::new(),
            world,
            session,
            task,
            said: Conversation::default(),
            grade: None,
            lease_ms,
            prefix: None,
            next_event: 0,
            snapshot_event: 0,
            gone: false,
            window: (0, 0),
        }
    }

    /// Returns the session with a new token and a new id on a node.
    pub(crate) fn identified(mut self, node: Option<&str>) -> Result<Self, Problem> {
        self.id = new_id(node).map_err(Problem::no_random)?;
        self.token = unguessable().map_err(Problem::no_random)?;
        Ok(self)
    }

    /// Returns a fork without an id. It starts at the current state, or at the state after `at` calls.
    pub(crate) fn fork(&mut self, at: Option<usize>) -> Result<Self, Problem> {
        let calls = self.session.calls();
        let at = at.unwrap_or(calls);
        if at > calls {
            return Err(Problem::about("at", &format!("a number of calls from 0 to {calls}"), at));
        }
        let session = self.session.fork_at(at);
        let weight = if at == calls { self.weight.part() } else { self.weight.apart() };
        let (world, task) = (Arc::clone(&self.world), self.task.clone());
        let mut fork = Self::new(world, session, task, self.lease_ms, weight);
        fork.said = self.said.clone();
        fork.said.truncate(at);
        fork.weigh_all();
        fork.grade = self.grade.clone().filter(|_| at == calls);
        Ok(fork)
    }

    pub(crate) fn reset(&mut self) {
        self.session.reset();
        self.said.clear();
        self.said_bytes = 0;
        self.weight.clear();
        self.grade = None;
        self.prefix = None;
        (self.next_event, self.snapshot_event, self.calls_written) = (0, 0, 0);
    }

    /// Returns true if the store has all calls of the session.
    pub(crate) fn is_written_down(&self) -> bool {
        self.calls_written == self.session.calls()
    }

    /// Returns the session's task.
    ///
    /// # Errors
    /// [`Kind::Conflict`] without a task.
    pub fn task(&self) -> Result<Arc<TaskSpec>, Problem> {
        let none =
            || Problem::new(Kind::Conflict, "the session has no task; create one with {\"task\": ...}");
        self.task.clone().ok_or_else(none)
    }

    /// Refuses a session that was deleted while a request waited for it.
    pub(crate) fn check_present(&self) -> Result<(), Problem> {
        if self.gone { Err(no_session(&self.id)) } else { Ok(()) }
    }

    /// Refuses calls after the episode's end, after deletion, and at the limits on sessions.
    pub(crate) fn takes_calls(&self, settings: &Settings, scale: &Scale) -> Result<(), Problem> {
        self.check_present()?;
        if self.grade.is_some() {
            return Err(Problem::new(
                Kind::Conflict,
                "the episode has been graded and has ended; reset the session or create another",
            )
            .with("done", true));
        }
        if self.said.is_over() {
            return Err(Problem::new(
                Kind::Conflict,
                "the user has nothing more to say, so the episode has ended and nothing more is done; grade it, reset \
                 the session or create another",
            )
            .with("done", true));
        }
        let (bytes, most) = (self.weight.bytes(), settings.max_session_bytes);
        if bytes >= most {
            let detail = format!(
                "the session holds {bytes} bytes of records, calls and messages, expected fewer than {most} \
                 (--max-session-bytes); reset it or create another"
            );
            return Err(Problem::new(Kind::TooMany, detail).with("limit", most));
        }
        let (bytes, most) = (scale.held(), settings.max_bytes);
        if bytes >= most {
            let detail = format!(
                "all sessions hold {bytes} bytes, expected fewer than {most} (--max-bytes); delete or reset some"
            );
            return Err(Problem::new(Kind::TooMany, detail).with("limit", most));
        }
        let most = settings.max_calls;
        if self.session.calls() >= most {
            let detail =
                format!("the session has had {most} calls, expected fewer; reset it or create another");
            return Err(Problem::new(Kind::TooMany, detail).with("limit", most as u64));
        }
        Ok(())
    }

    /// Returns true if the session is small enough to be copied and restored in microseconds.
    pub(crate) fn holds_little(&self) -> bool {
        self.weight.bytes() <= MAX_LITTLE_BYTES
    }

    /// Updates the memory use after a call.
    pub(crate) fn weigh(&mut self) {
        self.weight.set(self.session.bytes() + self.said_bytes);
    }

    /// Updates the memory use after a message.
    pub(crate) fn weigh_all(&mut self) {
        self.said_bytes = self.said.bytes();
        self.weigh();
    }

    /// Refuses a call that exceeds the limit per second.
    pub(crate) fn takes_one_now(&mut self, most: u32, now_ms: u64) -> Result<(), Problem> {
        let second = now_ms / 1_000;
        let count = if self.window.0 == second { self.window.1.saturating_add(1) } else { 1 };
        if count > most {
            let detail =
                format!("the session has had {most} calls in this second, expected no more; wait one");
            return Err(Problem::new(Kind::TooMany, detail).with("limit", most).retry_in(1));
        }
        self.window = (second, count);
        Ok(())
    }
}

pub(crate) fn no_session(id: &str) -> Problem {
    let shown: String = id.chars().take(60).collect();
    Problem::new(
        Kind::NotFound,
        format!("no session has the id `{shown}`, or its lease is over; create one with POST /v1/sessions"),
    )
}
