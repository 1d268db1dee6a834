//! Owns the calls of steps: it joins those of one API into one message, where none needs another's reply.

use std::borrow::Cow;

use diorama_seeds::doc::ScenarioStepDoc;
use minijinja::Value as Shown;
use serde_json::Value as Json;

/// A call to make, with the item that it is made for and the item's name.
pub(crate) type StepCall<'a> = (&'a ScenarioStepDoc, Option<(String, Shown)>);

/// Returns the steps of a goal, joined where they call one API with the same parameters and need no earlier
/// reply.
pub(crate) fn join_steps(steps: &[ScenarioStepDoc]) -> Vec<Cow<'_, ScenarioStepDoc>> {
    let mut joined = Vec::new();
    let mut rest = steps;
    while let Some((first, after)) = rest.split_first() {
        let (more, after) = after.split_at(count_alike(first, after));
        let silent = |step: &ScenarioStepDoc| ScenarioStepDoc { say: Vec::new(), ..step.clone() };
        joined.push(match more {
            [] => Cow::Borrowed(first),
            _ => Cow::Owned(ScenarioStepDoc {
                say: first.say.clone(),
                together: std::iter::once(first).chain(more).map(silent).collect(),
                ..ScenarioStepDoc::default()
            }),
        });
        rest = after;
    }
    joined
}

/// Counts the steps after a first one that can be joined with it.
fn count_alike(first: &ScenarioStepDoc, after: &[ScenarioStepDoc]) -> usize {
    let is_plain = |step: &ScenarioStepDoc| {
        step.call.is_some()
            && step.each.is_none()
            && step.together.is_empty()
            && step.ask.is_none()
            && !step.fails
            && step.until.is_empty()
    };
    if !is_plain(first) {
        return 0;
    }
    let mut names: Vec<&str> = first.name.iter().map(String::as_str).collect();
    let alike = after.iter().take_while(|step| {
        let is_alike = is_plain(step)
            && step.call == first.call
            && step.say.iter().all(String::is_empty)
            && step.with.len() == first.with.len()
            && step.with.keys().all(|key| first.with.contains_key(key))
            && !step.with.values().any(|given| names.iter().any(|name| mentions(given, name)));
        names.extend(step.name.as_deref());
        is_alike
    });
    alike.count()
}

/// Returns true if an argument names a reply.
fn mentions(given: &Json, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    given.as_str().is_some_and(|given| given.split(|letter| !is_part(letter)).any(|word| word == name))
}
