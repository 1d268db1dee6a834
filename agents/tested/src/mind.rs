//! How agents ask a chat model: in a role, on the account of the episode, with one more turn where a reply is malformed.

use std::sync::Arc;

use diorama_llm::{
    ChatModel, ChatReply, ChatRequest, FinishReason, Message, Place, Sampling, Tool, ToolChoice,
};

use crate::environment::{Environment, EnvironmentError};
use crate::prompts::PromptError;
use crate::trace::{Asked, Note};

/// A chat model as one episode's agent asks it.
#[derive(Clone)]
pub struct Mind {
    model: Arc<dyn ChatModel>,
    sampling: Sampling,
    place: Place,
}

/// Why a turn of an agent has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The environment ended it.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// Its reply was malformed twice.
    #[error("{role}: {what}")]
    Malformed {
        /// The role.
        role: String,
        /// What was found, and what was expected.
        what: String,
    },
    /// A prompt's file is wrong.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// It has no more steps of its own.
    #[error("{0}")]
    Ended(String),
}

/// A reply that is not of the form asked for: what was found, what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub String);

impl ParseError {
    /// Says what was found instead of what was expected.
    pub fn expected(expected: &str, found: &str) -> Self {
        let shown: String = found.trim().chars().take(160).collect();
        Self(format!("found `{shown}`, expected {expected}"))
    }
}

impl Mind {
    /// A model, asked for one episode: `place` keeps its recorded replies apart from those of others.
    pub fn new(model: Arc<dyn ChatModel>, sampling: Sampling, place: Place) -> Self {
        Self { model, sampling, place }
    }

    /// Asks in a role.
    ///
    /// # Errors
    /// When the model gives no reply, or the budget of the episode is used up.
    pub async fn ask(
        &self,
        environment: &mut dyn Environment,
        role: &str,
        messages: &[Message],
        tools: &[Tool],
    ) -> Result<ChatReply, EnvironmentError> {
        let request = ChatRequest {
            place: Place { stage: role.to_owned(), ..self.place.clone() },
            messages: messages.to_vec(),
            tools: tools.to_vec(),
            tool_choice: ToolChoice::Auto,
            schema: None,
            sampling: self.sampling.clone(),
        };
        let reply = self.model.chat(&request).await;
        let reply = reply.map_err(|error| EnvironmentError::Model { what: error.to_string() })?;
        let asked = Asked {
            role: role.to_owned(),
            same: 0,
            messages: request.messages,
            tools: request.tools.into_iter().map(|tool| tool.name).collect(),
            content: reply.content.clone(),
            reasoning: reply.reasoning_content.clone(),
            refusal: reply.refusal.clone(),
            tool_calls: reply.tool_calls.clone(),
            finish_reason: reply.finish_reason.clone(),
            usage: reply.usage,
        };
        environment.note(Note::Asked(Box::new(asked)))?;
        Ok(reply)
    }

    /// Asks in a role and reads the text that comes back; a malformed reply gets one more turn, with the error.
    ///
    /// # Errors
    /// As [`Mind::ask`], and when the second reply is malformed as well.
    pub async fn told<T>(
        &self,
        environment: &mut dyn Environment,
        role: &str,
        mut messages: Vec<Message>,
        read: impl Fn(&str) -> Result<T, ParseError> + Send + Sync,
    ) -> Result<T, Stop> {
        let mut repaired = false;
        loop {
            let reply = self.ask(environment, role, &messages, &[]).await?;
            let text = said(&reply);
            let error = match (whole(&reply), read(&text)) {
                (_, Ok(told)) => return Ok(told),
                (Err(cut), Err(_)) => cut,
                (Ok(()), Err(error)) => error,
            };
            environment.note(Note::Malformed { role: role.to_owned(), what: error.to_string() })?;
            if repaired {
                return Err(Stop::Malformed { role: role.to_owned(), what: error.to_string() });
            }
            repaired = true;
            messages.push(Message::assistant(text));
            messages.push(Message::user(format!(
                "That reply cannot be used: {error}. Give it again, in the form asked for."
            )));
        }
    }
}

/// The words of a reply without reasoning in tags; those of a refusal where it declines.
#[must_use]
pub fn said(reply: &ChatReply) -> String {
    let text = match reply.content.rfind("</think>") {
        Some(at) => reply.content[at + "</think>".len()..].trim(),
        None => reply.content.trim(),
    };
    match &reply.refusal {
        Some(refusal) if text.is_empty() => refusal.trim().to_owned(),
        _ => text.to_owned(),
    }
}

/// Whether a reply came to its own end.
///
/// # Errors
/// That it was cut short or withheld.
pub fn whole(reply: &ChatReply) -> Result<(), ParseError> {
    match reply.finish_reason {
        FinishReason::Length => Err(ParseError("the reply was cut short at its longest length".to_owned())),
        FinishReason::ContentFilter => {
            Err(ParseError("the server withheld the rest of the reply".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Ends an agent's turn: what it gave up for is noted, and what the environment ended is passed on.
///
/// # Errors
/// What the environment ended.
pub fn rest(environment: &mut dyn Environment, result: Result<(), Stop>) -> Result<(), EnvironmentError> {
    match result {
        Ok(()) => Ok(()),
        Err(Stop::Environment(error)) => Err(error),
        Err(stop) => environment.note(Note::GaveUp { because: stop.to_string() }),
    }
}
