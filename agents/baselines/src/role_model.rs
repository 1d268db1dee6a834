//! Owns the requests to a chat model: in a role, charged to the episode, with one more turn for a malformed
//! reply.

use std::sync::Arc;

use diorama_llm::{
    BoxFuture, ChatModel, ChatReply, ChatRequest, Message, ReplySource, RequestOrigin, Sampling, Tool,
    ask_and_repair,
};

use crate::environment::{Environment, EnvironmentError};
use crate::note::{ModelExchange, Note};
use crate::prompts::PromptError;

/// The chat model of one episode's agent.
#[derive(Clone)]
pub struct RoleModel {
    model: Arc<dyn ChatModel>,
    sampling: Sampling,
    origin: RequestOrigin,
}

/// The reason for which a turn of an agent has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stop {
    /// The environment refused or ended.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The reply was malformed twice.
    #[error("{role}: {what}")]
    Malformed {
        /// The role.
        role: String,
        /// The found and the expected form.
        what: String,
    },
    /// The file of a prompt has an error.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The method has no further steps.
    #[error("{0}")]
    Ended(String),
}

/// The found and the expected form of a malformed reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub String);

impl ParseError {
    /// Makes an error with the expected form and the found text.
    pub fn expected(expected: &str, found: &str) -> Self {
        let shown: String = found.trim().chars().take(160).collect();
        Self(format!("found `{shown}`, expected {expected}"))
    }
}

impl RoleModel {
    /// Makes the model of one episode. `origin` separates its recorded replies from those of other episodes.
    pub fn new(model: Arc<dyn ChatModel>, sampling: Sampling, origin: RequestOrigin) -> Self {
        Self { model, sampling, origin }
    }

    /// Asks in a role.
    ///
    /// # Errors
    /// Returns an error if the model does not reply, or if the episode's budget is used up.
    pub(crate) async fn ask(
        &self,
        environment: &mut dyn Environment,
        role: &str,
        messages: &[Message],
        tools: &[Tool],
    ) -> Result<ChatReply, EnvironmentError> {
        let request = ChatRequest {
            origin: RequestOrigin { step: role.to_owned(), ..self.origin.clone() },
            messages: messages.to_vec(),
            tools: tools.to_vec(),
            schema: None,
            sampling: self.sampling.clone(),
        };
        let reply = self.model.chat(&request).await;
        let reply = reply.map_err(|error| EnvironmentError::Model { what: error.to_string() })?;
        let asked = ModelExchange {
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

    /// Asks in a role and parses the text of the reply. A malformed reply gets one more turn, with the error.
    ///
    /// # Errors
    /// Returns the errors of [`RoleModel::ask`], and an error if the second reply is malformed, too.
    pub(crate) async fn ask_and_parse<T>(
        &self,
        environment: &mut dyn Environment,
        role: &str,
        mut messages: Vec<Message>,
        parse: impl Fn(&str) -> Result<T, ParseError> + Send,
    ) -> Result<T, Stop> {
        let mut source = RoleSource { model: self, environment, role };
        let parse = move |reply: &ChatReply| parse(&reply.spoken()).map_err(|error| error.to_string());
        let parsed = ask_and_repair(&mut source, &mut messages, parse).await?;
        parsed.map_err(|what| Stop::Malformed { role: role.to_owned(), what })
    }
}

/// A model in a role, charged to an episode.
struct RoleSource<'a> {
    model: &'a RoleModel,
    environment: &'a mut dyn Environment,
    role: &'a str,
}

impl ReplySource for RoleSource<'_> {
    type Error = Stop;

    fn send<'a>(&'a mut self, messages: &'a [Message]) -> BoxFuture<'a, Result<ChatReply, Stop>> {
        Box::pin(async move { Ok(self.model.ask(self.environment, self.role, messages, &[]).await?) })
    }

    fn note_malformed(&mut self, problem: &str) -> Result<(), Stop> {
        let (role, what) = (self.role.to_owned(), problem.to_owned());
        Ok(self.environment.note(Note::Malformed { role, what })?)
    }

    fn repair(&self, problem: &str) -> Result<Vec<Message>, Stop> {
        let words = format!("That reply cannot be used: {problem}. Give it again, in the form asked for.");
        Ok(vec![Message::user(words)])
    }
}
