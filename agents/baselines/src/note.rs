//! Owns the notes of an episode, which are no actions: requests to a model, malformed replies, plans,
//! fallbacks, and giving up.

use diorama_llm::{FinishReason, Message, ToolCall, Usage};
use serde::{Deserialize, Serialize};

use crate::plan::nested::Plan;

/// An event of an episode that is no action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// The agent asked a model.
    Asked(Box<ModelExchange>),
    /// A reply of the model has the wrong form. The model is asked once more, with this message.
    Malformed {
        /// The role whose reply it is.
        role: String,
        /// The found and the expected form.
        what: String,
    },
    /// The agent made a plan of nested calls, with or without executing it.
    Planned {
        /// The plan.
        plan: Plan,
    },
    /// One approach failed, and the next was tried.
    FellBack {
        /// The role that fell back.
        role: String,
        /// The next approach.
        to: String,
        /// The error of the failed approach.
        because: String,
    },
    /// The agent stopped before the conversation was over.
    GaveUp {
        /// The reason.
        because: String,
    },
}

/// A request to a model, and the reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelExchange {
    /// The role that the model plays.
    pub role: String,
    /// Number of leading messages that equal those of the role's previous request. They are not repeated
    /// here.
    pub same: usize,
    /// The messages after those.
    pub messages: Vec<Message>,
    /// Names of the tools that were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The text of the reply.
    pub content: String,
    /// The reasoning of the reply, if the server separates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The model's reason for a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The calls of the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The reason for which the reply ended.
    pub finish_reason: FinishReason,
    /// Tokens, as the server reports them.
    pub usage: Option<Usage>,
}

impl ModelExchange {
    /// Returns the tokens charged to the budget: as reported by the server, else one per four bytes.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let guess = || {
            let sent = serde_json::to_string(&self.messages).map_or(0, |text| text.len());
            (sent + self.content.len()) as u64 / 4
        };
        self.usage.map_or_else(guess, Usage::total)
    }
}
