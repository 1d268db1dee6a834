//! Owns the requests of one row's agents to the model: it counts each reply, and returns a malformed one
//! once with its error.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diorama_baselines::prompts::PromptError;
use diorama_baselines::role_model::ParseError;
use diorama_llm::{
    BoxFuture, ChatError, ChatModel, ChatReply, ChatRequest, Identity, Message, ModelSource, OutputSchema,
    RequestOrigin, Sampling, ask_and_repair,
};
use diorama_output::funnel::ModelUse;
use serde_json::{Value as Json, json};

use super::prompts::PromptSet;

/// Reasons for which the model gave no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoReply {
    /// The budget has no room for another request.
    Spent(String),
    /// A replay lacks the reply.
    Missing(String),
    /// The server did not answer any of the retries.
    Silent(String),
    /// The server refuses requests, or the replies cannot be recorded. The run cannot continue.
    Fatal(String),
}

impl NoReply {
    fn of(error: &ChatError) -> Self {
        let what = error.to_string();
        match error {
            ChatError::Exhausted(_) => Self::Spent(what),
            ChatError::NotRecorded { .. } => Self::Missing(what),
            ChatError::Refused { .. } | ChatError::JsonModeRefused { .. } | ChatError::Recording(_) => {
                Self::Fatal(what)
            }
            _ => Self::Silent(what),
        }
    }

    /// Returns the error as text.
    pub fn what(&self) -> &str {
        match self {
            Self::Spent(what) | Self::Missing(what) | Self::Silent(what) | Self::Fatal(what) => what,
        }
    }
}

/// Reasons for which an agent has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    /// The model gave no reply.
    NoReply(NoReply),
    /// The replies do not have the requested form. The text says what was found and what was expected.
    Malformed(String),
}

impl From<NoReply> for AskError {
    fn from(lost: NoReply) -> Self {
        Self::NoReply(lost)
    }
}

impl From<ChatError> for AskError {
    fn from(error: ChatError) -> Self {
        Self::NoReply(NoReply::of(&error))
    }
}

impl From<PromptError> for AskError {
    fn from(error: PromptError) -> Self {
        Self::NoReply(NoReply::Fatal(error.to_string()))
    }
}

/// Parsed answer of a model.
#[derive(Clone, Debug)]
pub struct ModelAnswer<T> {
    /// The parsed value.
    pub value: T,
    /// Conversation with the model including its reply, for one more turn.
    pub messages: Vec<Message>,
}

/// Sends the requests of one row to the model.
pub struct Asker {
    model: Arc<dyn ChatModel>,
    prompts: Arc<PromptSet>,
    sampling: Sampling,
    row_index: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    uses: BTreeMap<String, ModelUse>,
    lost: Option<NoReply>,
}

/// Question of an agent.
pub struct Question<'a> {
    /// Name of the agent's step.
    pub step: &'a str,
    /// Number of the attempt, or position among several equal questions.
    pub number: u32,
    /// Messages to the model so far.
    pub messages: Vec<Message>,
    /// JSON Schema of the answer.
    pub schema: Json,
}

impl Asker {
    /// Makes the asker of one row.
    pub fn new(
        model: Arc<dyn ChatModel>,
        prompts: Arc<PromptSet>,
        sampling: Sampling,
        row_index: u64,
    ) -> Self {
        Self { model, prompts, sampling, row_index, state: Mutex::default() }
    }

    /// Returns the prompts of the run.
    pub fn prompts(&self) -> &PromptSet {
        &self.prompts
    }

