//! Evaluation: agents under test, driven through live sessions and graded.
//!
//! Owns the [`Agent`] trait, the live episode that an agent sees ([`Live`]), and the measures. An agent sees what a user
//! would show it: never gold, checks or user facts. The `oracle` and the adversaries, which test the grader and not an
//! agent, are handed the task itself.

pub mod adversaries;
pub mod measures;
pub mod oracle;

use std::sync::Arc;

use diorama_output::row::Dialogue;
use diorama_seeds::task::{Call, Outcome};
use diorama_simulator::grade::{Attempt, Grade, Prepared};
use diorama_simulator::session::{LogEntry, Session};

use crate::episode::{EpisodeError, Task, World};

/// An agent under test.
pub trait Agent: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Acts until it is done, and gives its final answer.
    fn act(&self, live: &mut Live<'_>) -> Ended;
}

/// How an agent ended an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The final answer.
    pub answer: String,
    /// The outcome it claims; read from the answer when it claims none.
    pub outcome: Option<Outcome>,
}

/// A live episode.
pub struct Live<'a> {
    /// The world.
    pub world: &'a World,
    /// The task; agents that think must only look at `system` and the first turn.
    pub task: &'a Task,
    /// The session.
    pub session: Session,
    /// How many turns the user has said.
    turns_said: usize,
}

/// The most calls an agent may make in an episode.
pub const MOST_CALLS: usize = 200;

/// One graded episode.
pub struct Judged {
    /// The grade.
    pub grade: Grade,
    /// How the agent ended.
    pub ended: Ended,
    /// Its calls.
    pub log: Vec<Arc<LogEntry>>,
}

impl<'a> Live<'a> {
    /// Starts an episode on a session seed.
    ///
    /// # Errors
    /// When the row does not fit its world.
    pub fn start(world: &'a World, task: &'a Task, seed: u64) -> Result<Self, EpisodeError> {
        Ok(Self { world, task, session: task.session(world, seed)?, turns_said: 1 })
    }

    /// Makes a call. `None` once the agent has made as many as it may.
    pub fn call(&mut self, call: &Call) -> Option<Arc<LogEntry>> {
        let calls = self.session.calls();
        (calls < MOST_CALLS).then(|| self.session.call(call))
    }

    /// Says something to the user; the user says what is still to be said when it is a question, else nothing.
    pub fn say(&mut self, text: &str) -> Option<&'a str> {
        let asks = text.contains('?') || text.to_lowercase().contains("need");
        let next = self.task.turns.get(self.turns_said).filter(|_| asks)?;
        self.turns_said += 1;
        Some(next)
    }

    /// The user's turns so far.
    #[must_use]
    pub fn said(&self) -> &'a [String] {
        self.task.turns.get(..self.turns_said).unwrap_or(&self.task.turns)
    }
}

/// Runs one agent through one row on a session seed.
///
/// # Errors
/// When the row cannot be used.
pub fn judge(
    agent: &dyn Agent,
    row: &Dialogue,
    world: &World,
    seed: u64,
) -> Result<(Task, Judged), EpisodeError> {
    let task = Task::of(row)?;
    let mut live = Live::start(world, &task, seed)?;
    let ended = agent.act(&mut live);
    let log: Vec<Arc<LogEntry>> = live.session.log().collect();
    let prepared = Prepared::with(&task.checks, &world.base, &world.vocabulary).map_err(|error| {
        EpisodeError::Column { row: row.id.clone(), column: "checks", what: error.to_string() }
    })?;
    let grade = prepared.grade(&Attempt {
        base: &world.base,
        initial: live.session.initial(),
        last: live.session.state(),
        log: &log,
        outcome: ended.outcome,
        answer: &ended.answer,
        user_turns: live.said(),
    });
    drop(live);
    Ok((task, Judged { grade, ended, log }))
}
