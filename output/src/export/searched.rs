//! Rows with searches for APIs, in three renderings.

use diorama_seeds::agent_tools::{CALL_API, CONFIRM, call_api};
use serde_json::{Map, Value as Json, json};

use super::conversation::{Call, Conversation, TOOL_SEARCHER, Turn, tool_name, wrap_function};
use super::options::SearchForm;

use diorama_seeds::ending::FINISH;

/// Renders a conversation with searches. Other conversations are unchanged.
pub(super) fn render(conversation: &mut Conversation, how: SearchForm) {
    if !conversation.is_searched() {
        return;
    }
    match how {
        SearchForm::Deferred => defer(conversation),
        SearchForm::Dispatch => {
            // `call_api` comes after `ToolSearcher` and before the tools that end a goal.
            conversation.tools.insert(1, call_api());
            conversation.turns.iter_mut().for_each(|turn| dispatch(turn, how));
        }
        SearchForm::Text => {}
    }
}

/// Renders one turn like its conversation: calls go through `call_api`.
pub(super) fn dispatch(turn: &mut Turn, how: SearchForm) {
    if how != SearchForm::Dispatch {
        return;
    }
    let direct = |name: &str| [TOOL_SEARCHER, FINISH, CONFIRM].contains(&name);
    for call in turn.calls.iter_mut().filter(|call| !direct(&call.name)) {
        let mut arguments = Map::new();
        arguments.insert("name".to_owned(), Json::String(std::mem::take(&mut call.name)));
        arguments.insert("arguments".to_owned(), Json::Object(std::mem::take(&mut call.arguments)));
        *call = Call::new(std::mem::take(&mut call.id), CALL_API.to_owned(), arguments);
    }
    if let Some(name) = turn.name.as_mut().filter(|name| !direct(name)) {
        CALL_API.clone_into(name);
    }
}

fn defer(conversation: &mut Conversation) {
    let Conversation { tools, visible, turns } = conversation;
    visible.clear();
    for turn in turns {
        visible.push(tools.len());
        let Some(shown) = read_shown_tools(turn) else { continue };
        let names: Vec<Json> = shown.iter().map(|tool| json!({"name": tool_name(tool)})).collect();
        for tool in shown {
            if !tools.iter().any(|known| tool_name(known) == tool_name(&tool)) {
                tools.push(wrap_function(tool));
            }
        }
        turn.content = Some(json!({ "tools": names }).to_string());
    }
}

/// Returns the functions in the reply to a search. Returns none for other messages and for failed searches.
pub(super) fn read_shown_tools(turn: &Turn) -> Option<Vec<Json>> {
    if turn.name.as_deref() != Some(TOOL_SEARCHER) {
        return None;
    }
    let mut reply: Map<String, Json> = serde_json::from_str(turn.content.as_deref()?).ok()?;
    match reply.remove("tools")? {
        Json::Array(tools) => Some(tools),
        _ => None,
    }
}
