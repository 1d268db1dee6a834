//! Structured endings in rows: the tool `finish`, and calls of it in the place of the messages that end goals.

use diorama_seeds::answer::GoldAnswer;
use diorama_seeds::ending::{self, FINISH, Finish};
use diorama_seeds::task::{Checks, Outcome};
use serde_json::{Map, Value as Json, json};

use super::conversation::{Call, Conversation, Turn, fault, tool_name};
use crate::row::{Dialogue, Role, RowFault};

/// The checks of a row.
pub(super) fn checks(row: &Dialogue) -> Result<Checks, RowFault> {
    serde_json::from_str(&row.checks)
        .map_err(|error| fault(row, "checks", format!("does not hold checks: {error}")))
}

/// Adds the `finish` tool of the first goal. Those of later goals come with the replies to it, as the server has them. A
/// world's own API of that name goes before it.
pub(super) fn offer(conversation: &mut Conversation, checks: &Checks) -> bool {
    let own = conversation.tools.iter().any(|tool| tool_name(tool) == FINISH);
    if !own {
        conversation.tools.push(ending::tool(checks, 0));
    }
    !own
}

/// Puts calls of `finish` in the place of the messages that end goals. As the server answers, the reply holds what the
/// user says next, and the tool of the goal that this opens; the last ending is not replied to.
pub(super) fn apply(row: &Dialogue, conversation: &mut Conversation) -> Result<(), RowFault> {
    let checks = checks(row)?;
    if !offer(conversation, &checks) {
        return Ok(());
    }
    let ends = ends(row, conversation)?;
    if ends.len() != checks.goals.len() {
        let what = format!("has {} ends, expected {}, one for each goal", ends.len(), checks.goals.len());
        return Err(fault(row, "episode", what));
    }
    let mut turns: Vec<Turn> = Vec::with_capacity(conversation.turns.len());
    let mut open: Option<(Call, usize)> = None;
    for (index, turn) in conversation.turns.iter().enumerate() {
        if let Some((call, goal)) = open.take() {
            let mut reply =
                json!({"content": turn.content, "done": false, "finish": ending::tool(&checks, goal + 1)});
            if turn.role == Role::User {
                turns.push(Turn::reply(&call, reply.to_string()));
                continue;
            }
            // A goal that the user opens without a word.
            reply["content"] = Json::Null;
            turns.push(Turn::reply(&call, reply.to_string()));
        }
        let Some(goal) = ends.iter().position(|end| *end == index) else {
            turns.push(turn.clone());
            continue;
        };
        let end = finish(row, conversation, &checks, goal, turn)?;
        let call = Call::new(format!("finish_{goal}"), FINISH.to_owned(), end);
        let ending = Turn { content: None, calls: vec![call.clone()], ..turn.clone() };
        turns.push(ending);
        open = Some((call, goal));
    }
    conversation.turns = turns;
    Ok(())
}

/// The turns that end goals. A row without events ends with its last message.
fn ends(row: &Dialogue, conversation: &Conversation) -> Result<Vec<usize>, RowFault> {
    let episode: Json = serde_json::from_str(&row.episode)
        .map_err(|error| fault(row, "episode", format!("is not JSON: {error}")))?;
    let said: Vec<usize> = (0..conversation.turns.len())
        .filter(|index| {
            conversation.turns[*index].role == Role::Assistant && conversation.turns[*index].content.is_some()
        })
        .collect();
    let Some(events) = episode.get("events").and_then(Json::as_array) else {
        return Ok(said.last().copied().into_iter().collect());
    };
    let mut last = None;
    let mut found = Vec::new();
    for event in events {
        if let Some(say) = event.get("say").and_then(Json::as_u64) {
            last = usize::try_from(say).ok();
        } else if event.get("end").is_some() {
            let Some(index) = last.take().and_then(|say| said.get(say)) else {
                return Err(fault(row, "episode", "ends a goal before anything is said".to_owned()));
            };
            found.push(*index);
        }
    }
    Ok(found)
}

/// The arguments of `finish` for a goal.
fn finish(
    row: &Dialogue,
    conversation: &Conversation,
    checks: &Checks,
    number: usize,
    turn: &Turn,
) -> Result<Map<String, Json>, RowFault> {
    let Some(goal) = checks.goals.get(number) else { return Ok(Map::new()) };
    let made = |new: u32, field: &str| made(row, conversation, checks, new, field);
    let facts = ending::facts(goal, made)
        .ok_or_else(|| fault(row, "checks", "asks for a value that no reply of the row shows".to_owned()))?;
    let refused = goal.outcome == Outcome::Refused;
    let end = Finish {
        outcome: goal.outcome,
        reason: goal.refusal.first().copied(),
        about: refused.then(|| ending::subject(goal)).flatten(),
        facts,
        message: turn.content.clone().unwrap_or_default(),
    };
    match serde_json::to_value(end) {
        Ok(Json::Object(arguments)) => Ok(arguments),
        _ => Err(fault(row, "checks", "gives an ending that is no JSON object".to_owned())),
    }
}

/// Returns the value that the world generated for a field of a new record. The value is read from the position in a
/// reply that a claimed fact names. New records of one resource are created in the order in which they are
/// expected.
fn made(row: &Dialogue, conversation: &Conversation, checks: &Checks, new: u32, field: &str) -> Option<Json> {
    let (_, before) = checks.creation(new)?;
    let answer: GoldAnswer = serde_json::from_str(&row.gold_answer).ok()?;
    let mut taken: Vec<Json> = Vec::new();
    for fact in answer.claims.iter().flat_map(|goal| &goal.ends.facts) {
        let pointer = format!("/{}", fact.path.replace(['.', '['], "/").replace(']', ""));
        if pointer.rsplit('/').next() != Some(field) {
            continue;
        }
        let call = conversation.calls().nth(fact.call)?;
        let reply: Json = serde_json::from_str(conversation.reply(call)?).ok()?;
        let value = reply.pointer(&pointer)?.clone();
        if !taken.contains(&value) {
            taken.push(value);
        }
    }
    taken.into_iter().nth(before)
}
