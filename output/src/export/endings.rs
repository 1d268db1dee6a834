//! Structured endings: adds the tools `finish` and `confirm`. Their calls replace the messages that end goals
//! and those that ask for consent.

use std::collections::HashMap;

use diorama_seeds::agent_tools::{self, CONFIRM};
use diorama_seeds::answer::GoldAnswer;
use diorama_seeds::ending::{self, FINISH, Finish};
use diorama_seeds::pointer::from_path;
use diorama_seeds::task::{Checks, Fact, Outcome};
use serde_json::{Map, Value as Json, json};

use super::conversation::{Call, Conversation, Turn, fault, tool_name};
use crate::row::{Dialogue, Role, RowFault};

/// Parses the checks of a row.
pub(super) fn checks(row: &Dialogue) -> Result<Checks, RowFault> {
    serde_json::from_str(&row.checks)
        .map_err(|error| fault(row, "checks", format!("does not hold checks: {error}")))
}

/// Adds the tools that the server would offer: `confirm` if the task has it, and the `finish` tool of the
/// first goal. An API of the world with that name takes precedence.
pub(super) fn offer(conversation: &mut Conversation, checks: &Checks) {
    if checks.confirms {
        add(conversation, agent_tools::confirm());
    }
    add(conversation, ending::tool(checks, 0));
}

/// Adds a tool and returns true, unless the world has an API of its name.
fn add(conversation: &mut Conversation, tool: Json) -> bool {
    let own = conversation.tools.iter().any(|known| tool_name(known) == tool_name(&tool));
    if !own {
        conversation.tools.push(tool);
    }
    !own
}

/// Returns the `finish` tool of a whole dialogue. It names the first goal's facts and accepts those of every
/// goal. The replies to `finish` name the facts of later goals, because the user has not asked for them at
/// the start.
fn dialogue_tool(checks: &Checks) -> Json {
    const FACTS: &str = "/function/parameters/properties/facts";
    let mut tool = ending::tool(checks, 0);
    let later: Vec<Json> = (1..checks.goals.len()).map(|goal| ending::tool(checks, goal)).collect();
    if later.is_empty() {
        return tool;
    }
    let Some(Json::Object(facts)) = tool.pointer_mut(FACTS) else { return tool };
    facts.remove("additionalProperties");
    if let Some(Json::String(description)) = facts.get_mut("description") {
        description.push_str(" The reply names those of the next request.");
    }
    let Some(Json::Object(first)) = facts.get_mut("properties") else { return tool };
    for (name, schema) in first {
        let mut kinds = vec![kind(schema)];
        for other in later.iter().filter_map(|tool| tool.pointer(FACTS)?.get("properties")?.get(name)) {
            let other = kind(other);
            if !kinds.contains(&other) {
                kinds.push(other);
            }
        }
        // A later goal asks for a fact of another type under the same name.
        if kinds.len() > 1 {
            *schema = json!({"description": schema.get("description"), "anyOf": kinds});
        }
    }
    tool
}

/// Returns a schema without its description.
fn kind(schema: &Json) -> Json {
    let mut kind = schema.clone();
    if let Json::Object(members) = &mut kind {
        members.remove("description");
    }
    kind
}

