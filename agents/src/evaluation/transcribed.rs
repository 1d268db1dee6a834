//! Owns transcribed answers: a model fills in `finish` from the words of an agent that ends goals with
//! messages.
//!
//! The agent is in a conversation without `finish`. The model sees one message, the user's last turn and the
//! schema of the open goal's `finish`, never a check. Its answer is validated like that of an agent. The
//! figures measure agent and transcriber together; reports say so, and the figures are no reward.

use std::sync::Arc;

use diorama_baselines::environment::{
    Answer, Budget, Environment, EnvironmentError, EnvironmentFuture, Finish, Reply, View,
};
use diorama_baselines::operation::Operation;
use diorama_baselines::prompts::render;
use diorama_baselines::toolbox::finish_schema;
use diorama_baselines::trace::Note;
use diorama_llm::{ChatModel, ChatRequest, Message, RequestOrigin, Sampling, json_in};
use diorama_seeds::task::Call;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Name of the role in notes and recordings.
const ROLE: &str = "transcriber";
/// Maximum number of replies until one is usable.
const MAX_REPLIES: usize = 2;

/// The author of `finish`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// The agent, whose facts are compared by type.
    #[default]
    Structured,
    /// A model, from the agent's messages.
    Transcribed,
}

/// Model that transcribes.
pub struct Transcriber {
    /// Chat model.
    pub model: Arc<dyn ChatModel>,
    /// Sampling of tokens, with the maximum length of a reply.
    pub sampling: Sampling,
}

/// Environment in which a model writes `finish` when a message of the agent ends a goal.
pub struct TranscribedEnvironment<'a> {
    inner: &'a mut dyn Environment,
    transcriber: Arc<Transcriber>,
    origin: RequestOrigin,
    /// View of the inner environment without `finish`.
    view: View,
}

impl<'a> TranscribedEnvironment<'a> {
    /// Wraps an environment. `row` and `attempt` distinguish the requests of episodes.
    pub fn new(
        inner: &'a mut dyn Environment,
        transcriber: Arc<Transcriber>,
        row: u64,
        attempt: u32,
    ) -> Self {
        let origin = RequestOrigin { step: ROLE.to_owned(), row, attempt };
        let mut environment = Self { inner, transcriber, origin, view: View::default() };
        environment.look();
        environment
    }

    /// Copies the view of the inner environment.
    fn look(&mut self) {
        self.view.clone_from(self.inner.view());
        self.view.replace_finish(None);
    }

    /// Passes a message on: as `finish` if it ends the open goal, else as words.
    async fn pass_on(&mut self, words: &str) -> Result<Answer, EnvironmentError> {
        let answered = match finish_schema(self.inner.view()).cloned() {
            Some(schema) => self.transcribe(words, &schema).await,
            None => self.inner.say(words).await,
        };
        self.look();
        answered
    }

    async fn transcribe(&mut self, words: &str, schema: &Json) -> Result<Answer, EnvironmentError> {
        let request = self.view.user_turns().last().unwrap_or_default();
        let input = json!({"answer": words, "request": request, "schema": schema});
        let unasked = |what: String| EnvironmentError::Model { what };
        let mut messages = render("ending/transcribe", &input).map_err(|error| unasked(error.to_string()))?;
        for _ in 0..MAX_REPLIES {
            let Transcriber { model, sampling } = &*self.transcriber;
            let request = ChatRequest::new(self.origin.clone(), messages.clone(), sampling.clone());
            let reply = model.chat(&request).await.map_err(|error| unasked(error.to_string()))?.spoken();
            let problem = match read(&reply, words) {
                Ok(None) => return self.inner.say(words).await,
                Ok(Some(finish)) => match self.inner.finish(&finish).await {
                    Err(EnvironmentError::Refused { detail, .. }) => detail,
                    answered => return answered,
                },
                Err(problem) => problem,
            };
            self.inner.note(Note::Malformed { role: ROLE.to_owned(), what: problem.clone() })?;
            messages.push(Message::assistant(reply));
            messages.push(Message::user(format!("That cannot be used: {problem}. Give it again.")));
        }
        // The message is passed on as words and ends no goal.
        self.inner.say(words).await
    }
}

/// Parses the `finish` in a reply. None means that the message ends no goal.
fn read(reply: &str, words: &str) -> Result<Option<Finish>, String> {
    let json = json_in(reply).map_err(|error| error.to_string())?;
    let finish: Option<Finish> = serde_json::from_value(json).map_err(|error| error.to_string())?;
    Ok(finish.map(|finish| Finish { message: words.to_owned(), ..finish }))
}

impl Environment for TranscribedEnvironment<'_> {
    fn view(&self) -> &View {
        &self.view
    }

    fn budget(&self) -> Budget {
        self.inner.budget()
    }

    fn call<'a>(&'a mut self, call: &'a Call) -> EnvironmentFuture<'a, Reply> {
        Box::pin(async move {
            let reply = self.inner.call(call).await;
            self.look();
            reply
        })
    }

    fn say<'a>(&'a mut self, words: &'a str) -> EnvironmentFuture<'a, Answer> {
        Box::pin(self.pass_on(words))
    }

    /// Treats `finish` as a message, for an agent that calls it although no tool offers it.
    fn finish<'a>(&'a mut self, end: &'a Finish) -> EnvironmentFuture<'a, Answer> {
        Box::pin(self.pass_on(&end.message))
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        self.inner.reply_schema(api)
    }

    fn operation(&self, api: &str) -> Option<Operation> {
        self.inner.operation(api)
    }

    fn note(&mut self, note: Note) -> Result<(), EnvironmentError> {
        self.inner.note(note)
    }
}
