//! One row in each shape.

use serde_json::{Map, Value as Json, json};

use super::Format;
use crate::row::{Dialogue, Message, Role, RowFault, ToolCall};

/// A row as one line, without its end.
pub(super) fn line(format: Format, row: &Dialogue) -> Result<String, RowFault> {
    let value = match format {
        Format::Jsonl => {
            return serde_json::to_string(row).map_err(|error| fault(row, "id", &error.to_string()));
        }
        Format::Trl => trl(row)?,
        Format::Openai => openai(row)?,
        Format::Sharegpt => sharegpt(row)?,
    };
    Ok(value.to_string())
}

fn trl(row: &Dialogue) -> Result<Json, RowFault> {
    let mut messages = Vec::with_capacity(row.messages.len());
    for message in &row.messages {
        let mut members = Map::new();
        members.insert("role".into(), message.role.as_str().into());
        insert(&mut members, "content", message.content.as_deref());
        insert(&mut members, "reasoning_content", message.reasoning_content.as_deref());
        insert(&mut members, "name", message.name.as_deref());
        insert(&mut members, "tool_call_id", message.tool_call_id.as_deref());
        if !message.tool_calls.is_empty() {
            let calls = message.tool_calls.iter().map(|call| {
                let function = json!({"name": call.function.name, "arguments": arguments(row, call)?});
                Ok(json!({"id": call.id, "type": "function", "function": function}))
            });
            members.insert("tool_calls".into(), calls.collect::<Result<Vec<Json>, RowFault>>()?.into());
        }
        if message.role == Role::Assistant {
            members.insert("train".into(), message.train.into());
        }
        messages.push(Json::Object(members));
    }
    Ok(json!({"messages": messages, "tools": tools(row)?}))
}

fn openai(row: &Dialogue) -> Result<Json, RowFault> {
    let messages: Vec<Json> = row
        .messages
        .iter()
        .map(|message| {
            let mut members = Map::new();
            members.insert("role".into(), message.role.as_str().into());
            members.insert("content".into(), message.content.as_deref().into());
            insert(&mut members, "tool_call_id", message.tool_call_id.as_deref());
            if !message.tool_calls.is_empty() {
                members.insert("tool_calls".into(), message.tool_calls.iter().map(openai_call).collect());
            }
            if message.role == Role::Assistant && !message.train {
                members.insert("weight".into(), 0.into());
            }
            Json::Object(members)
        })
        .collect();
    Ok(json!({"messages": messages, "tools": tools(row)?}))
}

fn openai_call(call: &ToolCall) -> Json {
    let function = json!({"name": call.function.name, "arguments": call.function.arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

fn sharegpt(row: &Dialogue) -> Result<Json, RowFault> {
    let text = |message: &Message| message.content.clone().unwrap_or_default();
    let mut system: Vec<String> = Vec::new();
    let mut turns: Vec<(&str, String)> = Vec::new();
    for message in &row.messages {
        match message.role {
            Role::System => system.push(text(message)),
            Role::User => turns.push(("human", text(message))),
            Role::Assistant if message.tool_calls.is_empty() => turns.push(("gpt", text(message))),
            Role::Assistant => turns.push(("function_call", sharegpt_calls(row, message)?)),
            // Readers take speakers in turn, so replies to calls made together are one turn.
            Role::Tool => match turns.last_mut() {
                Some(("observation", earlier)) => {
                    earlier.push('\n');
                    earlier.push_str(&text(message));
                }
                _ => turns.push(("observation", text(message))),
            },
        }
    }
    let conversations: Vec<Json> =
        turns.into_iter().map(|(from, value)| json!({"from": from, "value": value})).collect();
    Ok(json!({"conversations": conversations, "system": system.join("\n\n"), "tools": sharegpt_tools(row)?}))
}

/// One call as an object, several as a list.
fn sharegpt_calls(row: &Dialogue, message: &Message) -> Result<String, RowFault> {
    let calls: Vec<Json> = message
        .tool_calls
        .iter()
        .map(|call| Ok(json!({"name": call.function.name, "arguments": arguments(row, call)?})))
        .collect::<Result<_, RowFault>>()?;
    Ok(match calls.as_slice() {
        [call] => call.to_string(),
        _ => Json::Array(calls).to_string(),
    })
}

/// The tools as text, each as the bare function.
fn sharegpt_tools(row: &Dialogue) -> Result<String, RowFault> {
    let tools = tools(row)?;
    let bare: Vec<&Json> =
        tools.as_array().into_iter().flatten().map(|tool| tool.get("function").unwrap_or(tool)).collect();
    serde_json::to_string(&bare).map_err(|error| fault(row, "tools", &error.to_string()))
}

fn tools(row: &Dialogue) -> Result<Json, RowFault> {
    let tools: Json = serde_json::from_str(&row.tools)
        .map_err(|error| fault(row, "tools", &format!("is not JSON: {error}")))?;
    if tools.is_array() { Ok(tools) } else { Err(fault(row, "tools", "is not a list")) }
}

fn arguments(row: &Dialogue, call: &ToolCall) -> Result<Json, RowFault> {
    let parsed: Result<Map<String, Json>, _> = serde_json::from_str(&call.function.arguments);
    parsed.map(Json::Object).map_err(|error| {
        fault(
            row,
            "messages",
            &format!("the arguments of `{}` are no JSON object: {error}", call.function.name),
        )
    })
}

fn insert(members: &mut Map<String, Json>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        members.insert(name.to_owned(), value.into());
    }
}

fn fault(row: &Dialogue, column: &'static str, what: &str) -> RowFault {
    RowFault { row: row.id.clone(), column, what: what.to_owned() }
}
