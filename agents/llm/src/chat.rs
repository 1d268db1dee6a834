//! Owns the plain data of a request to a chat model and of its reply.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::extract::{NoJson, json_in};

/// Model and settings that every request to it shares. Part of the key of a recorded reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Model, as the server names it.
    pub model: String,
    /// Way of requesting JSON.
    pub json_mode: JsonMode,
}

/// How a server is asked for JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum), value(rename_all = "snake_case"))]
pub enum JsonMode {
    /// `response_format` of type `json_schema`: the server holds the model to the schema.
    #[default]
    JsonSchema,
    /// `response_format` of type `json_object`, and the schema in the prompt.
    JsonObject,
    /// The schema in the prompt alone.
    None,
}

impl JsonMode {
    /// Returns the advice for the user of a server that refuses this mode.
    pub(crate) const fn advice(self) -> &'static str {
        match self {
            Self::JsonSchema => {
                "if the server does not take this response format, give --json-mode json_object or none"
            }
            Self::JsonObject => {
                "if the server does not take this response format, give --json-mode json_schema or none"
            }
            Self::None => "check that the model takes these settings (docs/models.md)",
        }
    }
}

impl fmt::Display for JsonMode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::JsonSchema => "json_schema",
            Self::JsonObject => "json_object",
            Self::None => "none",
        })
    }
}

/// The field of a request that bounds the length of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum), value(rename_all = "snake_case"))]
pub enum MaxTokensField {
    /// As OpenAI's reasoning models want it.
    MaxCompletionTokens,
    /// As nearly every other server wants it.
    MaxTokens,
    /// No field: the server's own bound holds, and a budget may reserve too little.
    None,
}

/// Part of a run that makes a request. Equal prompts of two origins get separate replies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestOrigin {
    /// Step of the pipeline, or role of an agent.
    pub step: String,
    /// Row index of the output.
    pub row: u64,
    /// Attempt at the row, from 0.
    pub attempt: u32,
}

impl fmt::Display for RequestOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "step {}, row {}, attempt {}", self.step, self.row, self.attempt)
    }
}

/// One request to a chat model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// Part of the run that makes it.
    pub origin: RequestOrigin,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Tools that the model may call.
    pub tools: Vec<Tool>,
    /// Form of the answer, if it must be JSON.
    pub schema: Option<OutputSchema>,
    /// Length of the reply and temperature.
    pub sampling: Sampling,
}

impl ChatRequest {
    /// Makes a request without tools or schema.
    pub fn new(origin: RequestOrigin, messages: Vec<Message>, sampling: Sampling) -> Self {
        Self { origin, messages, tools: Vec::new(), schema: None, sampling }
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Instructions.
    System {
        /// The text.
        content: String,
    },
    /// Message of the user.
    User {
        /// The text.
        content: String,
    },
    /// Message of the model: text, calls, or both.
    Assistant {
        /// The text. It is empty if the message has only calls.
        content: String,
        /// The calls.
        tool_calls: Vec<ToolCall>,
    },
    /// Result of a call.
    Tool {
        /// Id of the call that this message answers.
        tool_call_id: String,
        /// The reply.
        content: String,
    },
}

impl Message {
    /// Makes a system message.
    pub fn system(content: impl Into<String>) -> Self {
        Self::System { content: content.into() }
    }

    /// Makes a user's message.
    pub fn user(content: impl Into<String>) -> Self {
        Self::User { content: content.into() }
    }

    /// Makes a message of the model without calls.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::Assistant { content: content.into(), tool_calls: Vec::new() }
    }

    /// Makes the answer to a call.
    pub fn tool(tool_call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Tool { tool_call_id: tool_call_id.into(), content: content.into() }
    }
}

/// A call that a model makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id, by which the answer refers to it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, if the model kept to the protocol.
    pub arguments: String,
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Json,
}

/// The form of a JSON answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A name of letters, digits, `_` and `-`, which servers require.
    pub name: String,
    /// JSON Schema.
    pub schema: Json,
}

/// Length of the reply and temperature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Maximum number of tokens of a reply, reasoning included. A budget reserves it.
    pub max_reply_tokens: u32,
    /// From 0 (the likeliest token) to 2. None leaves it to the server.
    pub temperature: Option<f64>,
}

impl Sampling {
    /// Makes settings with a maximum length, which leave the temperature to the server.
    pub fn up_to(max_reply_tokens: u32) -> Self {
        Self { max_reply_tokens, temperature: None }
    }
}

/// A whole reply to one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The text exactly as it came. It is empty if the model only called tools.
    pub content: String,
    /// The model's reasoning as it came, if the server reports it in a field of its own.
    pub reasoning_content: Option<String>,
    /// The model's reason for a refusal, if the server reports it in a field of its own.
    pub refusal: Option<String>,
    /// Calls of the model.
    pub tool_calls: Vec<ToolCall>,
    /// Reason for which the reply ends.
    pub finish_reason: FinishReason,
    /// Tokens, if the server reports them.
    pub usage: Option<Usage>,
    /// Name of the model that answered, as the server reports it.
    pub model: String,
}

impl ChatReply {
    /// Makes a reply that has only text.
    pub fn text(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            reasoning_content: None,
            refusal: None,
            tool_calls: Vec::new(),
            finish_reason: FinishReason::Stop,
            usage: None,
            model: String::new(),
        }
    }

    /// Returns the JSON of the reply, which may stand in prose or in a code fence.
    pub fn json(&self) -> Result<Json, NoJson> {
        json_in(&self.content)
    }

    /// Returns the text without reasoning in tags, or the text of a refusal if the model declines.
    pub fn spoken(&self) -> String {
        let text = match self.content.rfind("</think>") {
            Some(at) => self.content[at + "</think>".len()..].trim(),
            None => self.content.trim(),
        };
        match &self.refusal {
            Some(refusal) if text.is_empty() => refusal.trim().to_owned(),
            _ => text.to_owned(),
        }
    }

    /// Checks that the model finished its reply.
    ///
    /// # Errors
    /// Returns an error if the reply was cut short or withheld.
    pub fn check_complete(&self) -> Result<(), String> {
        match self.finish_reason {
            FinishReason::Length => Err("the reply was cut short at its longest length".to_owned()),
            FinishReason::ContentFilter => Err("the server withheld the rest of the reply".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Reason for which a reply ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model finished.
    Stop,
    /// The reply reached its maximum length.
    Length,
    /// The model calls tools.
    ToolCalls,
    /// The server withheld the rest.
    ContentFilter,
    /// A reason that the protocol does not know, or none.
    Other(String),
}

/// Tokens of a request and its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that were sent.
    pub input_tokens: u64,
    /// Tokens that came back, reasoning included.
    pub output_tokens: u64,
}

impl Usage {
    /// Returns the sum of input and output tokens.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Returns the sum of two counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}
