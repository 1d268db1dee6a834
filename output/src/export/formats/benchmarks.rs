//! The shapes of two public datasets: xLAM and Reverse Chain.

use serde_json::{Map, Value as Json, json};

use super::{arguments, with_id};
use crate::export::conversation::{Conversation, TOOL_SEARCHER, parameters, tool_name, unwrap_function};
use crate::export::options::{Searched, Shape};
use crate::export::searched;
use crate::row::{Dialogue, Role};

/// All that the user says is the query; the answers are all calls in order.
pub(super) fn xlam(shape: &Shape, conversation: &Conversation) -> Json {
    let query: Vec<&str> = conversation.texts(Role::User).collect();
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
            json!({"name": tool_name(tool), "description": text(unwrap_function(tool), "description"), "parameters": parameters})
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
            "Description": text(unwrap_function(tool), "description"),
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
