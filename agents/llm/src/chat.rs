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
    /// How JSON is asked for.
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
    /// Returns what to do when the server does not take this mode.
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

/// Part of a run that makes a request. Equal prompts of two origins have replies of their own.
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
    /// Form of the answer, where it is to be JSON.
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
    /// Words of the user.
    User {
        /// The text.
        content: String,
    },
    /// Words and calls of the model.
    Assistant {
        /// The text; empty where it only called.
        content: String,
        /// Its calls.
        tool_calls: Vec<ToolCall>,
    },
    /// Result of a call.
    Tool {
        /// The call that this answers.
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
    /// The arguments as the model wrote them: JSON text, if it kept to the protocol.
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
    /// A name of letters, digits, `_` and `-`, as servers ask for one.
    pub name: String,
    /// JSON Schema.
    pub schema: Json,
}

/// Length of the reply and temperature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Most tokens of a reply, reasoning included. A budget reserves it.
    pub max_reply_tokens: u32,
    /// From 0 (the likeliest token) to 2; the server's own value when absent.
    pub temperature: Option<f64>,
}

impl Sampling {
    /// Leaves all but the length to the server.
    pub fn up_to(max_reply_tokens: u32) -> Self {
        Self { max_reply_tokens, temperature: None }
    }
}

/// The whole reply to one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The text exactly as it came; empty where the model only called tools.
    pub content: String,
    /// The model's reasoning as it came, where the server gives it apart.
    pub reasoning_content: Option<String>,
    /// Why the model declined, where the server gives it apart.
    pub refusal: Option<String>,
    /// The calls that it makes.
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish_reason: FinishReason,
    /// Tokens, where the server reports them.
    pub usage: Option<Usage>,
    /// The model that answered, as reported.
    pub model: String,
}

impl ChatReply {
    /// Makes a reply of text alone.
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

    /// Finds the JSON of the reply, in prose and code fences too.
    pub fn json(&self) -> Result<Json, NoJson> {
        json_in(&self.content)
    }

    /// Returns the words without reasoning in tags; those of a refusal where the model declines.
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

    /// Checks that the reply came to its own end.
    ///
    /// # Errors
    /// When it was cut short or withheld.
    pub fn check_complete(&self) -> Result<(), String> {
        match self.finish_reason {
            FinishReason::Length => Err("the reply was cut short at its longest length".to_owned()),
            FinishReason::ContentFilter => Err("the server withheld the rest of the reply".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Why a reply ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The longest length was reached.
    Length,
    /// It calls tools.
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
    /// Adds the two.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Joins two counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}
