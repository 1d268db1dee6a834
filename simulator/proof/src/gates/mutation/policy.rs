//! Mutates tasks with a policy: forbidden calls are made, and allowed ones are refused.
//!
//! A replaced article may give the opposite verdict, which is a mutant, too. A solver with a wrong number or
//! without an exception reaches one of the two verdicts, so further mutants are not needed.

use diorama_engine::apply;
use diorama_seeds::task::{Call, Outcome, RefusalClass};

use super::super::report::GateReport;
use super::super::trial::{Run, Trial};
use super::bind_what_is_there;
use crate::reason::{Code, Mutation, Reason};

/// Runs the mutants.
///
/// # Errors
/// Returns a mutant that passes.
pub(super) fn run(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    for (number, goal) in trial.grounded.goals.iter().enumerate() {
        if let Some(declined) = &goal.declined {
            let mut run = replay(trial, goal.calls.end, |_| false);
            let by_replaced = verdict_of_replaced(trial, &run, &declined.call);
            trial.call_aside(&mut run, &declined.call);
            run.end_early(number, run.session.calls());
            for index in goal.calls.end..trial.grounded.gold.len() {
                call(trial, &mut run, index);
            }
            report.traps += 1;
            for outcome in [Outcome::Refused, Outcome::Done] {
                judge(trial, report, (number, Mutation::DoAnyway), &run, outcome)?;
            }
            if by_replaced == Some(true) {
                judge(trial, report, (number, Mutation::Replaced), &run, Outcome::Done)?;
            }
        }
        if goal.outcome == Outcome::Done && goal.calls.clone().any(|call| trial.is_governed(call)) {
            let run = replay(trial, trial.grounded.gold.len(), |call| {
                goal.calls.contains(&call) && trial.is_governed(call)
            });
            judge(trial, report, (number, Mutation::RefuseAnyway), &run, Outcome::Refused)?;
            let is_forbidden = |call: usize| {
                let Some(gold) = trial.grounded.gold.get(call).filter(|_| trial.is_governed(call)) else {
                    return false;
                };
                let before = replay(trial, call, |_| false);
                let made = bind_what_is_there(gold, &before.replies, trial.world());
                verdict_of_replaced(trial, &before, &made) == Some(false)
            };
            if goal.calls.clone().any(is_forbidden) {
                judge(trial, report, (number, Mutation::Replaced), &run, Outcome::Refused)?;
            }
        }
    }
    Ok(())
}

/// Returns true if replaced articles allow a call after a run; none where no article was replaced.
fn verdict_of_replaced(trial: &Trial<'_>, run: &Run, call: &Call) -> Option<bool> {
    let shadow = trial.context.base.replaced_shadow()?;
    Some(apply(shadow, run.session.state(), call).reply.is_success())
}

/// Makes the reference calls up to a position, without some of them.
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
