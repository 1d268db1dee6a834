//! Mutants of tasks with a policy: what it forbids is done, and what it allows is refused.
//!
//! A solver that holds a rule with another number or without its exception comes to the same verdict as the reference, which makes no
//! difference, or to the opposite one, which is one of these two.

use diorama_seeds::task::{Outcome, RefusalClass};

use super::super::report::GateReport;
use super::super::trial::{Run, Trial};
use super::bind_what_is_there;
use crate::reason::{Code, Mutation, Reason};

/// Runs the mutants.
///
/// # Errors
/// That one of them passes.
pub(super) fn run(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    for (number, goal) in trial.grounded.goals.iter().enumerate() {
        if let Some(declined) = &goal.declined {
            let mut run = replay(trial, goal.calls.end, |_| false);
            trial.call_aside(&mut run, &declined.call);
            run.end_early(number, run.session.calls());
            for index in goal.calls.end..trial.grounded.gold.len() {
                call(trial, &mut run, index);
            }
            for outcome in [Outcome::Refused, Outcome::Done] {
                judge(trial, report, (number, Mutation::DoAnyway), &run, outcome)?;
            }
        }
        if goal.outcome == Outcome::Done && goal.calls.clone().any(|call| trial.is_governed(call)) {
            let run = replay(trial, trial.grounded.gold.len(), |call| {
                goal.calls.contains(&call) && trial.is_governed(call)
            });
            judge(trial, report, (number, Mutation::RefuseAnyway), &run, Outcome::Refused)?;
        }
    }
    Ok(())
}

/// The reference calls before one of them, some of which are left out.
fn replay(trial: &Trial<'_>, end: usize, left_out: impl Fn(usize) -> bool) -> Run {
    let mut run = trial.start();
    for index in 0..end {
        if left_out(index) {
            trial.skip(&mut run);
        } else {
            call(trial, &mut run, index);
        }
    }
    run
}

fn call(trial: &Trial<'_>, run: &mut Run, index: usize) {
    if let Some(gold) = trial.grounded.gold.get(index) {
        let call = bind_what_is_there(gold, &run.replies, trial.world());
        trial.call(run, &call);
    }
}

fn judge(
    trial: &Trial<'_>,
    report: &mut GateReport,
    (goal, mutant): (usize, Mutation),
    run: &Run,
    outcome: Outcome,
) -> Result<(), Reason> {
    let mut given = trial.right_answers(run);
    if let Some(given) = given.get_mut(goal) {
        given.outcome = Some(outcome);
        given.reason = (outcome == Outcome::Refused).then_some(RefusalClass::Forbidden);
    }
    let tally = report.mutation.entry(mutant.name().to_owned()).or_default();
    if trial.passes(run, &given) {
        tally.survived += 1;
        return Err(Reason::of_goal(Code::MutantPasses, goal).with("mutant", mutant.name()));
    }
    tally.killed += 1;
    Ok(())
}
