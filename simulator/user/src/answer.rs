//! Computes the user's answer from the script, the conversation so far, and the assistant's words.

use std::cell::LazyCell;

use diorama_answers::Clock;
use diorama_engine::{Body, Origin};
use diorama_seeds::script::{Goal, ReplyFact, Script, When};
use diorama_seeds::task::{Evidence, Outcome};
use diorama_seeds::value::Value;

use super::calls::WantedCalls;
use super::compare::{Comparison, Objection, compare};
use super::consent::is_consent;
use super::message::Sentence;
use super::progress::{Answer, AssistantTurn, Progress};
use super::reply::join_sentences;
use super::turn::{Act, Kind, Turn};
use super::wants::Wants;
use super::{asks, reply};

/// Returns the user's answer to an assistant's message.
#[must_use]
pub fn answer(script: &Script, progress: &Progress, turn: &AssistantTurn<'_>) -> Answer {
    let Some(goal) = script.goals.get(progress.goal as usize).filter(|_| !progress.over) else {
        let progress = Progress { over: true, ..progress.clone() };
        return Answer { content: None, progress, ended: None };
    };
    // The assistant ends the goal by an outcome, whatever its message says. Only a user who pleads keeps it open.
    if let Some(outcome) = turn.outcome {
        let plea = find_plea(goal, progress, turn).filter(|_| outcome == Outcome::Refused);
        return match plea {
            Some((plea, progress)) => Answer { content: Some(plea), progress, ended: None },
            None => close(script, progress, turn, outcome),
        };
    }
    let (content, progress) = answer_open_goal(script, goal, progress, turn);
    Answer { content: Some(content), progress, ended: None }
}

/// Returns the user's words while a goal is open, and their new progress.
fn answer_open_goal(
    script: &Script,
    goal: &Goal,
    progress: &Progress,
    turn: &AssistantTurn<'_>,
) -> (String, Progress) {
    let clock = Clock::at(turn.scene.clock, &turn.scene.base.world().zone);
    let wants = LazyCell::new(|| Wants::new(script, goal, progress, &turn.scene));
    let said = user_messages(script, goal, progress);
    let calls = LazyCell::new(|| WantedCalls::new(goal, &said, turn.scene.base, &clock));
    let mut message = Turn::read(turn.message, &clock);
    if !goal.wants.is_empty() {
        let asks_detail = |sentence: &Sentence, act: &Act| {
            let alone = Turn { sentences: vec![sentence.clone()], acts: vec![act.clone()] };
            !asks::find_asked_details(&alone, &goal.withheld, &progress.revealed, &said).is_empty()
        };
        message.find_offers(&calls, asks_detail);
    }
    let offers = match message.proposes() {
        true => compare(&message, goal, &wants, &calls, turn.scene.base),
        false => Comparison::default(),
    };
    let is_new = |at: &usize| !progress.revealed.contains(&(*at as u32));
    let mut asked = asks::find_asked_details(&message, &goal.withheld, &progress.revealed, &said);
    // An assistant that ends a message with an offer and repeats a told detail does not ask for it again.
    let agrees = offers.agrees && offers.objection.is_none();
    if agrees && message.acts.last().is_some_and(|act| act.kind == Kind::Offers) {
        asked.retain(|at| is_new(at) && !wants.is_stated(*at, &message));
    }
    let detail = |at: &usize| goal.withheld.get(*at).map(|detail| &*detail.say);
    let worked = has_call_succeeded(progress, turn);
    let line = goal
        .lines
        .get(progress.lines as usize)
        .filter(|line| reply::suits(line, &message, worked, offers.agrees));
    let denies = match &offers.objection {
        Some(Objection::Values(_)) => true,
        // The user may answer an unexpected offer with a line that says something new.
        Some(Objection::OtherAction) => line.is_none_or(|line| is_consent(line)),
        Some(Objection::Doubt) => line.is_some_and(|line| is_consent(line)),
        None => false,
    };
    if let Some(objection) = offers.objection.as_ref().filter(|_| denies) {
        let (denial, told) = reply::deny(objection, goal, &wants);
        let also: Vec<usize> = asked.iter().copied().filter(|at| is_new(at) && !told.contains(at)).collect();
        let say: Vec<&str> = std::iter::once(&*denial).chain(also.iter().filter_map(detail)).collect();
        return (join_sentences(&say), reveal(progress, told.iter().chain(&also)));
    }
    // The user says an open line before repeating a detail.
    let is_told = !asked.iter().any(is_new);
    if !is_told || (!asked.is_empty() && line.is_none()) {
        let said = other_answers(&message, (goal, progress), &said, (&wants, &calls));
        let mut say: Vec<&str> = said.iter().map(|text| &**text).collect();
        say.extend(asked.iter().filter_map(detail));
        let progress = reveal(progress, asked.iter());
        return if is_told {
            answer_needless(script, progress, join_sentences(&say))
        } else {
            (join_sentences(&say), progress)
        };
    }
    if let Some(line) = line {
        return (line.clone(), Progress { lines: progress.lines + 1, ..progress.clone() });
    }
    if let Some(pleaded) = find_plea(goal, progress, turn).filter(|_| refuses(&message)) {
        return pleaded;
    }
    let words = reply::reply(&message, goal, (&wants, &calls), &offers, worked);
    if message.has(Kind::Asks) && reply::tells_nothing(&words, script) {
        return answer_needless(script, progress.clone(), words);
    }
    (words, progress.clone())
}

