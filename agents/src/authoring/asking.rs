//! Owns the requests of the authors to a model: one step at a time, with one more turn for an unusable
//! reply.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diorama_baselines::prompts::{self, PromptError};
use diorama_llm::{
    ChatError, ChatModel, ChatReply, ChatRequest, Message, ModelSource, OutputSchema, RequestOrigin,
    Sampling, ask_and_repair, json_in,
};
use serde::Serialize;
use serde_json::{Value as Json, json};

pub use super::complaints::Complaints;
use super::funnel::{Funnel, Loss};

/// A request to a model: its prompt, and the parser of its reply. Both are pure.
pub trait Step: Sync {
    /// Parsed value of a reply.
    type Output: Serialize + Send;
    /// Name of the step and of its prompt under `agents/prompts/pipeline/`.
    const NAME: &'static str;

    /// Returns the values for the template of the prompt.
    fn input(&self) -> Json;

    /// Returns the JSON Schema of the reply, or none if the reply is not JSON.
    fn schema(&self) -> Option<Json>;

    /// Parses the usable part of a reply, and adds complaints about the rest.
    fn parse(&self, reply: &str, wrong: &mut Complaints) -> Option<Self::Output>;

    /// Returns the messages of the first turn.
    ///
    /// # Errors
    /// Returns an error if the template names a value that the step does not give.
    fn prompt(&self) -> Result<Vec<Message>, PromptError> {
        prompts::render(&format!("pipeline/{}", Self::NAME), &self.input())
    }
}

/// Runs work of seconds, such as playing scenarios, on a thread of its own, because it would block the
/// threads that wait for the model.
///
/// # Errors
/// Returns an error if the work panics.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Stop> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Stop::Worker)
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

/// Reasons for which a run cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The budget is used up. Finished worlds are kept.
    #[error("{0}")]
    Spent(String),
    /// The request to the model failed.
    #[error(transparent)]
    Model(#[from] ChatError),
    /// The template of a prompt is invalid.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The embedding model that compares domains cannot be loaded.
    #[error(transparent)]
    Embed(#[from] diorama_engine::embed::EmbedError),
    /// The catalog, from which examples are drawn, is damaged.
    #[error(transparent)]
    Examples(#[from] super::examples::ExamplesError),
    /// A task panicked.
    #[error("a task ended before its work was done")]
    Worker,
}

/// Record of one step, for people who inspect a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepRecord {
    /// Name of the step.
    pub step: &'static str,
    /// Slot, which is the number of the domain.
    pub slot: u64,
    /// Number of the step among those of its name in the slot.
    pub number: u32,
    /// Turns, 1 or 2.
    pub turns: u32,
    /// Complaints about the last reply.
    pub wrong: Vec<String>,
    /// Parsed value, or null if there is none.
    pub output: Json,
}

/// Notes of a run: the records of all steps, and the funnel.
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<Mutex<(Vec<StepRecord>, Funnel)>>);

impl Notes {
    /// Updates the funnel.
    pub fn count(&self, add: impl FnOnce(&mut Funnel)) {
        add(&mut self.lock().1);
    }

    /// Takes the records of steps, in the order of slots, and the funnel.
    pub fn take(&self) -> (Vec<StepRecord>, Funnel) {
        let (mut steps, funnel) = std::mem::take(&mut *self.lock());
        // The sort is stable, and each slot adds its steps in order.
        steps.sort_by_key(|step| step.slot);
        (steps, funnel)
    }

    fn lock(&self) -> MutexGuard<'_, (Vec<StepRecord>, Funnel)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends the requests of one slot to the model.
pub struct Asker {
    model: Arc<dyn ChatModel>,
    sampling: Sampling,
    slot: u64,
    /// Notes that receive the records of the steps.
    pub notes: Notes,
}

impl Asker {
    /// Makes the asker of one slot.
    pub const fn new(model: Arc<dyn ChatModel>, sampling: Sampling, slot: u64, notes: Notes) -> Self {
        Self { model, sampling, slot, notes }
    }

