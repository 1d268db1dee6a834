//! What agents that read and write text see of the tools and of the conversation.

use diorama_seeds::ending::FINISH;
use diorama_seeds::task::Call;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::environment::{Environment, EnvironmentError, Said, View};

/// What is known of an API.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Json,
}

/// The visible APIs, without the search and the tool that ends a goal.
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

/// Whether tools have to be searched for.
#[must_use]
pub fn searches(view: &View) -> bool {
    view.tools.iter().any(|tool| tool["function"]["name"] == TOOL_SEARCHER)
}

/// Searches for tools where they have to be searched for.
///
/// # Errors
/// When the environment does not do it.
pub async fn retrieve(environment: &mut dyn Environment, keywords: &str) -> Result<(), EnvironmentError> {
    if !searches(environment.view()) {
        return Ok(());
    }
    let arguments = Map::from_iter([("keywords".to_owned(), Json::from(keywords))]);
    environment.call(&Call { api: TOOL_SEARCHER.to_owned(), arguments }).await.map(|_| ())
}

/// The schema of the tool that ends the open goal, where there is one.
#[must_use]
pub fn finish_schema(view: &View) -> Option<&Json> {
    let tool = view.tools.iter().find(|tool| tool["function"]["name"] == FINISH)?;
    tool.get("function")?.get("parameters")
}

/// What user and agent have said, a line each.
#[must_use]
pub fn transcript(view: &View) -> String {
    let line = |said: &Said| match said {
        Said::User(words) => Some(format!("User: {words}")),
        Said::Agent(words) if !words.is_empty() => Some(format!("Assistant: {words}")),
        Said::Agent(_) | Said::Call(..) => None,
    };
    view.conversation.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

impl Document {
    /// Its parameters: name, schema, and whether it must be given.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Json, bool)> {
        let required = self.parameters.get("required").and_then(Json::as_array);
        let must = move |name: &str| {
            required.is_some_and(|names| names.iter().any(|own| own.as_str() == Some(name)))
        };
        let properties = self.parameters.get("properties").and_then(Json::as_object);
        properties.into_iter().flatten().map(move |(name, schema)| (&**name, schema, must(name)))
    }
}

impl Document {
    /// The same API with one of its parameters alone.
    #[must_use]
    pub fn with_only(&self, name: &str, schema: &Json, must: bool) -> Self {
        let properties = Map::from_iter([(name.to_owned(), schema.clone())]);
        let required: Vec<&str> = must.then_some(name).into_iter().collect();
        let parameters =
            serde_json::json!({"type": "object", "properties": properties, "required": required});
        Self { parameters, ..self.clone() }
    }

    /// The names of its parameters in the order in which arguments without names stand for them: those that must be given as
    /// the document lists them, then the others.
    #[must_use]
    pub fn places(&self) -> Vec<&str> {
        let required = self.parameters.get("required").and_then(Json::as_array).into_iter().flatten();
        let mut names: Vec<&str> = required.filter_map(Json::as_str).collect();
        let others: Vec<&str> =
            self.parameters().map(|(name, ..)| name).filter(|name| !names.contains(name)).collect();
        names.extend(others);
        names
    }
}

/// A value as text that is no longer than `most` characters: lists lose whole items, and say how many.
#[must_use]
pub fn shortened(value: &Json, most: usize) -> String {
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

/// Drops the second half of the longest list; whether there was one to drop from.
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
