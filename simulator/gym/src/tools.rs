//! Owns the tools of episodes, parsed from OpenAI's function format.

use diorama_seeds::agent_tools;
use diorama_seeds::ending;
use diorama_seeds::task::Checks;
use diorama_sessions::function_parts;
use serde_json::{Map, Value as Json};

/// A tool: its name, its description, and the JSON Schema of its arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) parameters: Json,
}

impl Tool {
    /// Parses a tool from OpenAI's function format.
    pub(crate) fn of(schema: &Json) -> Option<Self> {
        let (name, description, parameters) = function_parts(schema)?;
        Some(Self { name, description, parameters: Json::Object(parameters) })
    }
}

/// Returns the tools that every task has: `call_api`, `ask_user` and `finish`. The `finish` tool of an
/// episode also names the facts that its goal asks for.
pub(crate) fn shared() -> Vec<Tool> {
    let finish = ending::tool(&Checks::default(), 0);
    [agent_tools::call_api(), agent_tools::ask_user(), finish].iter().filter_map(Tool::of).collect()
}

/// Removes null arguments if the tool's schema does not allow null. Some clients send null for every
/// parameter that was not given.
pub(crate) fn without_nulls(parameters: &Json, arguments: Map<String, Json>) -> Map<String, Json> {
    let properties = parameters.get("properties");
    let takes_null = |name: &str| {
        let declared = properties.and_then(|properties| properties.get(name)?.get("type"));
        match declared {
            Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
            Some(kind) => kind == "null",
            None => false,
        }
    };
    arguments.into_iter().filter(|(name, value)| !value.is_null() || takes_null(name)).collect()
}
