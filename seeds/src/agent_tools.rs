//! Tools that an agent has beside the APIs of its world and [`crate::ending::FINISH`], in OpenAI's function format.
//!
//! Their calls are steps of a conversation and never calls of a world: a world's own API of such a name goes before them.

use serde_json::{Value as Json, json};

/// The tool that puts a question to the user.
pub const ASK_USER: &str = "ask_user";
/// The tool that calls an API that is no tool itself.
pub const CALL_API: &str = "call_api";

/// The schema of [`ASK_USER`].
pub fn ask_user() -> Json {
    function(
        ASK_USER,
        "Asks the user for something that they have not said; their answer comes back.",
        &json!({
            "type": "object",
            "properties": {"question": {"type": "string", "description": "The question"}},
            "required": ["question"],
            "additionalProperties": false,
        }),
    )
}

/// The schema of [`CALL_API`].
pub fn call_api() -> Json {
    function(
        CALL_API,
        "Calls an API that a search has shown.",
        &json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Name of the API, as the search shows it"},
                "arguments": {"type": "object", "description": "Its arguments, as its parameters ask for them"},
            },
            "required": ["name", "arguments"],
        }),
    )
}

fn function(name: &str, description: &str, parameters: &Json) -> Json {
    json!({
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    })
}
