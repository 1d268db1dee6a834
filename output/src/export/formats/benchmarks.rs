//! The shapes of four public datasets and benchmarks: xLAM, API-Bank, the Berkeley Function-Calling Leaderboard and
//! Reverse Chain.

use serde_json::{Map, Value as Json, json};

use super::{arguments, with_id};
use crate::export::conversation::{Call, Conversation, TOOL_SEARCHER, bare, parameters, tool_name};
use crate::export::literal;
use crate::export::options::{Searched, Shape};
use crate::export::searched;
use crate::row::{Dialogue, Role};

/// All that the user says is the query; the answers are all calls in order.
pub(super) fn xlam(shape: &Shape, conversation: &Conversation) -> Json {
    let query: Vec<&str> = conversation.said(Role::User).collect();
    let answers: Json = conversation
        .calls()
        .map(|call| json!({"name": call.name, "arguments": arguments(shape, call)}))
        .collect();
    let tools: Json = conversation
        .tools
        .iter()
        .map(|tool| {
            let parameters: Map<String, Json> = parameters(tool)
                .into_iter()
                .map(|(name, schema, required)| (name.to_owned(), xlam_parameter(schema, required)))
                .collect();
            json!({"name": tool_name(tool), "description": text(bare(tool), "description"), "parameters": parameters})
        })
        .collect();
    json!({"query": query.join("\n"), "tools": tools.to_string(), "answers": answers.to_string()})
}

/// `{description, type, default}`, the type as Python has it; what else the schema says stands in the description.
fn xlam_parameter(schema: &Json, required: bool) -> Json {
    let mut description = text(schema, "description").trim_end_matches('.').to_owned();
    if let Some(listed) = schema.get("enum").and_then(Json::as_array) {
        let listed: Vec<String> = listed
            .iter()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .collect();
        if !description.is_empty() {
            description.push_str(". ");
        }
        description.push_str(&format!("One of: {}", listed.join(", ")));
    }
    let kind = python_type(schema);
    let kind = if required { kind } else { format!("{kind}, optional") };
    let mut parameter = json!({"description": description, "type": kind});
    if let Some(default) = schema.get("default") {
        parameter["default"] = default.clone();
    }
    parameter
}

/// Turns of `User`, `AI` and `API`, the calls with their results.
pub(super) fn api_bank(conversation: &Conversation) -> Json {
    let mut turns: Vec<Json> = Vec::new();
    for turn in &conversation.turns {
        let said = turn.text().unwrap_or_default();
        match turn.role {
            Role::System | Role::Tool => {}
            Role::User => turns.push(json!({"role": "User", "text": said})),
            Role::Assistant => {
                if !said.is_empty() || turn.calls.is_empty() {
                    turns.push(json!({"role": "AI", "text": said}));
                }
                turns.extend(turn.calls.iter().map(|call| api_bank_call(conversation, call)));
            }
        }
    }
    let apis = conversation.tools.iter().map(|tool| {
        let inputs = parameters(tool).into_iter().map(|(name, schema, _)| {
            (name.to_owned(), json!({"type": python_type(schema), "description": text(schema, "description")}))
        });
        json!({
            "name": tool_name(tool),
            "description": text(bare(tool), "description"),
            "input_parameters": inputs.collect::<Map<_, _>>(),
            "output_parameters": outputs(conversation, tool_name(tool), |value| json!({"type": python_type_of(value), "description": ""})),
        })
    });
    json!({"apis": apis.collect::<Vec<_>>(), "dialogue": turns})
}

fn api_bank_call(conversation: &Conversation, call: &Call) -> Json {
    let reply = conversation.reply(call).unwrap_or_default();
    let reply: Json = serde_json::from_str(reply).unwrap_or_else(|_| Json::from(reply));
    // A refusal is a problem document (RFC 9457).
    let refused = reply.get("status").and_then(Json::as_u64).is_some_and(|status| status >= 400)
        && reply.get("title").is_some();
    let exception = refused.then(|| reply.get("detail").or_else(|| reply.get("title")).cloned());
    json!({
        "role": "API",
        "api_name": call.name,
        "param_dict": call.arguments,
        "result": {
            "api_name": call.name,
            "input": call.arguments,
            "output": if refused { Json::Null } else { reply },
            "exception": exception,
        },
    })
}

