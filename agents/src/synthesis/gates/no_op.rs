//! No-op fails: doing nothing, saying nothing, or only refusing does not pass; and a request whose right end is a
//! refusal has a twin that can be fulfilled.

use diorama_seeds::task::Outcome;
use diorama_simulator::session::{Session, SessionOptions};

use crate::synthesis::plan::call_of;
use crate::synthesis::tester::{GateReport, Trial};

const IDLE: [(&str, Option<Outcome>); 6] = [
    ("", None),
    ("", Some(Outcome::Done)),
    ("Done.", Some(Outcome::Done)),
    ("I'm sorry, but I can't help with that.", Some(Outcome::Refused)),
    ("I'm sorry, but I can't help with that.", None),
    ("Could you tell me more about what you need?", Some(Outcome::NeedInput)),
];

/// Runs the gate.
///
/// # Errors
/// Which way of doing nothing passed, or that the twin cannot be fulfilled.
pub fn run(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), &'static str> {
    let idle = trial.start();
    for (answer, outcome) in IDLE {
        if trial.passes(&idle, answer, outcome) {
            return Err("doing nothing passes");
        }
        report.no_op += 1;
    }
    // The right words without a single call.
    if trial.passes(&idle, &trial.solution.answer, Some(trial.draft.outcome)) {
        return Err("the answer alone passes");
    }
    report.no_op += 1;
    if trial.draft.refusal.is_some() {
        twin(trial)?;
        report.no_op += 1;
    }
    Ok(())
}

/// The twin is executed like any plan: its last call must succeed.
fn twin(trial: &Trial<'_>) -> Result<(), &'static str> {
    let Some(steps) = &trial.draft.twin else { return Err("a refusal without a twin") };
    let options = SessionOptions { seed: trial.solution.session_seed, ..SessionOptions::default() };
    let mut session = Session::new(trial.world.base.clone(), options);
    let world = trial.world.base.world();
    for step in steps {
        if !session.call(&call_of(world, step)).reply.is_success() {
            return Err("the twin is refused too");
        }
    }
    let last = steps.last().map(|step| step.api);
    let refused = trial.draft.steps.last().map(|step| step.api);
    if last != refused { Err("the twin is another request") } else { Ok(()) }
}
