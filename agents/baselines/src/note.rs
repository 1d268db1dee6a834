//! Owns the notes of an episode beside actions: requests to a model, malformed replies, plans, fallbacks, and giving up.

use diorama_llm::{FinishReason, Message, ToolCall, Usage};
use serde::{Deserialize, Serialize};

use crate::plan::nested::Plan;

/// An event of an episode beside acting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// The agent asked a model.
    Asked(Box<ModelExchange>),
    /// A reply of the model is not of the form asked for; it is asked once more, with these words.
    Malformed {
        /// The role whose reply it is.
        role: String,
        /// Found and expected form.
        what: String,
    },
    /// The agent came to a plan of nested calls, whether or not it makes them.
    Planned {
        /// The plan.
        plan: Plan,
    },
    /// One way failed, and the next was taken.
    FellBack {
        /// The role that fell back.
        role: String,
        /// The next way.
        to: String,
        /// The error of the way before.
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
    /// Number of leading messages that are those of the role's request before, which are not written again.
    pub same: usize,
    /// The messages that were sent after those.
    pub messages: Vec<Message>,
    /// Names of the tools that were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The text that came back.
    pub content: String,
    /// The reasoning that came back apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The model's reason for a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The calls that came back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The reason for which the reply ends.
    pub finish_reason: FinishReason,
    /// Tokens, as the server reports them.
    pub usage: Option<Usage>,
}

impl ModelExchange {
    /// Tokens that are taken from the budget: as the server reports them, else one for each four bytes.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let guess = || {
            let sent = serde_json::to_string(&self.messages).map_or(0, |text| text.len());
            (sent + self.content.len()) as u64 / 4
        };
        self.usage.map_or_else(guess, Usage::total)
    }
}