/// A list of messages and a list of calls for each turn of the user.
pub(super) fn bfcl(conversation: &Conversation) -> Json {
    let mut question: Vec<Vec<Json>> = Vec::new();
    let mut truth: Vec<Vec<String>> = Vec::new();
    let mut before: Vec<Json> = Vec::new();
    for turn in &conversation.turns {
        let message = || json!({"role": turn.role.as_str(), "content": turn.text().unwrap_or_default()});
        match turn.role {
            Role::System => before.push(message()),
            Role::User => {
                before.push(message());
                question.push(std::mem::take(&mut before));
                truth.push(Vec::new());
            }
            Role::Assistant => {
                if let Some(calls) = truth.last_mut() {
                    calls.extend(turn.calls.iter().map(literal::call));
                }
            }
            Role::Tool => {}
        }
    }
    let functions: Vec<Json> = conversation.tools.iter().map(|tool| bfcl_schema(bare(tool))).collect();
    json!({"question": question, "function": functions, "ground_truth": truth})
}

/// The leaderboard's types: `dict` for objects, `float` for numbers.
fn bfcl_schema(schema: &Json) -> Json {
    match schema {
        Json::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let value = match (name.as_str(), value.as_str()) {
                    ("type", Some("object")) => Json::from("dict"),
                    ("type", Some("number")) => Json::from("float"),
                    // Unless they are parameters of these names.
                    ("enum" | "default" | "required", _) if !value.is_object() => value.clone(),
                    _ => bfcl_schema(value),
                };
                (name.clone(), value)
            })
            .collect::<Map<_, _>>()
            .into(),
        Json::Array(items) => items.iter().map(bfcl_schema).collect(),
        other => other.clone(),
    }
}

/// A request with its nested label; none for a row that calls nothing.
pub(super) fn reverse_chain(row: &Dialogue, number: u64, mut conversation: Conversation) -> Option<String> {
    let label = row.gold_plan.as_deref().filter(|label| !label.is_empty())?;
    searched::render(&mut conversation, Searched::Deferred);
    let tools = conversation.tools.iter().filter(|tool| tool_name(tool) != TOOL_SEARCHER);
    let apis = tools.map(|tool| {
        let inputs = parameters(tool).into_iter().map(|(name, schema, _)| {
            (name.to_owned(), json!({"description": text(schema, "description"), "type": chain_type(schema)}))
        });
        let inputs: Map<String, Json> = inputs.collect();
        let outputs = outputs(
            &conversation,
            tool_name(tool),
            |value| json!({"description": "", "type": chain_type_of(value)}),
        );
        let names = |of: &Map<String, Json>| of.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let format = format!("{}({}) -> {}", tool_name(tool), names(&inputs), names(&outputs));
        json!({
            "name": tool_name(tool),
            "Description": text(bare(tool), "description"),
            "input_params": inputs,
            "output_params": outputs,
            "format": format,
        })
    });
    let apis: Vec<Json> = apis.collect();
    Some(with_id(row, json!({"APIs": apis, "Query": row.query, "Label": label, "Index": number})))
}

/// Returns the top-level members of the replies of an API, as far as the row shows them. Error replies are skipped.
/// The result is empty if the row has no reply of the API.
fn outputs(conversation: &Conversation, api: &str, of: impl Fn(&Json) -> Json) -> Map<String, Json> {
    let mut found = Map::new();
    for call in conversation.calls().filter(|call| call.name == api && call.name != TOOL_SEARCHER) {
        let reply = conversation.reply(call).and_then(|reply| serde_json::from_str(reply).ok());
        if let Some(Json::Object(members)) = reply {
            let refused = members.contains_key("title") && members.contains_key("detail");
            for (name, value) in members.iter().filter(|_| !refused) {
                found.entry(name).or_insert_with(|| of(value));
            }
        }
    }
    found
}

fn text<'a>(json: &'a Json, name: &str) -> &'a str {
    json.get(name).and_then(Json::as_str).unwrap_or_default()
}

fn python_type(schema: &Json) -> String {
    match text(schema, "type") {
        "string" => "str".to_owned(),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "object" => "dict".to_owned(),
        "array" => {
            let item = schema.get("items").map(python_type).filter(|item| item != "Any");
            item.map_or_else(|| "list".to_owned(), |item| format!("List[{item}]"))
        }
        _ => "Any".to_owned(),
    }
}

fn python_type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "None",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_f64() => "float",
        Json::Number(_) => "int",
        Json::String(_) => "str",
        Json::Array(_) => "list",
        Json::Object(_) => "dict",
    }
}

fn chain_type(schema: &Json) -> &'static str {
    match text(schema, "type") {
        "string" => "String",
        "integer" => "Integer",
        "number" => "Float",
        "boolean" => "Boolean",
        "array" => "List",
        "object" => "Object",
        _ => "Any",
    }
}

fn chain_type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "Any",
        Json::Bool(_) => "Boolean",
        Json::Number(number) if number.is_f64() => "Float",
        Json::Number(_) => "Integer",
        Json::String(_) => "String",
        Json::Array(_) => "List",
        Json::Object(_) => "Object",
    }
}
