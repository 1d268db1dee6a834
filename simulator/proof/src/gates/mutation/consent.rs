//! Mutates the consent that a policy requires: the user is not asked, or agrees to another call than the one
//! that follows.

use diorama_seeds::task::Call;

use super::super::report::GateReport;
use super::super::trial::{Run, RunConsent, Trial};
use super::other_values;
use crate::reason::{Code, Mutation, Reason};

/// Runs the mutants, which make the calls of the reference.
///
/// # Errors
/// Returns a mutant that passes.
pub(super) fn run(trial: &Trial<'_>, report: &mut GateReport) -> Result<(), Reason> {
    let grounded = trial.grounded;
    let needing = |call: &usize| grounded.entries.get(*call).is_some_and(|entry| entry.needs.is_some());
    let calls: Vec<usize> = (0..grounded.gold.len()).filter(needing).collect();
    if calls.is_empty() || !grounded.checks.confirms {
        return Ok(());
    }
    let Some(reference) = trial.rerun(|_, _| {}) else { return Ok(()) };
    for call in calls {
        let mut dropped = reference.clone();
        dropped.consents.retain(|consent| consent.at != call);
        judge(trial, report, (call, Mutation::DropConsent), &dropped)?;
        let Some(gold) = grounded.gold.get(call) else { continue };
        let own_token = trial
            .world()
            .api_named(&gold.api)
            .map(|id| trial.world().api(id))
            .and_then(|api| Some(&*api.parameters[api.token?.index()].name));
        for name in gold.arguments.keys().filter(|name| Some(&***name) != own_token) {
            let Some(other) = other_values(trial, gold, name).into_iter().next() else { continue };
            let mut altered = reference.clone();
            let alter = |asked: &mut Call| _ = asked.arguments.insert(name.clone(), other.clone());
            let own = altered.consents.iter_mut().filter(|consent: &&mut RunConsent| consent.at == call);
            own.flat_map(|consent| &mut consent.calls).for_each(alter);
            judge(trial, report, (call, Mutation::AlterConsent), &altered)?;
        }
    }
    Ok(())
}

fn judge(
    trial: &Trial<'_>,
    report: &mut GateReport,
    (call, mutant): (usize, Mutation),
    run: &Run,
) -> Result<(), Reason> {
    let tally = report.mutation.entry(mutant.name().to_owned()).or_default();
    if trial.passes(run, &trial.answers_of_run(run)) {
        tally.survived += 1;
        return Err(Reason::of_call(Code::MutantPasses, call).with("mutant", mutant.name()));
    }
    tally.killed += 1;
    Ok(())
}
