//! Checks the questions for consent that a policy requires: their content, and the user's answer.

use std::collections::BTreeMap;
use std::ops::Range;

use diorama_answers::prose::Prose;
use diorama_engine::StatedValue;
use diorama_seeds::script::{Script, WantedCall};
use diorama_seeds::task::{ArgumentSource, Call, GoldCall};
use diorama_user::is_consent;
use serde_json::Value as Json;

use super::seen::VisiblePart;
use super::text::count_stated;
use crate::candidate::CandidateGoal;
use crate::grounded::GroundedGoal;
use crate::reason::{Code, Reason};

/// Checks a question for consent: it states the values that the rules require, and the user agrees. Reports
/// faults.
pub(super) fn check(
    goal: usize,
    proposed: &CandidateGoal,
    (asked, words): (Range<usize>, &str),
    seen: &VisiblePart<'_>,
    faults: &mut Vec<Reason>,
) {
    let question = [Prose::read(words, &seen.clock)];
    for entry in seen.entries.get(asked).unwrap_or_default() {
        let state = entry.needs.iter().flat_map(|needed| &needed.state);
        let is_unstated = |stated: &&StatedValue| {
            !stated.value.is_missing() && count_stated(&stated.value, &question, &seen.clock) == 0
        };
        faults.extend(state.filter(is_unstated).map(|stated| {
            Reason::of_goal(Code::ConsentUnstated, goal)
                .with("api", &*entry.call.api)
                .with("noun", &*stated.noun)
        }));
    }
    let turn = proposed.turns.iter().position(|turn| turn.confirms > 0 && turn.say.as_deref() == Some(words));
    let answer = turn.and_then(|at| proposed.turns.get(at + 1)?.user.as_deref()).unwrap_or_default();
    if !is_consent(answer) {
        faults.push(Reason::of_goal(Code::NoConsent, goal).with("words", answer));
    }
}

/// Adds the user's wanted calls to a script: the writes of a goal, tried or successful, and declined calls.
pub(super) fn add_wants(
    script: &mut Script,
    goals: &[GroundedGoal],
    gold: &[GoldCall],
    seen: &VisiblePart<'_>,
) {
    let world = seen.context.base.world();
    for (told, goal) in script.goals.iter_mut().zip(goals) {
        for index in goal.calls.clone() {
            let (Some(call), Some(entry)) = (gold.get(index), seen.entries.get(index)) else { continue };
            if !call.mistake && entry.api.is_some_and(|api| world.api(api).writes()) {
                told.wants.extend(want(&entry.call, &call.sources, index, seen));
            }
        }
        let declined = goal.declined.as_ref();
        told.wants.extend(
            declined.and_then(|declined| want(&declined.call, &BTreeMap::new(), goal.calls.end, seen)),
        );
    }
}

/// Returns a call as the user wants it: without a token, and with any value for a generated key.
fn want(
    call: &Call,
    sources: &BTreeMap<String, ArgumentSource>,
    index: usize,
    seen: &VisiblePart<'_>,
) -> Option<WantedCall> {
    let world = seen.context.base.world();
    let api = world.api(world.api_named(&call.api)?);
    let token = api.token.map(|id| &*api.parameters[id.index()].name);
    let before = seen.entries.get(..index).unwrap_or(&seen.entries);
    let changes = before.iter().flat_map(|entry| &entry.changes).filter(|change| change.before.is_none());
    let made: Vec<Json> = changes.map(|change| change.key.to_json(&world.zone)).collect();
    let mut want = WantedCall { api: call.api.clone(), ..WantedCall::default() };
    for (name, value) in call.arguments.iter().filter(|(name, _)| Some(&***name) != token) {
        if made.contains(value) {
            want.unknown.push(name.clone());
            continue;
        }
        want.arguments.insert(name.clone(), value.clone());
        if let Some(ArgumentSource::User { turn, start, end, .. }) = sources.get(name)
            && let Some(prose) = seen.turns.get(*turn as usize)
            && let Some(words) = prose.source().get(*start as usize..*end as usize)
        {
            want.words.insert(name.clone(), words.to_owned());
        }
    }
    Some(want)
}
