//! Messages in the forms of chat APIs: OpenAI's and TRL's formats.

use serde_json::{Map, Value as Json, json};

use super::arguments;
use crate::export::conversation::{Conversation, Turn};
use crate::export::damage::DamagedTurn;
use crate::export::options::{Arguments, Content, Shape};
use crate::export::searched;
use crate::row::Role;

pub(super) fn openai(shape: &Shape, conversation: &Conversation) -> Json {
    let messages: Vec<Json> = conversation
        .turns
        .iter()
        .map(|turn| {
            let mut members = head(shape, turn);
            insert(&mut members, "tool_call_id", turn.call_id.as_deref());
            calls(shape, turn, &mut members);
            if turn.role == Role::Assistant && !turn.train {
                members.insert("weight".into(), 0.into());
            }
            Json::Object(members)
        })
        .collect();
    json!({"messages": messages, "tools": conversation.tools})
}

pub(super) fn trl(shape: &Shape, conversation: &Conversation) -> Json {
    json!({"messages": trl_messages(shape, &conversation.turns), "tools": trl_tools(shape, &conversation.tools)})
}

/// Returns one example for each assistant message that is a training target. All have the row's id; `turn`
/// distinguishes them.
pub(super) fn prompt_completion(shape: &Shape, conversation: &Conversation) -> Vec<Json> {
    let turns = conversation.turns.iter().enumerate();
    let learnt = turns.filter(|(_, turn)| turn.role == Role::Assistant && turn.train);
    let examples = learnt.map(|(at, turn)| {
        json!({
            "turn": at,
            "prompt": trl_messages(shape, &conversation.turns[..at]),
            "completion": trl_messages(shape, std::slice::from_ref(turn)),
            "tools": trl_tools(shape, conversation.tools_at(at)),
        })
    });
    examples.collect()
}

pub(super) fn preference(shape: &Shape, conversation: &Conversation, damaged: DamagedTurn) -> Json {
    let DamagedTurn { at, turn: mut rejected, kind } = damaged;
    // The rejected message has no reasoning, so the chosen one is written without it, too.
    let chosen = Turn { reasoning: None, ..conversation.turns[at].clone() };
    if conversation.is_searched() {
        searched::dispatch(&mut rejected, shape.searched);
    }
    json!({
        "turn": at,
        "damage": kind,
        "prompt": trl_messages(shape, &conversation.turns[..at]),
        "chosen": trl_messages(shape, &[chosen]),
        "rejected": trl_messages(shape, &[rejected]),
        "tools": trl_tools(shape, conversation.tools_at(at)),
    })
}

pub(super) fn trl_messages(shape: &Shape, turns: &[Turn]) -> Vec<Json> {
    turns.iter().map(|turn| Json::Object(trl_message(shape, turn))).collect()
}

fn trl_message(shape: &Shape, turn: &Turn) -> Map<String, Json> {
    let mut members = head(shape, turn);
    insert(&mut members, "reasoning_content", turn.reasoning.as_deref());
    insert(&mut members, "name", turn.name.as_deref());
    insert(&mut members, "tool_call_id", turn.call_id.as_deref());
    calls(shape, turn, &mut members);
    members
}

/// Returns the tools for TRL. If arguments are strings, the schemas are a string, too: Arrow would merge
/// objects of different rows.
fn trl_tools(shape: &Shape, tools: &[Json]) -> Json {
    match shape.arguments {
        Arguments::Object => Json::Array(tools.to_vec()),
        Arguments::String => Json::String(Json::Array(tools.to_vec()).to_string()),
    }
}

/// Returns a message with role and content only.
fn head(shape: &Shape, turn: &Turn) -> Map<String, Json> {
    let mut members = Map::new();
    members.insert("role".into(), turn.role.as_str().into());
    let content = match (&turn.content, shape.content) {
        (Some(text), _) if turn.calls.is_empty() || !text.is_empty() => Some(Json::from(text.as_str())),
        (_, Content::Empty) => Some(Json::from("")),
        (_, Content::Null) => Some(Json::Null),
        (_, Content::Absent) => None,
    };
    if let Some(content) = content {
        members.insert("content".into(), content);
    }
    members
}

fn calls(shape: &Shape, turn: &Turn, members: &mut Map<String, Json>) {
    if turn.calls.is_empty() {
        return;
    }
    let calls = turn.calls.iter().map(|call| {
        let function = json!({"name": call.name, "arguments": arguments(shape, call)});
        json!({"id": call.id, "type": "function", "function": function})
    });
    members.insert("tool_calls".into(), calls.collect());
}

fn insert(members: &mut Map<String, Json>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        members.insert(name.to_owned(), value.into());
    }
}