    /// Asks the model and parses the JSON of its reply. A malformed reply goes back once with its error.
    ///
    /// # Errors
    /// Returns an error if there is no reply, or if the second one is malformed too.
    pub async fn ask<T>(
        &self,
        question: Question<'_>,
        read: impl Fn(&Json) -> Result<T, ParseError> + Send + Sync,
    ) -> Result<ModelAnswer<T>, AskError> {
        let Question { step, number, mut messages, schema } = question;
        let request = ChatRequest {
            schema: Some(OutputSchema { name: step.to_owned(), schema }),
            ..ChatRequest::new(self.origin(step, number), Vec::new(), self.sampling.clone())
        };
        let repair = |wrong: &str| -> Result<Vec<Message>, AskError> { Ok(self.repair(wrong)?) };
        let mut source = ModelSource { model: self, request, repair, replies: 0 };
        let parse = |reply: &ChatReply| {
            read_json(reply).and_then(|json| read(&json)).map_err(|error| error.to_string())
        };
        let value = ask_and_repair(&mut source, &mut messages, parse).await?;
        Ok(ModelAnswer { value: value.map_err(AskError::Malformed)?, messages })
    }

    /// Tells the model the problem with its answer, and asks once more.
    ///
    /// # Errors
    /// Returns an error if there is no reply, or if it is malformed.
    pub async fn ask_again<T>(
        &self,
        question: Question<'_>,
        why: &str,
        read: impl Fn(&Json) -> Result<T, ParseError> + Send + Sync,
    ) -> Result<ModelAnswer<T>, AskError> {
        let mut messages = question.messages;
        messages.extend(self.repair(why)?);
        self.ask(Question { messages, ..question }, read).await
    }

    /// Returns the model for an agent under test. Its requests count towards `step`.
    pub fn as_model(self: &Arc<Self>, step: &'static str) -> Arc<dyn ChatModel> {
        Arc::new(StepModel { asker: Arc::clone(self), step })
    }

    /// Returns the sampling of tokens.
    pub fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// Returns the origin of a request: its step, row and attempt.
    pub fn origin(&self, step: &str, number: u32) -> RequestOrigin {
        RequestOrigin { step: step.to_owned(), row: self.row_index, attempt: number }
    }

    /// Returns the number of replies and tokens so far, by step.
    pub fn uses(&self) -> BTreeMap<String, ModelUse> {
        self.state().uses.clone()
    }

    /// Returns the last reason for which the model gave no reply.
    pub fn lost(&self) -> Option<NoReply> {
        self.state().lost.clone()
    }

    fn repair(&self, why: &str) -> Result<Vec<Message>, PromptError> {
        self.prompts.render("repair", &json!({ "wrong": [why] }))
    }

    fn note(&self, request: &ChatRequest, result: &Result<ChatReply, ChatError>) {
        let mut state = self.state();
        match result {
            Ok(reply) => {
                let usage = reply.usage.unwrap_or_default();
                let (input_tokens, output_tokens) = (usage.input_tokens, usage.output_tokens);
                let uses = state.uses.entry(request.origin.step.clone()).or_default();
                uses.add(&ModelUse { replies: 1, input_tokens, output_tokens });
            }
            Err(error) => state.lost = Some(NoReply::of(error)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parses the JSON of a reply. A refusal is an error.
fn read_json(reply: &ChatReply) -> Result<Json, ParseError> {
    if let Some(refusal) = &reply.refusal {
        return Err(ParseError::expected("JSON, not a refusal", refusal));
    }
    reply.json().map_err(|error| ParseError::expected(&format!("JSON ({error})"), &reply.content))
}

impl ChatModel for Asker {
    fn identity(&self) -> &Identity {
        self.model.identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
        Box::pin(async move {
            let result = self.model.chat(request).await;
            self.note(request, &result);
            result
        })
    }
}

/// The model, with the name of another step in its requests.
struct StepModel {
    asker: Arc<Asker>,
    step: &'static str,
}

impl ChatModel for StepModel {
    fn identity(&self) -> &Identity {
        self.asker.identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ChatError>> {
        Box::pin(async move {
            let mut request = request.clone();
            self.step.clone_into(&mut request.origin.step);
            self.asker.chat(&request).await
        })
    }
}
