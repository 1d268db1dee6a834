//! Runs a grounded candidate under test: fresh sessions, runs with other calls, and their grades.
//!
//! It also has the gate `solvable`: the reference calls give the same replies and state on a fresh session,
//! and pass.

use std::cell::RefCell;
use std::sync::Arc;

use diorama_engine::session::{LogEntry, Memo, Session, SessionOptions};
use diorama_engine::{Digest, RecordChange};
use diorama_grade::evidence::Verdicts;
use diorama_grade::{Attempt, Consent, GoalEnd, Grade, PreparedChecks, Verdict};
use diorama_seeds::model::World;
use diorama_seeds::task::{Call, ChangeCheck, GoldCall};
use diorama_user::conversation::FinishData;

use super::finish::FinalAnswers;
use super::report::GateReport;
use crate::binding::bind;
use crate::checks::{change_checks, changed_by_goal};
use crate::context::WorldContext;
use crate::grounded::GroundedCandidate;
use crate::reason::{Code, Reason};

/// A grounded candidate under test.
pub struct Trial<'a> {
    /// The world and its indexes.
    pub context: WorldContext<'a>,
    /// The candidate under test.
    pub grounded: &'a GroundedCandidate,
    /// Its checks, prepared for grading.
    pub prepared: PreparedChecks,
    /// The changes of the reference solution, goal by goal.
    pub expected: Vec<RecordChange>,
    /// The digest of the final state of the reference solution.
    pub(super) last: Digest,
    /// The memo of calls: most calls of mutants and other right solutions are the reference solution's.
    memo: RefCell<Memo>,
    /// The memo of verdicts on replies, most of which are the reference solution's.
    verdicts: Verdicts,
    answers: FinalAnswers,
}

/// A run of some calls on a fresh session. Cloning forks it.
#[derive(Clone)]
pub struct Run {
    /// The session after the calls.
    pub session: Session,
    /// Replies by position; `None` where a call was left out.
    pub replies: Vec<Option<Arc<LogEntry>>>,
    /// For each ended goal, the number of calls of the session by then.
    ends: Vec<usize>,
    /// The calls to which the user agreed.
    pub(super) consents: Vec<RunConsent>,
}

/// Calls of a run to which the user agreed.
#[derive(Clone, Debug)]
pub(super) struct RunConsent {
    /// The index of the goal that was open.
    pub(super) goal: usize,
    pub(super) calls: Vec<Call>,
    /// The number of calls of the session by then.
    pub(super) at: usize,
}

impl<'a> Trial<'a> {
    /// Prepares a candidate for testing.
    ///
    /// # Errors
    /// Returns a reason if there is nothing to prove.
    pub fn new(context: WorldContext<'a>, grounded: &'a GroundedCandidate) -> Result<Self, Reason> {
        let Ok(prepared) = PreparedChecks::new(&grounded.checks, context.base) else {
            return Err(Reason::new(Code::NoChecks));
        };
        let logs: Vec<&[Arc<LogEntry>]> = (grounded.goals.iter())
            .map(|goal| grounded.entries.get(goal.calls.clone()).unwrap_or_default())
            .collect();
        let expected = changed_by_goal(&logs).into_iter().flatten().collect();
        Ok(Self {
            context,
            grounded,
            prepared,
            expected,
            last: grounded.last.digest(),
            memo: RefCell::default(),
            verdicts: Verdicts::default(),
            answers: FinalAnswers::new(grounded),
        })
    }

