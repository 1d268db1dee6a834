//! One question to a model: a reply with something wrong in it goes back once, with what is wrong.

use diorama_llm::{ChatError, ChatModel, ChatReply, ChatRequest, Message};
use diorama_tested::mind::said;
use diorama_tested::prompts::PromptError;

/// What is wrong with a reply: what was found, what was expected. No more than a model can take in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaints(Vec<String>);

impl Complaints {
    const MOST: usize = 8;

    /// Adds one.
    pub fn add(&mut self, what: impl Into<String>) {
        if self.0.len() < Self::MOST {
            self.0.push(what.into());
        }
    }

    /// Puts one before all others.
    pub fn add_first(&mut self, what: String) {
        self.0.insert(0, what);
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    #[must_use]
    pub fn list(&self) -> &[String] {
        &self.0
    }
}

/// What came of a question.
#[derive(Debug)]
pub struct Answer<T> {
    /// What was read in the reply without fault, else in the last that could be used.
    pub value: Option<T>,
    /// The conversation with the model, its last reply included.
    pub messages: Vec<Message>,
    /// Replies, at most two.
    pub replies: u32,
    /// What is wrong with the last one.
    pub wrong: Complaints,
    /// Why there is no other, where the model gave none.
    pub failed: Option<ChatError>,
}

/// Asks, and once more where something is wrong with the reply: `repair` says so to the model.
///
/// # Errors
/// When there is no prompt to say what is wrong.
pub async fn ask<T>(
    model: &dyn ChatModel,
    mut request: ChatRequest,
    mut read: impl FnMut(&ChatReply, &mut Complaints) -> Option<T> + Send,
    repair: impl Fn(&Complaints) -> Result<Vec<Message>, PromptError> + Send,
) -> Result<Answer<T>, PromptError> {
    let (mut value, mut replies, mut wrong) = (None, 0, Complaints::default());
    let failed = loop {
        let reply = match model.chat(&request).await {
            Ok(reply) => reply,
            Err(error) => break Some(error),
        };
        replies += 1;
        wrong = Complaints::default();
        value = read(&reply, &mut wrong).or(value);
        request.messages.push(Message::assistant(said(&reply)));
        if wrong.is_empty() || replies == 2 {
            break None;
        }
        request.messages.extend(repair(&wrong)?);
    };
    Ok(Answer { value, messages: request.messages, replies, wrong, failed })
}
