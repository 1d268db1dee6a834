//! Text forms of the tools and the conversation, for agents that read and write text.

use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::ending::FINISH;
use diorama_seeds::task::Call;
use serde_json::{Map, Value as Json};

pub use crate::document::Document;
use crate::environment::{ConversationEntry, Environment, EnvironmentError, View};

/// Returns the visible APIs, without the tool search and `finish`.
#[must_use]
pub fn documents(view: &View) -> Vec<Document> {
    let mut found: Vec<Document> = Vec::new();
    for document in view.tools.iter().filter_map(|tool| tool.get("function")).map(document) {
        let is_api = document.name != FINISH && document.name != TOOL_SEARCHER;
        if is_api && !found.iter().any(|known| known.name == document.name) {
            found.push(document);
        }
    }
    found
}

/// Returns the tool search, if the view has it.
pub(crate) fn tool_searcher(view: &View) -> Option<Document> {
    let functions = view.tools.iter().filter_map(|tool| tool.get("function"));
    functions.map(document).find(|document| document.name == TOOL_SEARCHER)
}

fn document(function: &Json) -> Document {
    let text = |name: &str| function.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let parameters = function.get("parameters").cloned().unwrap_or_default();
    Document { name: text("name"), description: text("description"), parameters }
}

/// Searches for tools, if the environment has the tool search.
///
/// # Errors
/// Returns an error if the environment refuses the search.
pub async fn retrieve(environment: &mut dyn Environment, keywords: &str) -> Result<(), EnvironmentError> {
    if !environment.view().has_tool(TOOL_SEARCHER) {
        return Ok(());
    }
    let arguments = Map::from_iter([("keywords".to_owned(), Json::from(keywords))]);
    environment.call(&Call { api: TOOL_SEARCHER.to_owned(), arguments }).await.map(|_| ())
}

/// Returns the schema of `finish`, if answers are structured.
#[must_use]
pub fn finish_schema(view: &View) -> Option<&Json> {
    let tool = view.tools.iter().find(|tool| tool["function"]["name"] == FINISH)?;
    tool.get("function")?.get("parameters")
}

/// Returns the messages of user and agent, one line each. The first `before` entries precede the agent, so
/// their calls are written as API requests with results. Later calls are the agent's own, and other parts of
/// the prompt show them.
pub(crate) fn transcript(view: &View, before: usize) -> String {
    let line = |(at, said): (usize, &ConversationEntry)| match said {
        ConversationEntry::User(words) => Some(format!("User: {words}")),
        ConversationEntry::Agent(words) if !words.is_empty() => Some(format!("Assistant: {words}")),
        ConversationEntry::Call(call, reply) if at < before => {
            Some(format!("API-Request: {}\nObservation: {}", api_request(call), reply.body))
        }
        ConversationEntry::Agent(_) | ConversationEntry::Call(..) => None,
    };
    view.conversation.iter().enumerate().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// Formats a call as in API-Bank (figure 4): `[ApiName(key1='value1', key2=2)]`.
fn api_request(call: &Call) -> String {
    let argument = |(name, value): (&String, &Json)| match value {
        Json::String(text) => format!("{name}='{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        value => format!("{name}={value}"),
    };
    let arguments: Vec<String> = call.arguments.iter().map(argument).collect();
    format!("[{}({})]", call.api, arguments.join(", "))
}

/// Formats a value as JSON of at most `most` characters and a remark. Long lists lose whole items first.
pub(crate) fn shorten(value: &Json, most: usize) -> String {
    let text = value.to_string();
    if text.chars().count() <= most {
        return text;
    }
    let mut value = value.clone();
    loop {
        let dropped = drop_items(&mut value);
        let text = value.to_string();
        if text.chars().count() <= most {
            return format!("{text} (long lists are cut)");
        }
        if !dropped {
            let cut: String = text.chars().take(most).collect();
            return format!("{cut} (cut)");
        }
    }
}

/// Drops the second half of the longest list. Returns false if no list has more than one item.
fn drop_items(value: &mut Json) -> bool {
    fn longest(value: &Json) -> usize {
        match value {
            Json::Array(items) => items.iter().map(longest).max().unwrap_or(0).max(items.len()),
            Json::Object(members) => members.values().map(longest).max().unwrap_or(0),
            _ => 0,
        }
    }
    fn cut(value: &mut Json, length: usize) -> bool {
        match value {
            Json::Array(items) if items.len() == length => {
                items.truncate(length / 2);
                true
            }
            Json::Array(items) => items.iter_mut().any(|item| cut(item, length)),
            Json::Object(members) => members.values_mut().any(|member| cut(member, length)),
            _ => false,
        }
    }
    let length = longest(value);
    length > 1 && cut(value, length)
}

/// Returns the value of an argument in a reply: the reply's only value, or the only property with the
/// argument's name.
#[must_use]
pub(crate) fn only_value(body: &Json, name: &str) -> Option<Json> {
    if let Some(properties) = body.as_object()
        && let [value] = properties.values().collect::<Vec<_>>().as_slice()
        && !value.is_null()
        && !value.is_object()
        && !value.is_array()
    {
        return Some((*value).clone());
    }
    fn collect<'a>(value: &'a Json, name: &str, found: &mut Vec<&'a Json>) {
        match value {
            Json::Array(items) => items.iter().for_each(|item| collect(item, name, found)),
            Json::Object(properties) => {
                for (own, property) in properties {
                    if own == name && !property.is_array() && !property.is_object() {
                        found.push(property);
                    } else {
                        collect(property, name, found);
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(body, name, &mut found);
    match found.as_slice() {
        [value] if !value.is_null() => Some((*value).clone()),
        _ => None,
    }
}
