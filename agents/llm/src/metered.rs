//! The layer that reserves before it sends.

use std::sync::Arc;

use crate::chat::{ChatModel, ChatReply, ChatRequest, Identity, Message, Soon, Usage};
use crate::error::{ChatError, Spent};
use crate::ledger::Ledger;

/// What a chat template adds to a request, to each message, and to a list of tools, in tokens: above those of known models.
const TEMPLATE: u64 = 64;
const TEMPLATE_MESSAGE: u64 = 16;
const TEMPLATE_TOOLS: u64 = 512;

/// A model whose every request is entered into a ledger.
#[derive(Debug)]
pub struct Metered<M> {
    inner: M,
    ledger: Arc<Ledger>,
}

impl<M: ChatModel> Metered<M> {
    /// Puts a model's requests into a ledger.
    pub fn new(inner: M, ledger: Arc<Ledger>) -> Self {
        Self { inner, ledger }
    }

    /// The model inside.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    async fn send(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reservation = self.ledger.reserve(&request.place.stage, most_usage(request)).await?;
        let result = self.inner.chat(request).await;
        reservation.settle(match &result {
            Ok(reply) => reply.usage.map_or(Spent::Unknown, Spent::Known),
            Err(error) => error.spent(),
        });
        result
    }
}

impl<M: ChatModel> ChatModel for Metered<M> {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>> {
        Box::pin(self.send(request))
    }
}

/// Says the most that a request can take.
///
/// A token of a byte-level vocabulary stands for at least one byte, so the bytes of the prompt bound its tokens; they are
/// about four times as many. What is reserved too much comes back with the reply.
pub fn most_usage(request: &ChatRequest) -> Usage {
    let bytes = |text: &str| text.len() as u64;
    let messages = request.messages.iter().map(|message| {
        let said = match message {
            Message::System { content } | Message::User { content } => bytes(content),
            Message::Assistant { content, tool_calls } => {
                let calls = tool_calls
                    .iter()
                    .map(|call| bytes(&call.id) + bytes(&call.name) + bytes(&call.arguments));
                bytes(content) + calls.map(|call| call + TEMPLATE_MESSAGE).sum::<u64>()
            }
            Message::Tool { tool_call_id, content } => bytes(tool_call_id) + bytes(content),
        };
        said + TEMPLATE_MESSAGE
    });
    let tools = request.tools.iter().map(|tool| {
        bytes(&tool.name) + bytes(&tool.description) + bytes(&tool.parameters.to_string()) + TEMPLATE_MESSAGE
    });
    // A poorer format puts the schema into the prompt.
    let schema = request.schema.as_ref().map(|schema| bytes(&schema.schema.to_string()) + 256);
    let input = messages.sum::<u64>() + tools.sum::<u64>() + schema.unwrap_or_default();
    let template = TEMPLATE + if request.tools.is_empty() { 0 } else { TEMPLATE_TOOLS };
    Usage { input_tokens: input + template, output_tokens: u64::from(request.sampling.max_tokens) }
}
