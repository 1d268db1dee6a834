//! The tester: no task leaves without proof.
//!
//! Owns the six gates and their order. Each gate is a function of the world, the draft and the solution; it replays
//! and grades, and believes nothing that an agent says.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use diorama_seeds::task::{Call, ChangeCheck, Outcome};
use diorama_simulator::engine::{RecordChange, diff};
use diorama_simulator::grade::{Attempt, Grade, Prepared};
use diorama_simulator::session::{LogEntry, Memo, Session, SessionOptions};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::caller::Solution;
use super::checks::change_checks;
use super::draft::Draft;
use super::gates;
use super::world::UnitWorld;

/// Tests a solved task.
pub trait TesterAgent: Sync {
    /// What the gates found.
    ///
    /// # Errors
    /// The gate that the task did not pass, and why.
    fn test(
        &self,
        world: &UnitWorld,
        draft: &Draft,
        solution: &Solution,
        rng: &mut ChaCha8Rng,
    ) -> Result<GateReport, Dropped>;
}

/// The gates, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The reference solution replays and passes.
    Gold,
    /// Doing nothing does not pass.
    NoOp,
    /// Single faults do not pass.
    Damage,
    /// Other right ways pass.
    Alternatives,
    /// The request has one reading.
    Determined,
    /// Every argument follows from what was visible.
    Grounded,
}

/// A task that did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// At this gate.
    pub gate: Gate,
    /// For this reason.
    pub reason: &'static str,
}

/// What the gates found, stored with the row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// Reference calls replayed with the same replies and state.
    pub gold_calls: u32,
    /// Ways of doing nothing that failed.
    pub no_op: u32,
    /// Faults by kind.
    pub damage: BTreeMap<String, Tally>,
    /// Other right ways that passed, by kind.
    pub alternatives: BTreeMap<String, u32>,
    /// Texts that were found to have one reading.
    pub determined: u32,
    /// Arguments derived again.
    pub grounded: u32,
}

/// What became of the faults of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// They failed the checks, as they must.
    pub killed: u32,
    /// They are no faults: same state, same evidence.
    pub equivalent: u32,
    /// They passed the checks: a row with one is dropped.
    pub survived: u32,
}

impl Gate {
    /// All gates in order.
    pub const ALL: [Self; 6] =
        [Self::Gold, Self::NoOp, Self::Damage, Self::Alternatives, Self::Determined, Self::Grounded];

    /// Its name in the funnel.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gold => "gold",
            Self::NoOp => "no_op",
            Self::Damage => "damage",
            Self::Alternatives => "alternatives",
            Self::Determined => "determined",
            Self::Grounded => "grounded",
        }
    }
}

/// The tester that runs all gates.
#[derive(Clone, Copy, Debug, Default)]
pub struct SixGates;

impl TesterAgent for SixGates {
    fn test(
        &self,
        world: &UnitWorld,
        draft: &Draft,
        solution: &Solution,
        rng: &mut ChaCha8Rng,
    ) -> Result<GateReport, Dropped> {
        let Ok(prepared) = Prepared::with(&solution.checks, &world.base, &world.vocabulary) else {
            return Err(Dropped { gate: Gate::Gold, reason: "checks that prove nothing" });
        };
        let expected = diff(&world.base, &solution.initial, &solution.last);
        let expected_checks = change_checks(world.base.world(), &expected);
        let turns = draft.turns.iter().map(|turn| turn.text.clone()).collect();
        let trial = Trial {
            world,
            draft,
            solution,
            prepared,
            expected,
            expected_checks,
            turns,
            memo: RefCell::default(),
        };
        let mut report = GateReport::default();
        let fail = |gate| move |reason| Dropped { gate, reason };
        gates::gold::run(&trial, &mut report).map_err(fail(Gate::Gold))?;
        // The two gates that read texts are the cheapest, but the order of the report is the order of the funnel:
        // a task is counted at the first gate that it fails.
        gates::no_op::run(&trial, &mut report).map_err(fail(Gate::NoOp))?;
        gates::damage::run(&trial, &mut report, rng).map_err(fail(Gate::Damage))?;
        gates::alternatives::run(&trial, &mut report, rng).map_err(fail(Gate::Alternatives))?;
        gates::determined::run(&trial, &mut report).map_err(fail(Gate::Determined))?;
        gates::grounded::run(&trial, &mut report).map_err(fail(Gate::Grounded))?;
        Ok(report)
    }
}

