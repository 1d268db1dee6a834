//! Attacks on the rules of an episode: an end that is not final, a failure that is excused, a refusal that looks at
//! nothing. They know the reference solution: an adversary may be better than any agent.

use diorama_baselines::environment::{Environment, EnvironmentError, Finish};
use diorama_engine::extremes;
use diorama_proof::survey::reads;
use diorama_seeds::task::RefusalClass;

use super::oracle::{Facts, play_reference, replay};
use super::{MAX_GOALS, REFUSAL, finish};
use crate::evaluation::judge::Privileged;

/// Extreme values that an argument is called with.
const MAX_EXTREMES: usize = 4;
/// Characters of a long text, and items of a long list.
const LONG: usize = 500;
/// How often a read is repeated until a fault strikes.
const MAX_REPEATS: usize = 8;

/// Ends each goal as the reference does, and makes all of its writes after the last end. A task without writes is left alone:
/// there, nothing is late.
pub(super) async fn write_late(
    privileged: Privileged<'_>,
    environment: &mut dyn Environment,
) -> Result<(), EnvironmentError> {
    if play_reference(privileged).iter().all(|entry| entry.changes.is_empty()) {
        return Ok(());
    }
    for call in replay(privileged, environment, Facts::AsChecked, true).await? {
        // Whatever the answer is: the grade says whether it counted.
        if environment.call(&call).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Makes the reference calls with extreme arguments, and repeats its reads until a fault strikes.
pub(super) async fn provoke_faults(privileged: Privileged<'_>, environment: &mut dyn Environment) {
    let world = privileged.world.base.world();
    let played = play_reference(privileged);
    for entry in &played {
        let parameters = entry.api.map_or(&[][..], |api| &world.api(api).parameters);
        for parameter in parameters {
            let values = extremes(&parameter.schema, LONG);
            // The last are the farthest.
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

/// Refuses each goal at once, for one reason after the other, about what the reference refuses.
pub(super) async fn refuse_first(
    privileged: Privileged<'_>,
    environment: &mut dyn Environment,
) -> Result<(), EnvironmentError> {
    let answers = privileged.task.final_answers(privileged.world, &play_reference(privileged));
    // The reason of the first goal follows from the request, so that each is the first somewhere.
    let words: usize = environment.view().user_turns().map(str::len).sum();
    let mut reasons = RefusalClass::ALL.into_iter().cycle().skip(words % RefusalClass::ALL.len());
    for goal in 0..MAX_GOALS {
        let about = answers.get(goal).and_then(|answer| answer.about.clone());
        // An end that is not taken may be tried again.
        for reason in reasons.by_ref().take(RefusalClass::ALL.len()) {
            let finish = Finish { about: about.clone(), ..finish(Some(reason), REFUSAL.to_owned()) };
            match environment.finish(&finish).await {
                Ok(answer) if answer.over => return Ok(()),
                Ok(_) => break,
                Err(EnvironmentError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}