    /// Asks the model for a step. A reply with complaints goes back once. Returns the value of the last
    /// usable reply, or none if there is none.
    ///
    /// # Errors
    /// Returns an error if the model cannot be asked.
    pub async fn ask<S: Step>(&self, number: u32, step: &S) -> Result<Option<S::Output>, Stop> {
        let origin = RequestOrigin { step: S::NAME.to_owned(), row: self.slot, attempt: number };
        let schema = step.schema().map(|schema| OutputSchema { name: S::NAME.to_owned(), schema });
        let request = ChatRequest { schema, ..ChatRequest::new(origin, Vec::new(), self.sampling.clone()) };
        let repair = |problem: &str| -> Result<Vec<Message>, Stop> {
            let wrong: Vec<&str> = problem.lines().collect();
            Ok(prompts::render("pipeline/repair", &json!({ "wrong": wrong }))?)
        };
        let mut source = ModelSource { model: &*self.model, request, repair, replies: 0 };
        let (mut value, mut wrong, mut loss) = (None, Complaints::default(), Loss::Form);
        let parse = |reply: &ChatReply| {
            let text = reply.spoken();
            wrong = Complaints::default();
            let parsed = step.parse(&text, &mut wrong);
            if parsed.is_none() {
                loss = lost(reply, &text, &mut wrong);
            }
            value = parsed.or_else(|| value.take());
            if wrong.is_empty() { Ok(()) } else { Err(wrong.list().join("\n")) }
        };
        let asked = ask_and_repair(&mut source, &mut step.prompt()?, parse).await;
        match asked {
            Ok(_) => {}
            Err(Stop::Model(error)) => {
                bear(error)?;
                loss = Loss::NoReply;
            }
            Err(stop) => return Err(stop),
        }
        self.note::<S>(number, source.replies, &wrong, value.as_ref().ok_or(loss));
        Ok(value)
    }

    fn note<S: Step>(&self, number: u32, turns: u32, wrong: &Complaints, kept: Result<&S::Output, Loss>) {
        self.count(|funnel| funnel.asked(S::NAME, turns, wrong, kept.err()));
        let output = kept.ok().and_then(|output| serde_json::to_value(output).ok()).unwrap_or_default();
        let (slot, wrong) = (self.slot, wrong.list().to_vec());
        self.notes.lock().0.push(StepRecord { step: S::NAME, slot, number, turns, wrong, output });
    }

    /// Updates the funnel.
    pub fn count(&self, add: impl FnOnce(&mut Funnel)) {
        self.notes.count(add);
    }

    /// Adds a record of a step without the model.
    pub fn keep(&self, step: &'static str, output: Json) {
        let record = StepRecord { step, slot: self.slot, number: 0, turns: 0, wrong: Vec::new(), output };
        self.notes.lock().0.push(record);
    }
}

/// Accepts the loss of a reply that the server refuses to this request alone. Other errors stop the run.
fn bear(error: ChatError) -> Result<(), Stop> {
    match error {
        ChatError::Exhausted(spent) => Err(Stop::Spent(spent.to_string())),
        ChatError::Refused { status: 400 | 413 | 422, .. } => Ok(()),
        ChatError::GaveUp { last, .. }
            if !matches!(*last, ChatError::Unreachable { .. } | ChatError::JsonModeRefused { .. }) =>
        {
            Ok(())
        }
        error => Err(error.into()),
    }
}

/// Returns the reason for which a reply is unusable. A complaint about a truncated reply asks for a
/// shorter one.
fn lost(reply: &ChatReply, text: &str, wrong: &mut Complaints) -> Loss {
    if let Err(cut) = reply.check_complete() {
        wrong.add_first(format!("{cut}; write less"));
        return Loss::Cut;
    }
    if reply.refusal.is_some() {
        return Loss::Refusal;
    }
    if json_in(text).is_err() { Loss::NoJson } else { Loss::Form }
}

#[cfg(test)]
mod tests {
    use diorama_llm::JsonMode;

    use super::*;

    #[tokio::test]
    async fn work_of_seconds_holds_up_no_conversation() {
        let (sender, receiver) = std::sync::mpsc::channel();
        // On the only thread of this runtime the work would block the send below.
        let work = run_blocking(move || receiver.recv_timeout(std::time::Duration::from_secs(60)).is_ok());
        let (worked, sent) = tokio::join!(work, async move { sender.send(()) });
        assert!(worked.unwrap() && sent.is_ok());
    }

    #[test]
    fn a_json_mode_that_the_server_refuses_ends_the_run_and_other_refusals_do_not() {
        let refused = |status| {
            let (url, said) = (String::new(), String::new());
            ChatError::JsonModeRefused { status, url, said, mode: JsonMode::JsonSchema }
        };
        let given_up = |last| ChatError::GaveUp { attempts: 8, last: Box::new(last) };
        assert!(matches!(bear(refused(400)), Err(Stop::Model(_))));
        assert!(matches!(bear(given_up(refused(500))), Err(Stop::Model(_))));
        let lost = ChatError::LostReply { found: String::new(), usage: None };
        assert!(bear(given_up(lost)).is_ok());
        let advice = "check that the model takes these settings";
        let too_long = ChatError::Refused { status: 400, url: String::new(), said: String::new(), advice };
        assert!(bear(too_long).is_ok());
    }
}
