//! How the authors ask a model: one step at a time, with one more turn where a reply cannot be used.

use std::sync::{Arc, Mutex, PoisonError};

use diorama_llm::{
    ChatError, ChatModel, ChatReply, ChatRequest, Message, OutputSchema, Place, Sampling, json_in,
};
use diorama_tested::mind::{said, whole};
use diorama_tested::prompts::{self, PromptError};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::funnel::{Funnel, Loss};
use crate::synthesis::asking;
pub use crate::synthesis::asking::Complaints;

/// One thing that a model is asked for: what it is told, and how its reply is read. Both are pure.
pub trait Step: Sync {
    /// What comes of it.
    type Output: Serialize + Send;
    /// The stage, which is the name of its prompt under `agents/prompts/authoring/`.
    const NAME: &'static str;

    /// What the prompt's file is filled in with.
    fn input(&self) -> Json;

    /// The form of the reply; none where it is no JSON.
    fn schema(&self) -> Option<Json>;

    /// Reads the reply, as far as it can be used, and says what is wrong with the rest.
    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Self::Output>;

    /// The messages of the first turn.
    ///
    /// # Errors
    /// When the prompt's file names what the step does not give.
    fn prompt(&self) -> Result<Vec<Message>, PromptError> {
        prompts::render(&format!("authoring/{}", Self::NAME), &self.input())
    }
}

/// Finds the JSON of a reply.
pub fn read_json(reply: &str, wrong: &mut Complaints) -> Option<Json> {
    match json_in(reply) {
        Ok(json) => Some(json),
        Err(error) => {
            wrong.add(error.to_string());
            None
        }
    }
}

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The budget is used up; what is written so far is kept.
    #[error("{0}")]
    Spent(String),
    /// The model cannot be asked.
    #[error(transparent)]
    Model(#[from] ChatError),
    /// A prompt's file is wrong.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// What decides about nearness cannot be loaded.
    #[error(transparent)]
    Embed(#[from] diorama_simulator::embed::EmbedError),
    /// A task ended before its time.
    #[error("a task ended before its work was done")]
    Worker,
}

/// What came of one step, for people who want to see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stage {
    /// The step.
    pub stage: &'static str,
    /// The slot: the number of the domain.
    pub slot: u64,
    /// Which of the slot's steps of this name.
    pub number: u32,
    /// Turns taken, 1 or 2.
    pub turns: u32,
    /// What was wrong with the last reply.
    pub wrong: Vec<String>,
    /// What was read; null where nothing could be.
    pub output: Json,
}

/// A model as the author of one slot asks it.
pub struct Asker {
    model: Arc<dyn ChatModel>,
    sampling: Sampling,
    slot: u64,
    notes: Mutex<(Vec<Stage>, Funnel)>,
}

impl Asker {
    /// The model for one slot.
    #[must_use]
    pub fn new(model: Arc<dyn ChatModel>, sampling: Sampling, slot: u64) -> Self {
        Self { model, sampling, slot, notes: Mutex::default() }
    }

    /// What was asked and came of it.
    #[must_use]
    pub fn into_notes(self) -> (Vec<Stage>, Funnel) {
        self.notes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a step. A reply with something wrong goes back once with what is wrong; of the two, the first that is
    /// without fault is taken, else the last that can be used. Nothing where neither can.
    ///
    /// # Errors
    /// When the model cannot be asked at all.
    pub async fn ask<S: Step>(&self, number: u32, step: &S) -> Result<Option<S::Output>, Stop> {
        let place = Place { stage: format!("author/{}", S::NAME), slot: self.slot, attempt: number };
        let schema = step.schema().map(|schema| OutputSchema {
            name: S::NAME.to_owned(),
            schema,
            // Servers that are strict refuse bounds on lengths, and those keep weak models from running on.
            strict: false,
        });
        let request =
            ChatRequest { schema, ..ChatRequest::new(place, step.prompt()?, self.sampling.clone()) };
        let mut loss = Loss::Form;
        let read = |reply: &ChatReply, wrong: &mut Complaints| {
            let text = said(reply);
            let output = step.parse(&text, wrong);
            if output.is_none() {
                loss = lost(reply, &text, wrong);
            }
            output
        };
        let repair =
            |wrong: &Complaints| prompts::render("authoring/repair", &json!({ "wrong": wrong.list() }));
        let answer = asking::ask(&*self.model, request, read, repair).await?;
        if let Some(error) = answer.failed {
            bear(error)?;
            loss = Loss::NoReply;
        }
        self.note::<S>(number, answer.replies, &answer.wrong, answer.value.as_ref().ok_or(loss));
        Ok(answer.value)
    }

    fn note<S: Step>(&self, number: u32, turns: u32, wrong: &Complaints, kept: Result<&S::Output, Loss>) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.1.asked(S::NAME, turns, wrong, kept.err());
        let output = kept.ok().and_then(|output| serde_json::to_value(output).ok()).unwrap_or_default();
        let (slot, wrong) = (self.slot, wrong.list().to_vec());
        notes.0.push(Stage { stage: S::NAME, slot, number, turns, wrong, output });
    }

    /// Adds to the slot's funnel.
    pub fn count(&self, add: impl FnOnce(&mut Funnel)) {
        add(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner).1);
    }

    /// Keeps something made without the model beside the model's own stages.
    pub fn keep(&self, stage: &'static str, output: Json) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = self.slot;
        notes.0.push(Stage { stage, slot, number: 0, turns: 0, wrong: Vec::new(), output });
    }
}

/// Does without a reply that the server does not give to this request and may give to others.
fn bear(error: ChatError) -> Result<(), Stop> {
    match error {
        ChatError::Exhausted(spent) => Err(Stop::Spent(spent.to_string())),
        ChatError::Refused { status: 400 | 413 | 422, .. } => Ok(()),
        ChatError::GaveUp { last, .. } if !matches!(*last, ChatError::Unreachable { .. }) => Ok(()),
        error => Err(error.into()),
    }
}

/// Why nothing in a reply could be used; a reply that was cut short says so, because a shorter one may do.
fn lost(reply: &ChatReply, text: &str, wrong: &mut Complaints) -> Loss {
    if let Err(cut) = whole(reply) {
        wrong.add_first(format!("{cut}; write less"));
        return Loss::Cut;
    }
    if reply.refusal.is_some() {
        return Loss::Refusal;
    }
    if json_in(text).is_err() { Loss::NoJson } else { Loss::Form }
}
