//! Tools that an agent has beside the APIs of its world and [`crate::ending::FINISH`], in OpenAI's function format.
//!
//! Their calls are steps of a conversation and never calls of a world: a world's own API of such a name goes before them.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::task::Call;

/// The tool that puts a question to the user.
pub const ASK_USER: &str = "ask_user";
/// The tool that calls an API that is no tool itself.
pub const CALL_API: &str = "call_api";

/// The tool that asks the user for a yes to calls. Only tasks whose policy has a rule that asks for one have it.
pub const CONFIRM: &str = "confirm";
/// Calls that one [`CONFIRM`] asks about, at most.
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

/// The schema of [`CONFIRM`].
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
