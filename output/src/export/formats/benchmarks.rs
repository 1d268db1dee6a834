//! Owns the formats of two public datasets: xLAM and Reverse Chain.

use std::ops::Range;

use diorama_seeds::task::{ArgumentSource, GoldCall, NestedCall, nested_calls};
use serde_json::{Map, Value as Json, json};

use super::{ExportLines, arguments, with_id};
use crate::export::conversation::{
    Conversation, TOOL_SEARCHER, fault, parameters, tool_name, unwrap_function,
};
use crate::export::options::{SearchForm, Shape};
use crate::export::searched;
use crate::row::{Dialogue, Role, RowFault};

/// Returns an xLAM record. The query is everything that the user says, and the answers are all calls in
/// order.
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

/// Returns `{description, type, default}` with the Python type. The description gets the other parts of the
/// schema.
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

/// Writes an instance for each goal with a single plan. Returns no lines for a row without such a goal.
pub(super) fn reverse_chain(
    row: &Dialogue,
    number: u64,
    mut conversation: Conversation,
) -> Result<ExportLines, RowFault> {
    if row.gold_plan.as_deref().is_none_or(str::is_empty) {
        return Ok(ExportLines::default());
    }
    let gold: Vec<GoldCall> = serde_json::from_str(&row.gold_calls)
        .map_err(|error| fault(row, "gold_calls", format!("is no list of calls: {error}")))?;
    let said: Vec<String> = conversation.texts(Role::User).map(str::to_owned).collect();
    let goals = goals(row, said.len(), gold.len())?;
    searched::render(&mut conversation, SearchForm::Deferred);
    let count = goals.len();
    let instance = |(turns, calls): (Range<usize>, Range<usize>)| {
        let plan = only_plan(&gold, calls, turns.start)?;
        // A goal that the user opens without a message has no query.
        let query = said.get(turns).map(|turns| turns.join("\n")).filter(|query| !query.trim().is_empty())?;
        let apis: Vec<Json> = chain_apis(&conversation, &gold, &plan);
        let members = json!({"APIs": apis, "Query": query, "Label": plan.label, "Index": number});
        Some(with_id(row, members))
    };
    let lines: Vec<String> = goals.into_iter().filter_map(instance).collect();
    let goals_left_out = if lines.is_empty() { 0 } else { (count - lines.len()) as u64 };
    Ok(ExportLines { lines, goals_left_out })
}

/// The ranges of a goal: the user's turns, and the calls.
type GoalRanges = (Range<usize>, Range<usize>);

/// Returns the ranges of each goal. A row without events has one goal.
///
/// # Errors
/// Returns an error if the events have more turns of the user than the messages.
fn goals(row: &Dialogue, turns: usize, calls: usize) -> Result<Vec<GoalRanges>, RowFault> {
    let episode: Json = serde_json::from_str(&row.episode)
        .map_err(|error| fault(row, "episode", format!("is not JSON: {error}")))?;
    let Some(events) = episode.get("events").and_then(Json::as_array) else {
        return Ok(vec![(0..turns, 0..calls)]);
    };
    let (mut found, mut from, mut to) = (Vec::new(), (0, 0), (0, 0));
    for event in events {
        to.0 += usize::from(event.get("user").is_some());
        to.1 += usize::from(event.get("call").is_some());
        if event.get("end").is_some() {
            found.push((from.0..to.0, from.1..to.1));
            from = to;
        }
    }
    if to.0 > turns {
        let what = format!("has {} turns of the user, the messages have {turns}", to.0);
        return Err(fault(row, "episode", what));
    }
    Ok(found)
}

/// Returns the plan of a goal, if labels can express it. Returns none if there are several plans or none, or
/// if the label is abbreviated. Labels have no form for a list from several replies, nor for a value
/// calculated from a reply. A value from the system message, or from before the goal's first turn, is not
/// part of the query.
fn only_plan(gold: &[GoldCall], calls: Range<usize>, first_turn: usize) -> Option<NestedCall> {
    let mut plans = nested_calls(gold, calls, |call| call.api != TOOL_SEARCHER && !call.mistake);
    // A call that is repeated after an outage has the same plan.
    plans.dedup_by(|one, other| one.label == other.label);
    let [plan] = plans.as_slice() else { return None };
    let needed = || plan.calls.iter().filter_map(|index| gold.get(*index));
    let mut sources = needed().flat_map(|call| call.sources.values());
    (plan.is_whole && sources.all(|source| is_told(source, first_turn))).then(|| plan.clone())
}

/// Returns true if the label or the query of a goal shows the source of an argument.
fn is_told(source: &ArgumentSource, first_turn: usize) -> bool {
    match source {
        ArgumentSource::Replies { .. } | ArgumentSource::System { .. } => false,
        ArgumentSource::User { turn, .. } => *turn as usize >= first_turn,
        ArgumentSource::Dictated { turns, .. } => turns.iter().all(|turn| *turn as usize >= first_turn),
        ArgumentSource::Arithmetic { of, .. } => {
            of.iter().all(|one| !matches!(one, ArgumentSource::Reply { .. }) && is_told(one, first_turn))
        }
        _ => true,
    }
}

/// Returns the APIs in the benchmark's form, with the parameters that are required or that the plan gives.
fn chain_apis(conversation: &Conversation, gold: &[GoldCall], plan: &NestedCall) -> Vec<Json> {
    let calls = || plan.calls.iter().filter_map(|index| gold.get(*index));
    let tools = conversation.tools.iter().filter(|tool| tool_name(tool) != TOOL_SEARCHER);
    let api = |tool: &Json| {
        let api = tool_name(tool);
        let is_given = |name: &str| calls().any(|call| call.api == api && call.arguments.contains_key(name));
        let inputs = parameters(tool).into_iter().filter(|(name, _, required)| *required || is_given(name));
        let inputs: Map<String, Json> = inputs
            .map(|(name, schema, _)| {
                let described =
                    json!({"description": text(schema, "description"), "type": chain_type(schema)});
                (name.to_owned(), described)
            })
            .collect();
        let output = |value: &Json| json!({"description": "", "type": chain_type_of(value)});
        let outputs = outputs(conversation, api, output);
        let names = |of: &Map<String, Json>| of.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        json!({
            "name": api,
            "Description": text(unwrap_function(tool), "description"),
            "input_params": inputs,
            "output_params": outputs,
            "format": format!("{api}({}) -> {}", names(&inputs), names(&outputs)),
        })
    };
    tools.map(api).collect()
}

/// Returns the top-level members of an API's replies in the row. Error replies are skipped. The result is
/// empty if the row has no reply of the API.
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