/// A solved task under test.
pub struct Trial<'a> {
    /// The world.
    pub world: &'a UnitWorld,
    /// The draft.
    pub draft: &'a Draft,
    /// The solution.
    pub solution: &'a Solution,
    /// The checks, ready.
    pub prepared: Prepared,
    /// What the reference solution changes.
    pub expected: Vec<RecordChange>,
    /// The same, as checks: new keys by number.
    pub expected_checks: Vec<ChangeCheck>,
    /// The user's turns.
    pub turns: Vec<String>,
    /// The calls of faults and variants, most of which are the reference solution's.
    memo: RefCell<Memo>,
}

/// A run of some calls on a fresh session. Cloning forks it.
#[derive(Clone)]
pub struct Run {
    /// The session after the calls.
    pub session: Session,
    /// Replies by position; `None` where a call was left out.
    pub replies: Vec<Option<Arc<LogEntry>>>,
}

impl Trial<'_> {
    /// A fresh session like the one the task was solved in.
    #[must_use]
    pub fn session(&self) -> Session {
        let options = SessionOptions {
            seed: self.solution.session_seed,
            visible: Some(self.solution.visible.clone()),
            ..SessionOptions::default()
        };
        Session::new(self.world.base.clone(), options)
    }

    /// An empty run.
    #[must_use]
    pub fn start(&self) -> Run {
        Run { session: self.session(), replies: Vec::with_capacity(self.solution.gold.len()) }
    }

    /// Makes a call of a fault or a variant, and keeps its reply in the next position. The replay that proves the
    /// reference solution does without the memo.
    pub fn call(&self, run: &mut Run, call: &Call) {
        let entry = self.call_aside(run, call);
        run.replies.push(Some(entry));
    }

    /// Makes a call that takes no position.
    pub fn call_aside(&self, run: &mut Run, call: &Call) -> Arc<LogEntry> {
        run.session.call_again(call, &mut self.memo.borrow_mut())
    }

    /// Whether a run with an answer passes.
    #[must_use]
    pub fn passes(&self, run: &Run, answer: &str, outcome: Option<Outcome>) -> bool {
        self.attempt(run, answer, outcome, |attempt| self.prepared.passes(attempt))
    }

    /// Grades a run with an answer.
    #[must_use]
    pub fn grade(&self, run: &Run, answer: &str, outcome: Option<Outcome>) -> Grade {
        self.attempt(run, answer, outcome, |attempt| self.prepared.grade(attempt))
    }

    fn attempt<T>(
        &self,
        run: &Run,
        answer: &str,
        outcome: Option<Outcome>,
        judge: impl FnOnce(&Attempt<'_>) -> T,
    ) -> T {
        let log: Vec<Arc<LogEntry>> = run.session.log().collect();
        judge(&Attempt {
            base: &self.world.base,
            initial: run.session.initial(),
            last: run.session.state(),
            log: &log,
            outcome,
            answer,
            user_turns: &self.turns,
        })
    }

    /// The answer over a run's replies; the reference answer where it cannot be said over them.
    #[must_use]
    pub fn answer(&self, run: &Run) -> String {
        super::binding::say_answer(&self.solution.answer_parts, &run.replies, self.world.base.world(), 0)
            .unwrap_or_else(|| self.solution.answer.clone())
    }
}

impl Run {
    /// Makes a call, and keeps its reply in the next position.
    pub fn call(&mut self, call: &Call) -> Arc<LogEntry> {
        let entry = self.session.call(call);
        self.replies.push(Some(entry.clone()));
        entry
    }

    /// Leaves the next position empty.
    pub fn skip(&mut self) {
        self.replies.push(None);
    }
}
