//! The tools and the conversation as text, for agents that read and write text.

use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::ending::FINISH;
use diorama_seeds::task::Call;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::environment::{ConversationEntry, Environment, EnvironmentError, View};

/// An API as its tool describes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    /// Name of the tool.
    pub name: String,
    /// The tool's description.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Json,
}

/// The visible APIs, without the search and `finish`.
#[must_use]
pub fn documents(view: &View) -> Vec<Document> {
    let mut found: Vec<Document> = Vec::new();
    for function in view.tools.iter().filter_map(|tool| tool.get("function")) {
        let text = |name: &str| function.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let name = text("name");
        if name != FINISH && name != TOOL_SEARCHER && !found.iter().any(|known| known.name == name) {
            let parameters = function.get("parameters").cloned().unwrap_or_default();
            found.push(Document { name, description: text("description"), parameters });
        }
    }
    found
}

/// Searches for tools where they have to be searched for.
///
/// # Errors
/// When the environment refuses the search.
pub async fn retrieve(environment: &mut dyn Environment, keywords: &str) -> Result<(), EnvironmentError> {
    if !environment.view().has_tool(TOOL_SEARCHER) {
        return Ok(());
    }
    let arguments = Map::from_iter([("keywords".to_owned(), Json::from(keywords))]);
    environment.call(&Call { api: TOOL_SEARCHER.to_owned(), arguments }).await.map(|_| ())
}

/// The schema of `finish`, where answers are structured.
#[must_use]
pub fn finish_schema(view: &View) -> Option<&Json> {
    let tool = view.tools.iter().find(|tool| tool["function"]["name"] == FINISH)?;
    tool.get("function")?.get("parameters")
}

/// The messages of user and agent, a line each. The calls among the first `before` entries, which were made before the agent
/// came, stand as API requests with what each gave; later calls are the agent's own, which it is shown elsewhere.
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

/// A call in the form of API-Bank (figure 4): `[ApiName(key1='value1', key2=2)]`.
fn api_request(call: &Call) -> String {
    let argument = |(name, value): (&String, &Json)| match value {
        Json::String(text) => format!("{name}='{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        value => format!("{name}={value}"),
    };
    let arguments: Vec<String> = call.arguments.iter().map(argument).collect();
    format!("[{}({})]", call.api, arguments.join(", "))
}

impl Document {
    /// The parameters: name, schema, and true where it is required.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Json, bool)> {
        let required = self.parameters.get("required").and_then(Json::as_array);
        let must = move |name: &str| {
            required.is_some_and(|names| names.iter().any(|own| own.as_str() == Some(name)))
        };
        let properties = self.parameters.get("properties").and_then(Json::as_object);
        properties.into_iter().flatten().map(move |(name, schema)| (&**name, schema, must(name)))
    }

    /// The same API with one of its parameters alone.
    pub(crate) fn with_only(&self, name: &str, schema: &Json, must: bool) -> Self {
        let properties = Map::from_iter([(name.to_owned(), schema.clone())]);
        let required: Vec<&str> = must.then_some(name).into_iter().collect();
        let parameters =
            serde_json::json!({"type": "object", "properties": properties, "required": required});
        Self { parameters, ..self.clone() }
    }

    /// The parameters' names in the order of positional arguments: the required ones as the document lists them, then the
    /// others.
    pub(crate) fn positions(&self) -> Vec<&str> {
        let required = self.parameters.get("required").and_then(Json::as_array).into_iter().flatten();
        let mut names: Vec<&str> = required.filter_map(Json::as_str).collect();
        let others: Vec<&str> =
            self.parameters().map(|(name, ..)| name).filter(|name| !names.contains(name)).collect();
        names.extend(others);
        names
    }
}

/// A value as JSON of at most `most` characters and a remark: long lists lose whole items first.
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

/// Drops the second half of the longest list; returns false where every list has one item at most.
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

/// The value of an argument in a reply: the reply's only value, or the only property of the argument's name.
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