/// Replaces the messages that end goals by calls of `finish`, and those that ask for consent by calls of
/// `confirm`. As on the server, the reply has the user's next message and the tool of the next goal. The last
/// ending has no reply.
pub(super) fn apply(row: &Dialogue, conversation: &mut Conversation) -> Result<(), RowFault> {
    let checks = checks(row)?;
    let confirms = checks.confirms && add(conversation, agent_tools::confirm());
    if !add(conversation, dialogue_tool(&checks)) {
        return Ok(());
    }
    let Marks { ends, questions } = marks(row, conversation)?;
    let questions = if confirms { questions } else { HashMap::new() };
    if ends.len() != checks.goals.len() {
        let what = format!("has {} ends, expected {}, one for each goal", ends.len(), checks.goals.len());
        return Err(fault(row, "episode", what));
    }
    let mut turns: Vec<Turn> = Vec::with_capacity(conversation.turns.len());
    let mut open: Option<(Call, usize)> = None;
    let mut asked: Option<Call> = None;
    for (index, turn) in conversation.turns.iter().enumerate() {
        if let Some(call) = asked.take() {
            turns.push(Turn::reply(&call, json!({"content": turn.content, "done": false}).to_string()));
            continue;
        }
        if let Some(count) = questions.get(&index) {
            let call = question(conversation, index, *count);
            turns.push(Turn { content: None, calls: vec![call.clone()], ..turn.clone() });
            asked = Some(call);
            continue;
        }
        if let Some((call, goal)) = open.take() {
            let mut reply =
                json!({"content": turn.content, "done": false, "finish": ending::tool(&checks, goal + 1)});
            if turn.role == Role::User {
                turns.push(Turn::reply(&call, reply.to_string()));
                continue;
            }
            // The user may open a goal without a message.
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

/// Returns a question for consent to the next `count` calls, as a call of `confirm`.
fn question(conversation: &Conversation, index: usize, count: usize) -> Call {
    let turn = &conversation.turns[index];
    let later = conversation.turns.iter().skip(index + 1).flat_map(|turn| &turn.calls);
    let calls: Vec<Json> =
        later.take(count).map(|call| json!({"api": call.name, "arguments": call.arguments})).collect();
    let arguments = Map::from_iter([
        ("calls".to_owned(), Json::Array(calls)),
        ("message".to_owned(), json!(turn.content.as_deref().unwrap_or_default())),
    ]);
    Call::new(format!("confirm_{index}"), CONFIRM.to_owned(), arguments)
}

/// The turns that end goals, and those that ask for consent, with the number of calls that they ask for.
struct Marks {
    ends: Vec<usize>,
    questions: HashMap<usize, usize>,
}

/// Finds the marks in a row's events. A row without events ends with its last message.
fn marks(row: &Dialogue, conversation: &Conversation) -> Result<Marks, RowFault> {
    let episode: Json = serde_json::from_str(&row.episode)
        .map_err(|error| fault(row, "episode", format!("is not JSON: {error}")))?;
    let said: Vec<usize> = (0..conversation.turns.len())
        .filter(|index| {
            conversation.turns[*index].role == Role::Assistant && conversation.turns[*index].content.is_some()
        })
        .collect();
    let Some(events) = episode.get("events").and_then(Json::as_array) else {
        let ends = said.last().copied().into_iter().collect();
        return Ok(Marks { ends, questions: HashMap::new() });
    };
    let mut last = None;
    let mut ends = Vec::new();
    let mut questions = HashMap::new();
    for event in events {
        if let Some(say) = event.get("say").and_then(Json::as_u64) {
            last = usize::try_from(say).ok();
        } else if let Some(count) = event.get("confirm").and_then(Json::as_u64) {
            let asked = last.take().and_then(|say| said.get(say));
            questions.extend(asked.copied().zip(usize::try_from(count).ok()));
        } else if event.get("end").is_some() {
            let Some(index) = last.take().and_then(|say| said.get(say)) else {
                return Err(fault(row, "episode", "ends a goal before anything is said".to_owned()));
            };
            ends.push(*index);
        }
    }
    Ok(Marks { ends, questions })
}

/// Returns the arguments of `finish` for a goal.
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

/// Returns the value that the world generated for a field of a new record, as a reply shows it. Claims give
/// the reply paths of their goal's facts, in order. Any goal's claim about the value suffices.
fn made(row: &Dialogue, conversation: &Conversation, checks: &Checks, new: u32, field: &str) -> Option<Json> {
    let answer: GoldAnswer = serde_json::from_str(&row.gold_answer).ok()?;
    let goals = checks.goals.iter().zip(&answer.claims);
    let aligned = goals.filter(|(goal, claims)| goal.answer.len() == claims.ends.facts.len());
    let mut facts = aligned.flat_map(|(goal, claims)| goal.answer.iter().zip(&claims.ends.facts));
    facts.find_map(|(check, claim)| {
        let is_made = |fact: &Fact| matches!(fact, Fact::Made { new: number, field: name } if *number == new && name == field);
        let at = ending::item_values(check).position(|item| is_made(item.fact))?;
        let call = conversation.calls().nth(claim.call)?;
        let reply: Json = serde_json::from_str(conversation.reply(call)?).ok()?;
        let (list, member) = claim.path.split_once("[*]").unwrap_or((&claim.path, ""));
        let place = reply.pointer(&from_path(list))?;
        let item = if member.is_empty() { place } else { place.get(at)?.pointer(&from_path(member))? };
        Some(item.clone())
    })
}