    /// Returns the compiled world.
    #[must_use]
    pub fn world(&self) -> &'a World {
        self.context.base.world()
    }

    /// Returns true if a rule of a told policy governs a reference call that succeeded. Earlier calls may
    /// serve that rule.
    pub(super) fn is_governed(&self, call: usize) -> bool {
        let entry = self.grounded.entries.get(call).filter(|entry| entry.reply.is_success());
        let api = entry.and_then(|entry| entry.api);
        api.is_some_and(|api| self.world().is_governed(api, &self.grounded.checks.policy))
    }

    /// Returns true if the client has left. A gate then ends, whatever it has found.
    pub(super) fn is_stopped(&self) -> bool {
        self.context.stop.is_set()
    }

    /// Returns a fresh session like the one in which the candidate was grounded.
    #[must_use]
    pub fn session(&self, seed: u64) -> Session {
        let options = SessionOptions {
            seed,
            clock: Some(self.grounded.clock),
            visible: Some(self.grounded.visible.clone()),
            search: Some(self.grounded.search),
            outages: self.grounded.candidate.outages.clone(),
        };
        Session::new(self.context.base.clone(), options)
    }

    /// Returns an empty run.
    #[must_use]
    pub fn start(&self) -> Run {
        self.start_on(self.grounded.seed)
    }

    /// Returns the seeds of other sessions that must pass: three where the world generates keys, else one.
    pub(super) fn other_seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let makes = self.expected.iter().any(|change| change.before.is_none());
        let seed = self.grounded.seed;
        [!seed, seed ^ 0x5bd1_e995, seed.wrapping_add(1)].into_iter().take(if makes { 3 } else { 1 })
    }

    /// Returns an empty run on another seed.
    pub(super) fn start_on(&self, seed: u64) -> Run {
        let mut run = Run {
            session: self.session(seed),
            replies: Vec::with_capacity(self.grounded.gold.len()),
            ends: Vec::with_capacity(self.grounded.goals.len()),
            consents: Vec::new(),
        };
        self.mark(&mut run);
        run
    }

    /// Records the goals that end at the current position of the run.
    fn mark(&self, run: &mut Run) {
        while self.grounded.goals.get(run.ends.len()).is_some_and(|goal| goal.calls.end <= run.replies.len())
        {
            run.ends.push(run.session.calls());
        }
    }

    /// Makes a call of a mutant or another right solution, and stores its reply in the next position.
    /// The replay that proves the reference solution does not use the memo.
    pub fn call(&self, run: &mut Run, call: &Call) {
        let entry = self.call_aside(run, call);
        run.replies.push(Some(entry));
        self.mark(run);
    }

    /// Leaves the next position empty.
    pub fn skip(&self, run: &mut Run) {
        run.replies.push(None);
        self.mark(run);
    }

    /// Stores a reply in the next position without a call.
    pub(super) fn keep(&self, run: &mut Run, entry: Arc<LogEntry>) {
        run.replies.push(Some(entry));
        self.mark(run);
    }

    /// Makes a call that takes no position. The user has agreed to it, where a rule of the policy may require
    /// that.
    pub fn call_aside(&self, run: &mut Run, call: &Call) -> Arc<LogEntry> {
        let api = self.world().api_named(&call.api).map(|id| self.world().api(id));
        if self.grounded.checks.confirms && api.is_some_and(|api| !api.behaviour.confirms.is_empty()) {
            run.consent(vec![call.clone()], run.session.calls());
        }
        run.session.call_again(call, &mut self.memo.borrow_mut())
    }

    /// Makes the reference calls, each changed by `change`; returns none where one cannot be bound.
    pub(super) fn rerun(&self, mut change: impl FnMut(usize, &mut Call)) -> Option<Run> {
        let mut run = self.start();
        for (index, gold) in self.grounded.gold.iter().enumerate() {
            let mut call = bind(gold, &run.replies, self.world())?;
            change(index, &mut call);
            self.call(&mut run, &call);
        }
        Some(run)
    }

    /// Makes the reference calls in another order; returns none where one cannot be bound.
    pub(super) fn run_in_order(&self, order: &[usize]) -> Option<Run> {
        let gold = &self.grounded.gold;
        let mut run = self.start();
        run.replies = vec![None; gold.len()];
        for (made, index) in order.iter().enumerate() {
            let call = bind(gold.get(*index)?, &run.replies, self.world())?;
            let entry = self.call_aside(&mut run, &call);
            *run.replies.get_mut(*index)? = Some(entry);
            while self.grounded.goals.get(run.ends.len()).is_some_and(|goal| goal.calls.end <= made + 1) {
                run.ends.push(run.session.calls());
            }
        }
        Some(run)
    }

    /// Returns the changes of each goal of a run, with new keys as numbers, as the candidate's checks hold
    /// them.
    pub(super) fn changes_of(&self, run: &Run) -> Vec<ChangeCheck> {
        let log: Vec<Arc<LogEntry>> = run.session.log().collect();
        let mut start = 0;
        let last = run.ends.len().saturating_sub(1);
        let goals = run.ends.iter().enumerate().map(|(goal, end)| {
            let end = if goal == last { log.len() } else { *end };
            let own = log.get(start..end).unwrap_or_default();
            start = end;
            own
        });
        change_checks(self.world(), &changed_by_goal(&goals.collect::<Vec<_>>()))
    }

    /// Returns the facts that an agent gives after a run: from the run's own replies, else the reference
    /// values.
    pub(super) fn answers_of_run(&self, run: &Run) -> Vec<FinishData> {
        self.answers.of_run(self.grounded, &self.world().zone, &run.replies)
    }

    /// Returns the right facts after any run: the reference values, and values that the run itself generated.
    pub(super) fn right_answers(&self, run: &Run) -> Vec<FinishData> {
        self.answers.right(self.grounded, &self.world().zone, &run.replies)
    }

    /// Returns true if a run passes with these final answers.
    #[must_use]
    pub(super) fn passes(&self, run: &Run, given: &[FinishData]) -> bool {
        self.attempt(run, given, |attempt| self.prepared.passes(attempt, &self.verdicts))
    }

    /// Returns true if the replies of a run show all evidence of the goals, by a thorough search.
    pub(super) fn tells_all(&self, run: &Run) -> bool {
        self.attempt(run, &self.right_answers(run), |attempt| {
            self.prepared.tells_all(attempt, &self.verdicts)
        })
    }

    /// Returns the grader's first error on a run.
    pub(super) fn describe_failure(&self, run: &Run, given: &[FinishData]) -> String {
        self.grade(run, given).errors.first().map(|error| error.message.clone()).unwrap_or_default()
    }

    fn grade(&self, run: &Run, given: &[FinishData]) -> Grade {
        self.attempt(run, given, |attempt| self.prepared.grade(attempt))
    }

    fn attempt<T>(&self, run: &Run, given: &[FinishData], judge: impl FnOnce(&Attempt<'_>) -> T) -> T {
        let log: Vec<Arc<LogEntry>> = run.session.log().collect();
        let ended: Vec<GoalEnd<'_>> = run
            .ends
            .iter()
            .zip(given)
            .enumerate()
            .map(|(number, (calls, given))| GoalEnd {
                outcome: given.outcome,
                reason: given.reason,
                about: given.about.as_deref(),
                facts: Some(&given.facts),
                // Calls that a mutant adds at the end belong to the last goal.
                calls: if number + 1 == run.ends.len() { log.len() } else { *calls },
                consents: (run.consents.iter())
                    .filter(|consent| {
                        consent.goal == number || (number + 1 == run.ends.len() && consent.goal > number)
                    })
                    .map(|consent| Consent { calls: &consent.calls, at: consent.at })
                    .collect(),
            })
            .collect();
        judge(&Attempt {
            base: self.context.base,
            initial: run.session.initial(),
            last: run.session.state(),
            log: &log,
            goals: &ended,
        })
    }
}

