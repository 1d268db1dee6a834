//! The user simulator: what a user answers to an assistant.
//!
//! A function of the script, of what was said and shown so far, and of the assistant's words. Generation, `eval` and
//! HTTP all use this one. It gives what was asked for and nothing more: a message that asks nothing brings nothing out.
//! It must not see checks, gold calls or the records.

mod asks;

use std::sync::Arc;

use diorama_seeds::ending::Answers;
use diorama_seeds::script::{Goal, Script, Sight, When};
use diorama_seeds::task::{Evidence, Outcome};
use diorama_seeds::value::Value;
use serde::{Deserialize, Serialize};

use self::asks::{Message, Question};
use diorama_engine::session::LogEntry;
use diorama_engine::{Base, Body, Origin};

/// How far a user has come in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The goal that is open.
    pub goal: u32,
    /// Which of its held-back details were said, by position.
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
pub struct Heard<'a> {
    /// The assistant's words.
    pub message: &'a str,
    /// The outcome it gave with them; read from the words when it gave none.
    pub outcome: Option<Outcome>,
    /// The form of final answers, which decides if words alone can end a goal.
    pub answers: Answers,
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

const GO_ON: &str = "Please go ahead.";
const YES: &str = "Yes, please.";
const UNKNOWN: &str = "I'm sorry, I can't say more about that.";

/// Returns the user's answer to an assistant's message.
#[must_use]
pub fn answer(script: &Script, progress: &Progress, heard: &Heard<'_>) -> Answer {
    let stay = |content: &str, progress: Progress| Answer {
        content: Some(content.to_owned()),
        progress,
        ended: None,
    };
    let Some(goal) = script.goals.get(progress.goal as usize).filter(|_| !progress.over) else {
        let progress = Progress { over: true, ..progress.clone() };
        return Answer { content: None, progress, ended: None };
    };
    // An outcome ends the goal, whatever the words are.
    if let Some(outcome) = heard.outcome.filter(|outcome| *outcome != Outcome::NeedInput) {
        return close(script, progress, heard, outcome);
    }
    let message = Message::read(heard.message);
    let asked = message.asked(&goal.withheld);
    let line = own_line(goal, progress, &message, heard);
    // Details that were given before yield to the lines that the user still has to say.
    let is_new = asked.iter().any(|at| !progress.revealed.contains(&(*at as u32)));
    if is_new || (!asked.is_empty() && line.is_none()) {
        let say: Vec<&str> =
            asked.iter().filter_map(|at| goal.withheld.get(*at)).map(|held| &*held.say).collect();
        let mut next = progress.clone();
        next.revealed.extend(asked.iter().map(|at| *at as u32));
        next.revealed.sort_unstable();
        next.revealed.dedup();
        return stay(&joined(&say), next);
    }
    if let Some(line) = line {
        return stay(line, Progress { lines: progress.lines + 1, ..progress.clone() });
    }
    match message.question {
        Question::Consent => stay(YES, progress.clone()),
        Question::Open => stay(UNKNOWN, progress.clone()),
        Question::Courtesy | Question::None if heard.answers == Answers::Structured => {
            stay(GO_ON, progress.clone())
        }
        // A first message that neither asks, nor did anything, nor declines has yielded nothing yet.
        Question::Courtesy | Question::None => {
            match message.ends(worked(progress, heard) || progress.goal > 0) {
                Some(outcome) => close(script, progress, heard, outcome),
                None => stay(GO_ON, progress.clone()),
            }
        }
    }
}

/// The next line of the user's own, where it is time for one: after something was done or found, or where the
/// assistant asks what the line may answer.
fn own_line<'a>(
    goal: &'a Goal,
    progress: &Progress,
    message: &Message,
    heard: &Heard<'_>,
) -> Option<&'a str> {
    let line = goal.lines.get(progress.lines as usize)?;
    let asks = !matches!(message.question, Question::None | Question::Courtesy);
    (worked(progress, heard) || asks).then_some(line)
}

/// Returns true if a call of the assistant has succeeded since the goal opened.
fn worked(progress: &Progress, heard: &Heard<'_>) -> bool {
    heard.log.iter().skip(progress.opened_at).any(|entry| entry.reply.is_success())
}

/// The goal has ended; the next one whose condition holds opens.
fn close(script: &Script, progress: &Progress, heard: &Heard<'_>, outcome: Outcome) -> Answer {
    let mut ended = progress.ended.clone();
    ended.push(outcome);
    let next = progress.goal as usize + 1;
    // A goal that does not open ends the conversation: those behind it follow from it.
    let opens = script.goals.get(next).filter(|goal| holds(goal.when.as_ref(), &ended, heard));
    let goal = progress.goal + u32::from(opens.is_some());
    let progress = Progress {
        goal,
        revealed: Vec::new(),
        lines: 0,
        opened_at: heard.log.len(),
        ended,
        over: opens.is_none(),
    };
    Answer { content: opens.map(|goal| goal.user.clone()), progress, ended: Some(outcome) }
}

fn holds(when: Option<&When>, ended: &[Outcome], heard: &Heard<'_>) -> bool {
    let Some(when) = when else { return true };
    when.ended.is_none_or(|end| ended.get(end.goal as usize) == Some(&end.outcome))
        && when.shown.as_ref().is_none_or(|sight| shows(sight, heard))
}

/// Returns true if a reply of the log shows the sight: a value, a refusal or an empty result.
fn shows(sight: &Sight, heard: &Heard<'_>) -> bool {
    let world = heard.base.world();
    let successes = || heard.log.iter().filter(|entry| entry.reply.is_success());
    let is_value =
        |value: &Value| sight.value.as_ref().is_none_or(|wanted| value.to_json(&world.zone) == *wanted);
    match &sight.place {
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
                && leaf.is_some_and(|leaf| match sight.value {
                    Some(_) => is_value(leaf),
                    None => leaf.to_text(&world.zone) == *value,
                })
        }),
        Evidence::Refused { api, status, .. } => {
            heard.log.iter().any(|entry| entry.call.api == *api && entry.reply.status == *status)
        }
        Evidence::Empty { api, .. } => successes().any(|entry| {
            let shows_record = |(_, origin): (&Value, &Origin)| matches!(origin, Origin::Field { .. });
            entry.call.api == *api && !entry.reply.body.values().any(shows_record)
        }),
        // The keys of new records are not known to a user.
        Evidence::New { .. } => false,
        Evidence::All { of } => {
            of.iter().all(|place| shows(&Sight { place: place.clone(), value: sight.value.clone() }, heard))
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
