//! Owns what an agent does beside acting: requests to a model, malformed replies, fallbacks, and giving up.

use diorama_llm::{FinishReason, Message, ToolCall, Usage};
use serde::{Deserialize, Serialize};

/// What an agent does beside acting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// It asked a model.
    Asked(Box<Asked>),
    /// A reply of the model is not of the form asked for; it is asked once more, with these words.
    Malformed {
        /// The role whose reply it is.
        role: String,
        /// What was found, and what was expected.
        what: String,
    },
    /// One way did not work, and the next was taken.
    FellBack {
        /// The role that did.
        role: String,
        /// The way that is taken now.
        to: String,
        /// Why the one before did not work.
        because: String,
    },
    /// It stopped before the conversation was over.
    GaveUp {
        /// Why.
        because: String,
    },
}

/// A request to a model, and the reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The role that the model plays.
    pub role: String,
    /// How many messages are those of the role's request before, which are not written again.
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
    /// Why the model declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The calls that came back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Why the reply ends.
    pub finish_reason: FinishReason,
    /// Tokens, as the server reports them.
    pub usage: Option<Usage>,
}

impl Asked {
    /// The tokens that are taken from the budget: those reported, else one for each four bytes.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let guess = || {
            let sent = serde_json::to_string(&self.messages).map_or(0, |text| text.len());
            (sent + self.content.len()) as u64 / 4
        };
        self.usage.map_or_else(guess, Usage::total)
    }
}
