//! The user's answer to an assistant: a function of the script, of what was said and shown so far, and of the assistant's words.

use std::sync::Arc;

use diorama_seeds::script::{Goal, ReplyFact, Script, When};
use diorama_seeds::task::{Evidence, Outcome};
use diorama_seeds::value::Value;
use serde::{Deserialize, Serialize};

use super::message::Form;
use super::{asks, message, reply};
use diorama_engine::session::LogEntry;
use diorama_engine::{Base, Body, Origin};

/// How far a user has come in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The goal that is open.
    pub goal: u32,
    /// The withheld details that were told, by position.
    pub revealed: Vec<u32>,
    /// How many of its own lines were said.
    pub lines: u32,
    /// How many calls the episode had when the goal opened.
    pub opened_at: usize,
    /// How the goals before it ended.
    pub ended: Vec<Outcome>,
    /// True if the user has nothing more to say.
    pub over: bool,
}

/// A message of the assistant, with the state of the episode.
#[derive(Clone, Copy, Debug)]
pub struct AssistantTurn<'a> {
    /// The assistant's words.
    pub message: &'a str,
    /// The outcome of the goal that it ends with them; words alone end none.
    pub outcome: Option<Outcome>,
    /// The calls of the episode so far.
    pub log: &'a [Arc<LogEntry>],
    /// The world.
    pub base: &'a Base,
}

/// The user's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The words; none when the conversation is over.
    pub content: Option<String>,
    /// Where the user stands now.
    pub progress: Progress,
    /// How the goal that was open ended, where this ended it.
    pub ended: Option<Outcome>,
}

/// Returns the user's answer to an assistant's message.
#[must_use]
pub fn answer(script: &Script, progress: &Progress, turn: &AssistantTurn<'_>) -> Answer {
    let stay = |content: String, progress: Progress| Answer { content: Some(content), progress, ended: None };
    let Some(goal) = script.goals.get(progress.goal as usize).filter(|_| !progress.over) else {
        let progress = Progress { over: true, ..progress.clone() };
        return Answer { content: None, progress, ended: None };
    };
    // An outcome ends the goal, whatever the words are.
    if let Some(outcome) = turn.outcome {
        return close(script, progress, turn, outcome);
    }
    let said = said(script, goal, progress);
    let sentences = message::read(turn.message);
    let asked = asks::asked(&sentences, &goal.withheld, &progress.revealed, &said);
    let worked = worked(progress, turn);
    let line = goal.lines.get(progress.lines as usize).filter(|line| reply::suits(line, &sentences, worked));
    // Details that were told before yield to the lines that the user still has to say.
    let is_new = asked.iter().any(|at| !progress.revealed.contains(&(*at as u32)));
    if is_new || (!asked.is_empty() && line.is_none()) {
        let say: Vec<&str> =
            asked.iter().filter_map(|at| goal.withheld.get(*at)).map(|detail| &*detail.say).collect();
        let mut next = progress.clone();
        next.revealed.extend(asked.iter().map(|at| *at as u32));
        next.revealed.sort_unstable();
        next.revealed.dedup();
        return stay(joined(&say), next);
    }
    if let Some(line) = line {
        return stay(line.clone(), Progress { lines: progress.lines + 1, ..progress.clone() });
    }
    if let Some(words) = reply::to_question(&sentences, &said) {
        return stay(words, progress.clone());
    }
    let is_report = |form: Form| matches!(form, Form::Report | Form::Closing);
    let thanks = worked && sentences.iter().any(|sentence| is_report(sentence.form));
    stay((if thanks { reply::THANKS } else { reply::GO_ON }).to_owned(), progress.clone())
}

/// The user's messages so far that a question may be about: what opened the goals, the details told and the lines.
fn said<'a>(script: &'a Script, goal: &'a Goal, progress: &Progress) -> Vec<&'a str> {
    let openings = script.goals.iter().take(progress.goal as usize + 1).map(|goal| &*goal.user);
    let details = progress.revealed.iter().filter_map(|at| goal.withheld.get(*at as usize));
    let lines = goal.lines.iter().take(progress.lines as usize).map(|line| &**line);
    openings.chain(details.map(|detail| &*detail.say)).chain(lines).collect()
}