/// Answers the questions of a message that ask for no withheld detail, beside one that does.
fn other_answers(
    message: &Turn,
    (goal, progress): (&Goal, &Progress),
    said: &[&str],
    (wants, calls): (&Wants, &WantedCalls),
) -> Vec<String> {
    let questions = message.questions();
    if questions.len() < 2 {
        return Vec::new();
    }
    let asks_other = |question: &&Turn| {
        asks::find_asked_details(question, &goal.withheld, &progress.revealed, said).is_empty()
    };
    questions
        .iter()
        .filter(asks_other)
        .flat_map(|question| reply::recall_answers(question, goal, wants, calls))
        .collect()
}

/// Returns the answer to a needless question. An impatient user leaves instead.
fn answer_needless(script: &Script, progress: Progress, words: String) -> (String, Progress) {
    let Some(patience) = script.patience else { return (words, progress) };
    let needless = progress.needless + 1;
    let over = needless >= patience;
    let words = if over { reply::FAREWELL.to_owned() } else { words };
    (words, Progress { needless, over, ..progress })
}

/// Returns the progress after the user has told some details.
fn reveal<'a>(progress: &Progress, told: impl Iterator<Item = &'a usize>) -> Progress {
    let mut next = progress.clone();
    next.revealed.extend(told.map(|at| *at as u32));
    next.revealed.sort_unstable();
    next.revealed.dedup();
    next
}

/// Returns the user's messages so far that a question may be about: openings, told details, lines and pleas.
fn user_messages<'a>(script: &'a Script, goal: &'a Goal, progress: &Progress) -> Vec<&'a str> {
    let openings = script.goals.iter().take(progress.goal as usize + 1).map(|goal| &*goal.user);
    let details = progress.revealed.iter().filter_map(|at| goal.withheld.get(*at as usize));
    let lines = goal.lines.iter().take(progress.lines as usize);
    let pleas = goal.pleas.iter().take(progress.pleas as usize);
    openings.chain(details.map(|detail| &*detail.say)).chain(lines.chain(pleas).map(|line| &**line)).collect()
}

/// Returns true if a call of the assistant has succeeded since the goal opened.
fn has_call_succeeded(progress: &Progress, turn: &AssistantTurn<'_>) -> bool {
    turn.scene.log.iter().skip(progress.opened_at).any(|entry| entry.reply.is_success())
}

/// Returns the next plea of a user whose goal has changed no record, and the progress after it.
fn find_plea(goal: &Goal, progress: &Progress, turn: &AssistantTurn<'_>) -> Option<(String, Progress)> {
    let plea = goal.pleas.get(progress.pleas as usize)?;
    let mut since = turn.scene.log.iter().skip(progress.opened_at);
    let next = Progress { pleas: progress.pleas + 1, ..progress.clone() };
    (!since.any(|entry| !entry.changes.is_empty())).then(|| (plea.clone(), next))
}

/// Returns true if a message refuses: it says something, and asks and offers nothing.
fn refuses(message: &Turn) -> bool {
    let asks = |(sentence, act): (&Sentence, &Act)| match act.kind {
        Kind::Offers => true,
        Kind::Asks | Kind::Confirms => sentence.is_marked,
        _ => false,
    };
    let declines = message.has(Kind::Declines);
    let reports = message.has(Kind::Reports) && !message.has(Kind::Announces);
    (declines || reports) && !message.parts().any(asks)
}

/// Ends the goal, and opens the next one if its condition holds.
fn close(script: &Script, progress: &Progress, turn: &AssistantTurn<'_>, outcome: Outcome) -> Answer {
    let mut ended = progress.ended.clone();
    ended.push(outcome);
    let next = progress.goal as usize + 1;
    // The user ends the conversation if the next goal does not open: later goals follow from it.
    let opens = script.goals.get(next).filter(|goal| holds(goal.when.as_ref(), &ended, turn));
    let goal = progress.goal + u32::from(opens.is_some());
    let progress = Progress {
        goal,
        revealed: Vec::new(),
        lines: 0,
        pleas: 0,
        needless: progress.needless,
        opened_at: turn.scene.log.len(),
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
    let world = turn.scene.base.world();
    let successes = || turn.scene.log.iter().filter(|entry| entry.reply.is_success());
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
            turn.scene.log.iter().any(|entry| entry.call.api == *api && entry.reply.status == *status)
        }
        Evidence::Empty { api, .. } => successes().any(|entry| {
            let shows_record = |(_, origin): (&Value, &Origin)| matches!(origin, Origin::Field { .. });
            entry.call.api == *api && !entry.reply.body.values().any(shows_record)
        }),
        // No script opens a goal by these kinds of evidence.
        Evidence::New { .. }
        | Evidence::First { .. }
        | Evidence::Searched { .. }
        | Evidence::Forbidden { .. } => false,
        Evidence::All { of } => {
            of.iter().all(|place| shows(&ReplyFact { place: place.clone(), value: fact.value.clone() }, turn))
        }
    }
}

#[cfg(test)]
mod tests;
