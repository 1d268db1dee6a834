//! Owns the trace of an episode: its actions and notes, step by step.
//!
//! [`Recording`] wraps an environment and records everything. A recorded episode can be repeated without a
//! model ([`act_again`]), to grade stored runs anew.

use std::collections::HashMap;

use diorama_engine::tools::TOOL_SEARCHER;
use diorama_llm::Message;
use diorama_seeds::task::Call;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use crate::note::{ModelExchange, Note};

use crate::environment::{
    Answer, Budget, Environment, EnvironmentError, EnvironmentFuture, Finish, Reply, View,
};
use crate::operation::Operation;

/// One step of an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// A call and its reply.
    Called {
        /// The call.
        #[serde(flatten)]
        call: Call,
        /// HTTP status.
        status: u16,
        /// The body.
        body: Json,
        /// The APIs that a search found.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        found: Vec<String>,
    },
    /// A message to the user.
    Said {
        /// The words.
        words: String,
        /// The user's answer.
        answer: Option<String>,
        /// True if the conversation is over.
        over: bool,
    },
    /// The end of a goal.
    Finished {
        /// The arguments of `finish`.
        end: Finish,
        /// The user's next request.
        answer: Option<String>,
        /// True if the conversation is over.
        over: bool,
    },
    /// An action that the environment refused.
    Refused {
        /// The refused end of a goal.
        end: Option<Finish>,
        /// The reason.
        error: EnvironmentError,
    },
    /// An event that is no action.
    Noted(Note),
}

/// An environment that records the actions and notes in another one.
pub struct Recording<'a> {
    inner: &'a mut dyn Environment,
    steps: Vec<Step>,
    /// The last request of each role.
    sent: HashMap<String, Vec<Message>>,
}

impl<'a> Recording<'a> {
    /// Records an environment.
    pub fn new(inner: &'a mut dyn Environment) -> Self {
        Self { inner, steps: Vec::new(), sent: HashMap::new() }
    }

    /// Returns the recorded steps.
    #[must_use]
    pub fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    /// Adds the step of a result. `end` is the end of a goal, if the action was one.
    fn record<T>(
        &mut self,
        result: Result<T, EnvironmentError>,
        end: Option<&Finish>,
        step: impl FnOnce(&T) -> Step,
    ) -> Result<T, EnvironmentError> {
        self.steps.push(match &result {
            Ok(value) => step(value),
            Err(error) => Step::Refused { end: end.cloned(), error: error.clone() },
        });
        result
    }

    /// Drops the messages that equal those of the role's previous request.
    fn without_repeats(&mut self, mut asked: ModelExchange) -> ModelExchange {
        let before = self.sent.insert(asked.role.clone(), asked.messages.clone()).unwrap_or_default();
        asked.same = before.iter().zip(&asked.messages).take_while(|(a, b)| a == b).count();
        asked.messages.drain(..asked.same);
        asked
    }
}

impl Environment for Recording<'_> {
    fn view(&self) -> &View {
        self.inner.view()
    }

    fn budget(&self) -> Budget {
        self.inner.budget()
    }

    fn call<'a>(&'a mut self, call: &'a Call) -> EnvironmentFuture<'a, Reply> {
        Box::pin(async move {
            let result = self.inner.call(call).await;
            self.record(result, None, |Reply { status, body }| Step::Called {
                call: call.clone(),
                status: *status,
                body: body.clone(),
                found: if call.api == TOOL_SEARCHER { names_found(body) } else { Vec::new() },
            })
        })
    }

    fn say<'a>(&'a mut self, words: &'a str) -> EnvironmentFuture<'a, Answer> {
        Box::pin(async move {
            let result = self.inner.say(words).await;
            self.record(result, None, |answer| Step::Said {
                words: words.to_owned(),
                answer: answer.words.clone(),
                over: answer.over,
            })
        })
    }

    fn finish<'a>(&'a mut self, end: &'a Finish) -> EnvironmentFuture<'a, Answer> {
        Box::pin(async move {
            let result = self.inner.finish(end).await;
            self.record(result, Some(end), |answer| Step::Finished {
                end: end.clone(),
                answer: answer.words.clone(),
                over: answer.over,
            })
        })
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        self.inner.reply_schema(api)
    }

    fn operation(&self, api: &str) -> Option<Operation> {
        self.inner.operation(api)
    }

    fn note(&mut self, note: Note) -> Result<(), EnvironmentError> {
        let kept = match note.clone() {
            Note::Asked(asked) => Note::Asked(Box::new(self.without_repeats(*asked))),
            other => other,
        };
        self.steps.push(Step::Noted(kept));
        self.inner.note(note)
    }
}

/// Repeats the recorded actions, without those that the environment refused.
///
/// # Errors
/// The first action that the environment refuses now.
pub async fn act_again(steps: &[Step], environment: &mut dyn Environment) -> Result<(), EnvironmentError> {
    for step in steps {
        match step {
            Step::Called { call, .. } => {
                environment.call(call).await?;
            }
            Step::Said { words, .. } => {
                environment.say(words).await?;
            }
            Step::Finished { end, .. } => {
                environment.finish(end).await?;
            }
            Step::Refused { .. } | Step::Noted(_) => {}
        }
    }
    Ok(())
}

/// Returns the names of the APIs in a search's reply.
#[must_use]
pub fn names_found(body: &Json) -> Vec<String> {
    let tools = body.get("tools").and_then(Json::as_array).into_iter().flatten();
    tools.filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned)).collect()
}
