//! How the agents of one slot ask the model: every reply is counted, and a malformed one gets one more turn with the exact error.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diorama_llm::{
    ChatError, ChatModel, ChatReply, ChatRequest, Identity, Message, OutputSchema, Place, Sampling, Soon,
};
use diorama_output::funnel::ModelUse;
use diorama_tested::mind::{ParseError, whole};
use diorama_tested::prompts::PromptError;
use serde_json::{Value as Json, json};

use super::prompts::PromptSet;
use crate::synthesis::asking::{self, Complaints};

/// Why the model gave no reply at all.
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
            ChatError::Refused { .. } | ChatError::Cassette(_) => Self::Fatal(what),
            _ => Self::Silent(what),
        }
    }

    /// What happened.
    #[must_use]
    pub fn what(&self) -> &str {
        match self {
            Self::Spent(what) | Self::Missing(what) | Self::Silent(what) | Self::Fatal(what) => what,
        }
    }
}

/// Why an agent has nothing to show.
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

impl From<PromptError> for Unasked {
    fn from(error: PromptError) -> Self {
        Self::Lost(Lost::Fatal(error.to_string()))
    }
}

/// What came of a request.
#[derive(Clone, Debug)]
pub struct Told<T> {
    /// What was read.
    pub value: T,
    /// The conversation with the model, its reply included, for one more turn.
    pub messages: Vec<Message>,
}

/// The model as one slot asks it.
pub struct Asker {
    model: Arc<dyn ChatModel>,
    prompts: Arc<PromptSet>,
    sampling: Sampling,
    slot: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    uses: BTreeMap<String, ModelUse>,
    lost: Option<Lost>,
}

/// What an agent asks.
pub struct Question<'a> {
    /// The agent.
    pub stage: &'a str,
    /// Which attempt, or which of several equal questions.
    pub number: u32,
    /// What is said.
    pub messages: Vec<Message>,
    /// The form of the answer.
    pub schema: Json,
}

impl Asker {
    /// The model for one slot.
    #[must_use]
    pub fn new(model: Arc<dyn ChatModel>, prompts: Arc<PromptSet>, sampling: Sampling, slot: u64) -> Self {
        Self { model, prompts, sampling, slot, state: Mutex::default() }
    }

    /// The prompts.
    #[must_use]
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
    ) -> Result<Told<T>, Unasked> {
        let Question { stage, number, messages, schema } = question;
        let request = ChatRequest {
            schema: Some(OutputSchema { name: stage.to_owned(), schema, strict: false }),
            ..ChatRequest::new(self.place(stage, number), messages, self.sampling.clone())
        };
        let read = |reply: &ChatReply, wrong: &mut Complaints| {
            let told = read_json(reply).and_then(|json| read(&json));
            told.map_err(|error| wrong.add(error.to_string())).ok()
        };
        let repair = |wrong: &Complaints| self.repair(&why(wrong));
        let answer = asking::ask(self, request, read, repair).await?;
        if let Some(error) = answer.failed {
            return Err(Lost::of(&error).into());
        }
        let malformed = || Unasked::Malformed(why(&answer.wrong));
        Ok(Told { value: answer.value.ok_or_else(malformed)?, messages: answer.messages })
    }

    /// Tells the model what is wrong with what it said, and asks once more.
    ///
    /// # Errors
    /// When there is no reply, or it is malformed.
    pub async fn again<T>(
        &self,
        question: Question<'_>,
        why: &str,
        read: impl Fn(&Json) -> Result<T, ParseError> + Send + Sync,
    ) -> Result<Told<T>, Unasked> {
        let mut messages = question.messages;
        messages.extend(self.repair(why)?);
        self.ask(Question { messages, ..question }, read).await
    }

    /// The model in the role of an agent under test; what it is asked is this stage's.
    #[must_use]
    pub fn as_model(self: &Arc<Self>, stage: &'static str) -> Arc<dyn ChatModel> {
        Arc::new(Relabelled { asker: Arc::clone(self), stage })
    }

    /// How tokens are drawn.
    #[must_use]
    pub fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// Where a request stands.
    #[must_use]
    pub fn place(&self, stage: &str, number: u32) -> Place {
        Place { stage: stage.to_owned(), slot: self.slot, attempt: number }
    }

    /// What was asked for so far, by stage.
    #[must_use]
    pub fn uses(&self) -> BTreeMap<String, ModelUse> {
        self.state().uses.clone()
    }

    /// Why the model gave no reply, where it ever did not.
    #[must_use]
    pub fn lost(&self) -> Option<Lost> {
        self.state().lost.clone()
    }

    fn repair(&self, why: &str) -> Result<Vec<Message>, PromptError> {
        self.prompts.render("repair", &json!({ "why": why }))
    }

    fn note(&self, request: &ChatRequest, result: &Result<ChatReply, ChatError>) {
        let mut state = self.state();
        match result {
            Ok(reply) => {
                let usage = reply.usage.unwrap_or_default();
                let (input_tokens, output_tokens) = (usage.input_tokens, usage.output_tokens);
                let uses = state.uses.entry(request.place.stage.clone()).or_default();
                uses.add(&ModelUse { replies: 1, input_tokens, output_tokens });
            }
            Err(error) => state.lost = Some(Lost::of(error)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is wrong, in one line.
fn why(wrong: &Complaints) -> String {
    wrong.list().join("; ")
}

/// The JSON of a whole reply that declines nothing.
fn read_json(reply: &ChatReply) -> Result<Json, ParseError> {
    if let Some(refusal) = &reply.refusal {
        return Err(ParseError::expected("JSON, not a refusal", refusal));
    }
    let json = reply.json();
    // What was cut short may be whole JSON all the same.
    json.or_else(|error| {
        whole(reply)?;
        Err(ParseError::expected(&format!("JSON ({error})"), &reply.content))
    })
}

impl ChatModel for Asker {
    fn identity(&self) -> &Identity {
        self.model.identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>> {
        Box::pin(async move {
            let result = self.model.chat(request).await;
            self.note(request, &result);
            result
        })
    }
}

/// The model under another stage's name.
struct Relabelled {
    asker: Arc<Asker>,
    stage: &'static str,
}

impl ChatModel for Relabelled {
    fn identity(&self) -> &Identity {
        self.asker.identity()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Soon<'a, Result<ChatReply, ChatError>> {
        Box::pin(async move {
            let mut request = request.clone();
            self.stage.clone_into(&mut request.place.stage);
            self.asker.chat(&request).await
        })
    }
}
