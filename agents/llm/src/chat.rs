//! What is said to a chat model and what it says back: plain data, and the one trait that carries it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::error::ChatError;
use crate::extract::{NoJson, json_in};

/// What is awaited: a future that is boxed so that models can be chosen at run time.
pub type Soon<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers chat requests.
///
/// Implemented by [`HttpModel`](crate::HttpModel) and [`ScriptedModel`](crate::ScriptedModel), and by the layers around
/// them: [`Metered`](crate::Metered), [`Retrying`](crate::Retrying), [`Recorded`](crate::Recorded), [`Replay`](crate::Replay).
pub trait ChatModel: Send + Sync {
    /// Says which model this is, with all settings that change what is sent.
    fn identity(&self) -> &Identity;

    /// Sends a request and waits for the whole reply.
    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>>;
}

impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn identity(&self) -> &Identity {
        (**self).identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>> {
        (**self).chat(request)
    }
}

/// Names a model with the settings that every request to it shares. Part of the key of a recorded reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The model, as the server names it.
    pub model: String,
    /// How JSON is asked for; what a run falls back to is not part of the identity.
    pub format: Format,
    /// Members that are added to every request.
    pub extra: Map<String, Json>,
}

/// How a server is asked for JSON, richest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// `response_format` of type `json_schema`: the server holds the model to the schema.
    JsonSchema,
    /// `response_format` of type `json_object`, and the schema in the prompt.
    JsonObject,
    /// The schema in the prompt alone; JSON is found in what comes back.
    Prompt,
}

impl Format {
    /// All of them, richest first.
    pub const ALL: [Self; 3] = [Self::JsonSchema, Self::JsonObject, Self::Prompt];
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::JsonSchema => "json_schema",
            Self::JsonObject => "json_object",
            Self::Prompt => "prompt",
        })
    }
}

/// Says for what a request is made. Equal prompts of two places have replies of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The stage of the pipeline.
    pub stage: String,
    /// The slot of the output.
    pub slot: u64,
    /// The attempt at the slot, from 0.
    pub attempt: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "stage {}, slot {}, attempt {}", self.stage, self.slot, self.attempt)
    }
}

/// One request to a chat model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// For what it is made.
    pub place: Place,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Tools that the model may call.
    pub tools: Vec<Tool>,
    /// Whether it may, must or must not call one; nothing is sent without tools.
    pub tool_choice: ToolChoice,
    /// The form of the answer, where it is to be JSON.
    pub schema: Option<OutputSchema>,
    /// How tokens are drawn.
    pub sampling: Sampling,
}

impl ChatRequest {
    /// Makes a request without tools or schema.
    pub fn new(place: Place, messages: Vec<Message>, sampling: Sampling) -> Self {
        Self { place, messages, tools: Vec::new(), tool_choice: ToolChoice::Auto, schema: None, sampling }
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
    /// What the user says.
    User {
        /// The text.
        content: String,
    },
    /// What the model said and called.
    Assistant {
        /// The text; empty where it only called.
        content: String,
        /// Its calls.
        tool_calls: Vec<ToolCall>,
    },
    /// What a call came to.
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
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Json,
}

/// Whether the model may, must or must not call a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model chooses.
    #[default]
    Auto,
    /// It calls none.
    None,
    /// It calls at least one; weak servers ignore this.
    Required,
}

/// The form of a JSON answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A name of letters, digits, `_` and `-`, as servers ask for one.
    pub name: String,
    /// JSON Schema.
    pub schema: Json,
    /// Asks for `strict`: OpenAI then wants every property required and `additionalProperties: false`.
    pub strict: bool,
}

/// How tokens are drawn. What is absent is not sent, so that the server's own value holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// The most tokens of a reply, reasoning included. Always sent: a budget reserves it.
    pub max_tokens: u32,
    /// From 0 (the likeliest token) to 2.
    pub temperature: Option<f64>,
    /// The share of likely tokens that is drawn from.
    pub top_p: Option<f64>,
    /// A seed, for servers that take one.
    pub seed: Option<u32>,
}

impl Sampling {
    /// Leaves all but the length to the server.
    pub fn up_to(max_tokens: u32) -> Self {
        Self { max_tokens, temperature: None, top_p: None, seed: None }
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
    /// What was counted, where the server says so.
    pub usage: Option<Usage>,
    /// The model that answered, as reported.
    pub model: String,
    /// How JSON was asked for, where it was.
    pub format: Option<Format>,
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
            format: None,
        }
    }

    /// Finds the JSON of the reply, in prose and code fences too.
    pub fn json(&self) -> Result<Json, NoJson> {
        json_in(&self.content)
    }
}

/// Why a reply ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// `max_tokens` was reached.
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
