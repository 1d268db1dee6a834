//! Gold passes: the reference calls, replayed on a fresh session, give the recorded replies and state, and the
//! checks pass.

use crate::synthesis::tester::{GateReport, Trial};
use diorama_seeds::task::Call;

/// Runs the gate.
///
/// # Errors
/// What differed.
pub fn run(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), &'static str> {
    let solution = trial.solution;
    let mut run = trial.start();
    if run.session.digest() != solution.initial.digest() {
        return Err("another initial state");
    }
    for (gold, recorded) in solution.gold.iter().zip(&solution.entries) {
        let entry = run.call(&Call { api: gold.api.clone(), arguments: gold.arguments.clone() });
        if entry.reply.status != recorded.reply.status || entry.reply.body != recorded.reply.body {
            return Err("another reply");
        }
    }
    if run.session.digest() != solution.last.digest() {
        return Err("another final state");
    }
    let grade = trial.grade(&run, &solution.answer, None);
    if !grade.success {
        return Err("the reference solution fails its checks");
    }
    // What was asked for must be told by the words alone too: the outcome was read from the answer above.
    if !trial.passes(&run, &solution.answer, Some(trial.draft.outcome)) {
        return Err("the reference outcome is not accepted");
    }
    report.gold_calls = solution.gold.len() as u32;
    Ok(())
}