impl Run {
    /// Records the user's consent to calls, at a number of calls.
    fn consent(&mut self, calls: Vec<Call>, at: usize) {
        self.consents.push(RunConsent { goal: self.ends.len(), calls, at });
    }

    /// Ends a goal after a number of calls.
    pub(super) fn end_early(&mut self, goal: usize, calls: usize) {
        if let Some(end) = self.ends.get_mut(goal) {
            *end = calls;
        }
    }

    /// Ends all goals at the current position of the run.
    pub(super) fn close(&mut self, goals: usize) {
        self.ends.resize(goals, self.session.calls());
    }
}

/// Runs the gate `solvable`.
///
/// # Errors
/// Returns the difference of the replay, or the check that the reference solution fails.
pub(super) fn prove_reference(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    let grounded = trial.grounded;
    let mut run = trial.start();
    if run.session.digest() != grounded.initial.digest() {
        return Err(Reason::of_call(Code::ReplayDiffers, 0));
    }
    for (index, (gold, recorded)) in grounded.gold.iter().zip(&grounded.entries).enumerate() {
        for asked in grounded.consents.iter().filter(|asked| asked.start == index) {
            let calls = grounded.gold.get(asked.clone()).unwrap_or_default();
            run.consent(calls.iter().map(made).collect(), run.session.calls());
        }
        let entry = run.session.call(&made(gold));
        if entry.reply.status != recorded.reply.status || entry.reply.body != recorded.reply.body {
            return Err(Reason::of_call(Code::ReplayDiffers, index));
        }
        trial.keep(&mut run, entry);
    }
    if run.session.digest() != trial.last {
        return Err(Reason::of_call(Code::ReplayDiffers, grounded.gold.len()));
    }
    let given = trial.answers_of_run(&run);
    let grade = trial.grade(&run, &given);
    if !grade.success {
        let failed = failed_goal(&grade);
        let message = grade.errors.first().map(|error| error.message.clone()).unwrap_or_default();
        let reason = Reason { goal: failed, ..Reason::new(Code::ReferenceFails) };
        return Err(reason.with("message", message));
    }
    report.solvable = grounded.gold.len() as u32;
    Ok(())
}

fn failed_goal(grade: &Grade) -> Option<usize> {
    grade.goals.iter().position(|goal| [goal.outcome, goal.answer, goal.evidence].contains(&Verdict::Failed))
}

fn made(gold: &GoldCall) -> Call {
    Call { api: gold.api.clone(), arguments: gold.arguments.clone() }
}
