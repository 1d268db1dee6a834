//! Owns how the agents of one row ask the model: every reply is counted, and a malformed one is sent back once with the error.

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

/// Reasons for which the model gave no reply at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The budget has no room for another request.
    Spent(String),
    /// A replay lacks the reply.
    Missing(String),
    /// The server did not answer, however often it was asked.
    Silent(String),
    /// The server refuses, or replies cannot be kept: the run makes no sense.
    Fatal(String),
}

impl Lost {
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

    /// Returns the error.
    pub fn what(&self) -> &str {
        match self {
            Self::Spent(what) | Self::Missing(what) | Self::Silent(what) | Self::Fatal(what) => what,
        }
    }
}

/// Reasons for which an agent has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unasked {
    /// There is no reply.
    Lost(Lost),
    /// The replies are not of the form asked for: what was found, what was expected.
    Malformed(String),
}

impl From<Lost> for Unasked {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}

impl From<ChatError> for Unasked {
    fn from(error: ChatError) -> Self {
        Self::Lost(Lost::of(&error))
    }
}

impl From<PromptError> for Unasked {
    fn from(error: PromptError) -> Self {
        Self::Lost(Lost::Fatal(error.to_string()))
    }
}

/// What a model answered.
#[derive(Clone, Debug)]
pub struct ModelAnswer<T> {
    /// The parsed value.
    pub value: T,
    /// The conversation with the model, its reply included, for one more turn.
    pub messages: Vec<Message>,
}

/// The model as one row asks it.
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
    lost: Option<Lost>,
}

/// Question of an agent.
pub struct Question<'a> {
    /// The agent.
    pub step: &'a str,
    /// Which attempt, or which of several equal questions.
    pub number: u32,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The form of the answer.
    pub schema: Json,
}

impl Asker {
    /// The model for one row.
    pub fn new(
        model: Arc<dyn ChatModel>,
        prompts: Arc<PromptSet>,
        sampling: Sampling,
        row_index: u64,
    ) -> Self {
        Self { model, prompts, sampling, row_index, state: Mutex::default() }
    }

    /// The prompts.
    pub fn prompts(&self) -> &PromptSet {
        &self.prompts
    }

    /// Asks, and reads the JSON of the reply; a malformed reply goes back once.
    ///
    /// # Errors
    /// When there is no reply, or the second one is malformed too.
    pub async fn ask<T>(
        &self,
        question: Question<'_>,
        read: impl Fn(&Json) -> Result<T, ParseError> + Send + Sync,
    ) -> Result<ModelAnswer<T>, Unasked> {
        let Question { step, number, mut messages, schema } = question;
        let request = ChatRequest {
            schema: Some(OutputSchema { name: step.to_owned(), schema }),
            ..ChatRequest::new(self.origin(step, number), Vec::new(), self.sampling.clone())
        };
        let repair = |wrong: &str| -> Result<Vec<Message>, Unasked> { Ok(self.repair(wrong)?) };
        let mut source = ModelSource { model: self, request, repair, replies: 0 };
        let parse = |reply: &ChatReply| {
            read_json(reply).and_then(|json| read(&json)).map_err(|error| error.to_string())
        };
        let value = ask_and_repair(&mut source, &mut messages, parse).await?;
        Ok(ModelAnswer { value: value.map_err(Unasked::Malformed)?, messages })
    }

    /// Tells the model what is wrong with what it said, and asks once more.
    ///
    /// # Errors
    /// When there is no reply, or it is malformed.
    pub async fn ask_again<T>(
        &self,
        question: Question<'_>,
        why: &str,
        read: impl Fn(&Json) -> Result<T, ParseError> + Send + Sync,
    ) -> Result<ModelAnswer<T>, Unasked> {
        let mut messages = question.messages;
        messages.extend(self.repair(why)?);
        self.ask(Question { messages, ..question }, read).await
    }

    /// The model in the role of an agent under test; what it is asked is this step's.
    pub fn as_model(self: &Arc<Self>, step: &'static str) -> Arc<dyn ChatModel> {
        Arc::new(Relabelled { asker: Arc::clone(self), step })
    }

    /// Returns how the model draws tokens.
    pub fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// Returns the origin of a request.
    pub fn origin(&self, step: &str, number: u32) -> RequestOrigin {
        RequestOrigin { step: step.to_owned(), row: self.row_index, attempt: number }
    }

    /// Returns replies and tokens so far, by step.
    pub fn uses(&self) -> BTreeMap<String, ModelUse> {
        self.state().uses.clone()
    }

    /// Returns the last reason for which the model gave no reply.
    pub fn lost(&self) -> Option<Lost> {
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
            Err(error) => state.lost = Some(Lost::of(error)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Finds the JSON of a reply that declines nothing.
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

/// The model under another step's name.
struct Relabelled {
    asker: Arc<Asker>,
    step: &'static str,
}

impl ChatModel for Relabelled {
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
