//! ShareGPT formats: conversations of `{from, value}`.

use serde_json::{Value as Json, json};

use super::arguments;
use crate::export::conversation::{Conversation, Turn, unwrap_function};
use crate::export::options::Shape;
use crate::row::Role;

/// Returns each message as a turn. Text beside a call becomes a turn before it, and each reply is a turn.
pub(super) fn plain(shape: &Shape, conversation: &Conversation) -> Json {
    let mut turns: Vec<Json> = Vec::new();
    let mut push = |from: &str, value: &str| turns.push(json!({"from": from, "value": value}));
    for turn in &conversation.turns {
        let text = turn.text();
        match turn.role {
            Role::System => push("system", text.unwrap_or_default()),
            Role::User => push("human", text.unwrap_or_default()),
            Role::Tool => push("observation", text.unwrap_or_default()),
            Role::Assistant if turn.calls.is_empty() => push("gpt", text.unwrap_or_default()),
            Role::Assistant => {
                if let Some(text) = text {
                    push("gpt", text);
                }
                push("function_call", &calls(shape, turn));
            }
        }
    }
    json!({"conversations": turns, "tools": tools(conversation)})
}

/// Returns the turns in the form that LLaMA-Factory reads. The system message is separate. `human` or
/// `observation` alternates with `gpt` or `function_call`. Replies to calls made together are lines of one
/// observation. Text beside a call comes first, and the call is inside `<tool_call>` and `</tool_call>`.
pub(super) fn alternating(shape: &Shape, conversation: &Conversation) -> Json {
    let mut turns: Vec<(&str, String)> = Vec::new();
    for turn in &conversation.turns {
        let text = turn.text().unwrap_or_default().to_owned();
        let (from, value) = match turn.role {
            Role::System => continue,
            Role::User => ("human", text),
            Role::Tool => ("observation", text),
            Role::Assistant if turn.calls.is_empty() => ("gpt", text),
            Role::Assistant if text.is_empty() => ("function_call", calls(shape, turn)),
            Role::Assistant => {
                ("function_call", format!("{text}<tool_call>{}</tool_call>", calls(shape, turn)))
            }
        };
        match turns.last_mut() {
            Some((last, earlier)) if *last == from && from != "function_call" => {
                earlier.push('\n');
                earlier.push_str(&value);
            }
            _ => turns.push((from, value)),
        }
    }
    let turns: Vec<Json> =
        turns.into_iter().map(|(from, value)| json!({"from": from, "value": value})).collect();
    let system: Vec<&str> = conversation.texts(Role::System).collect();
    json!({"conversations": turns, "system": system.join("\n\n"), "tools": tools(conversation)})
}

/// Returns one call as an object, several as a list.
fn calls(shape: &Shape, turn: &Turn) -> String {
    let calls: Vec<Json> = turn
        .calls
        .iter()
        .map(|call| json!({"name": call.name, "arguments": arguments(shape, call)}))
        .collect();
    match calls.as_slice() {
        [call] => call.to_string(),
        _ => Json::Array(calls).to_string(),
    }
}

/// Returns the tools as text, without wrappers.
fn tools(conversation: &Conversation) -> String {
    conversation.tools.iter().map(unwrap_function).cloned().collect::<Json>().to_string()
}
