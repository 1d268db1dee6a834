//! Varies the questions for the consent that a policy requires: one early question for all calls of a goal,
//! or one for each call.

use diorama_seeds::task::places;

use super::super::report::GateReport;
use super::super::trial::Trial;
use super::accept;
use crate::gates::trial::RunConsent;
use crate::reason::{Reason, Way};

/// Runs the reference calls with these questions.
///
/// # Errors
/// Returns the variant that does not pass.
pub(super) fn run(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    let grounded = trial.grounded;
    if grounded.consents.is_empty() {
        return Ok(());
    }
    // A run asks for each call separately.
    let Some(split) = trial.rerun(|_, _| {}) else { return Ok(()) };
    accept(trial, report, Way::SplitConsent, &split)?;
    let mut joined = split.clone();
    joined.consents.clear();
    for (number, goal) in grounded.goals.iter().enumerate() {
        let asked: Vec<&RunConsent> =
            split.consents.iter().filter(|consent| consent.goal == number).collect();
        let Some(first) = asked.first() else { continue };
        let sources = goal.calls.clone().filter(|call| asked.iter().any(|consent| consent.at == *call));
        let sources =
            sources.filter_map(|call| grounded.gold.get(call)).flat_map(|gold| gold.sources.values());
        let known = sources.flat_map(places).map(|(call, _)| call as usize + 1).max().unwrap_or(0);
        let at = known.max(goal.calls.start);
        // A later call takes a value from the reply to an earlier one of them.
        if at > first.at {
            joined.consents.extend(asked.into_iter().cloned());
            continue;
        }
        let calls = asked.iter().flat_map(|consent| consent.calls.clone()).collect();
        joined.consents.push(RunConsent { goal: number, calls, at });
    }
    accept(trial, report, Way::JoinedConsent, &joined)
}
