//! Owns attacks on the rules of an episode: late writes, provoked faults, and refusals without calls.
//! They use the reference solution, because an adversary may know more than any agent.

use diorama_baselines::environment::{Environment, EnvironmentError, Finish};
use diorama_engine::extremes;
use diorama_proof::survey::reads;
use diorama_seeds::task::RefusalClass;

use super::oracle::{Facts, play_reference, replay};
use super::{MAX_GOALS, REFUSAL, finish};
use crate::evaluation::judge::PrivilegedTask;

/// Maximum number of extreme values per argument.
const MAX_EXTREMES: usize = 4;
/// Length of a long text in characters, and of a long list in items.
const LONG: usize = 500;
/// Maximum number of repeats of a read until a fault occurs.
const MAX_REPEATS: usize = 8;

/// Ends each goal as the reference does, and makes all writes after the last end. It skips a task without
/// writes.
pub(super) async fn write_late(
    privileged: PrivilegedTask<'_>,
    environment: &mut dyn Environment,
) -> Result<(), EnvironmentError> {
    if play_reference(privileged).iter().all(|entry| entry.changes.is_empty()) {
        return Ok(());
    }
    for call in replay(privileged, environment, Facts::AsChecked, true).await? {
        // The reply does not matter, because the grade shows the effect.
        if environment.call(&call).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Makes the reference calls with extreme arguments, and repeats the reads until a fault occurs.
pub(super) async fn provoke_faults(privileged: PrivilegedTask<'_>, environment: &mut dyn Environment) {
    let world = privileged.world.base.world();
    let played = play_reference(privileged);
    for entry in &played {
        let parameters = entry.api.map_or(&[][..], |api| &world.api(api).parameters);
        for parameter in parameters {
            let values = extremes(&parameter.schema, LONG);
            // The last values are the most extreme ones.
            for value in values.into_iter().rev().take(MAX_EXTREMES) {
                let mut call = entry.call.clone();
                call.arguments.insert(parameter.name.to_string(), value);
                if environment.call(&call).await.is_err() {
                    return;
                }
            }
        }
    }
    for entry in played.iter().filter(|entry| entry.api.is_some_and(|api| reads(world.api(api)))) {
        for _ in 0..MAX_REPEATS {
            match environment.call(&entry.call).await {
                Ok(reply) if reply.status >= 429 => break,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}

/// Refuses each goal without calls, for one reason after the other. The subject is that of the
/// reference's refusal.
pub(super) async fn refuse_first(
    privileged: PrivilegedTask<'_>,
    environment: &mut dyn Environment,
) -> Result<(), EnvironmentError> {
    let answers = privileged.task.final_answers(privileged.world, &play_reference(privileged));
    // The request determines the first reason, so that each reason comes first in some task.
    let words: usize = environment.view().user_turns().map(str::len).sum();
    let mut reasons = RefusalClass::ALL.into_iter().cycle().skip(words % RefusalClass::ALL.len());
    for goal in 0..MAX_GOALS {
        let about = answers.get(goal).and_then(|answer| answer.about.clone());
        // A goal can be refused again if the environment rejects the end, or the user keeps asking.
        for reason in reasons.by_ref().take(RefusalClass::ALL.len()) {
            let finish = Finish { about: about.clone(), ..finish(Some(reason), REFUSAL.to_owned()) };
            match environment.finish(&finish).await {
                Ok(answer) if answer.over => return Ok(()),
                Ok(answer) if answer.keeps_open => {}
                Ok(_) => break,
                Err(EnvironmentError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}
