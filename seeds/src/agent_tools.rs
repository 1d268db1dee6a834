//! Owns the tools that an agent has besides the APIs of its world and [`crate::ending::FINISH`], in OpenAI's
//! function format.
//!
//! Their calls are steps of a conversation, not calls of a world. If a world's own API has the same name, it
//! takes precedence.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::task::Call;

/// Name of the tool that asks the user a question.
pub const ASK_USER: &str = "ask_user";
/// Name of the tool that calls an API without a tool of its own.
pub const CALL_API: &str = "call_api";

/// Name of the tool that asks the user to confirm calls. A task has it only if a rule of its policy requires
/// confirmation.
pub const CONFIRM: &str = "confirm";
/// Maximum number of calls in one [`CONFIRM`].
pub const MAX_CONFIRMED_CALLS: usize = 50;

/// The arguments of [`CONFIRM`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    /// The calls that are to be made once the user has said yes.
    pub calls: Vec<Call>,
    /// The words to the user. They are not judged.
    #[serde(default)]
    pub message: String,
}

/// Returns the schema of [`CONFIRM`].
pub fn confirm() -> Json {
    function(
        CONFIRM,
        "Asks the user to confirm calls before they are made, where a rule asks for that. The user's answer comes back: a yes, \
         or what they want instead. Then make the very calls that were confirmed.",
        &json!({
            "type": "object",
            "properties": {
                "calls": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MAX_CONFIRMED_CALLS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "api": {"type": "string", "description": "Name of the tool"},
                            "arguments": {"type": "object", "description": "Its arguments, as they will be given"},
                        },
                        "required": ["api", "arguments"],
                        "additionalProperties": false,
                    },
                    "description": "The calls, as they will be made.",
                },
                "message": {
                    "type": "string",
                    "description": "What is said to the user: the values that the rule wants stated. It is not judged.",
                },
            },
            "required": ["calls", "message"],
            "additionalProperties": false,
        }),
    )
}

/// Returns the schema of [`ASK_USER`].
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

/// Returns the schema of [`CALL_API`].
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