/// Returns true if a call of the assistant has succeeded since the goal opened.
fn worked(progress: &Progress, turn: &AssistantTurn<'_>) -> bool {
    turn.log.iter().skip(progress.opened_at).any(|entry| entry.reply.is_success())
}

/// The goal has ended; the next one whose condition holds opens.
fn close(script: &Script, progress: &Progress, turn: &AssistantTurn<'_>, outcome: Outcome) -> Answer {
    let mut ended = progress.ended.clone();
    ended.push(outcome);
    let next = progress.goal as usize + 1;
    // A goal that does not open ends the conversation: those behind it follow from it.
    let opens = script.goals.get(next).filter(|goal| holds(goal.when.as_ref(), &ended, turn));
    let goal = progress.goal + u32::from(opens.is_some());
    let progress = Progress {
        goal,
        revealed: Vec::new(),
        lines: 0,
        opened_at: turn.log.len(),
        ended,
        over: opens.is_none(),
    };
    Answer { content: opens.map(|goal| goal.user.clone()), progress, ended: Some(outcome) }
}

fn holds(when: Option<&When>, ended: &[Outcome], turn: &AssistantTurn<'_>) -> bool {
    let Some(when) = when else { return true };
    when.ended.is_none_or(|end| ended.get(end.goal as usize) == Some(&end.outcome))
        && when.shown.as_ref().is_none_or(|fact| shows(fact, turn))
}

/// Returns true if a reply of the log shows a fact: a value, a refusal or an empty result.
fn shows(fact: &ReplyFact, turn: &AssistantTurn<'_>) -> bool {
    let world = turn.base.world();
    let successes = || turn.log.iter().filter(|entry| entry.reply.is_success());
    let is_value =
        |value: &Value| fact.value.as_ref().is_none_or(|wanted| value.to_json(&world.zone) == *wanted);
    match &fact.place {
        Evidence::Leaf { resource, key, field, .. } => {
            let Some(resource) = world.resource_named(resource) else { return false };
            let Some(field) = world.resource(resource).field_named(field) else { return false };
            successes().flat_map(|entry| entry.reply.body.values()).any(|(value, origin)| {
                let Origin::Field { resource: of, key: whose, field: shown } = origin else { return false };
                (*of, *shown) == (resource, field) && whose.to_text(&world.zone) == *key && is_value(value)
            })
        }
        Evidence::Computed { api, path, value, .. } => successes().any(|entry| {
            let leaf = entry.reply.body.at(path).and_then(Body::value);
            entry.call.api == *api
                && leaf.is_some_and(|leaf| match fact.value {
                    Some(_) => is_value(leaf),
                    None => leaf.to_text(&world.zone) == *value,
                })
        }),
        Evidence::Refused { api, status, .. } => {
            turn.log.iter().any(|entry| entry.call.api == *api && entry.reply.status == *status)
        }
        Evidence::Empty { api, .. } => successes().any(|entry| {
            let shows_record = |(_, origin): (&Value, &Origin)| matches!(origin, Origin::Field { .. });
            entry.call.api == *api && !entry.reply.body.values().any(shows_record)
        }),
        // No script opens a goal by these.
        Evidence::New { .. } | Evidence::First { .. } | Evidence::Searched { .. } => false,
        Evidence::All { of } => {
            of.iter().all(|place| shows(&ReplyFact { place: place.clone(), value: fact.value.clone() }, turn))
        }
    }
}

/// Several answers as one: each a sentence of its own.
#[must_use]
pub fn joined(say: &[&str]) -> String {
    let mut text = String::new();
    for part in say {
        if !text.is_empty() {
            if !text.ends_with(['.', '!', '?', ',']) {
                text.push('.');
            }
            text.push(' ');
        }
        text.push_str(part);
    }
    text
}

#[cfg(test)]
mod tests;
