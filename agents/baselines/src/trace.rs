//! What an agent did, step by step, with what it asked of a model and what came back.
//!
//! [`Recording`] is an environment around another that writes everything down. A recorded episode can be acted again
//! ([`act_again`]) without a model, which is how stored runs are graded anew.

use std::collections::HashMap;

use diorama_llm::{FinishReason, Message, ToolCall, Usage};
use diorama_seeds::task::Call;
use diorama_simulator::engine::tools::TOOL_SEARCHER;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::environment::{Answer, Budget, Environment, EnvironmentError, Finish, Reply, Soon, View};

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
        /// Of a search: the APIs that it found.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        found: Vec<String>,
    },
    /// Words to the user.
    Said {
        /// The words.
        words: String,
        /// What the user answered.
        answer: Option<String>,
        /// Whether the conversation is over.
        over: bool,
    },
    /// The end of a goal.
    Finished {
        /// How.
        end: Finish,
        /// What the user said next.
        answer: Option<String>,
        /// Whether the conversation is over.
        over: bool,
    },
    /// Something that the environment did not do, with what it said.
    Refused {
        /// The end of a goal that is none.
        end: Option<Finish>,
        /// Why.
        error: EnvironmentError,
    },
    /// What the agent did beside acting.
    Noted(Note),
}

/// What an agent does beside acting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// It asked a model.
    Asked(Box<Asked>),
    /// A reply of the model is not of the form asked for; it is asked once more, with these words.
    Malformed {
        /// The role whose reply it is.
        role: String,
        /// What was found, and what was expected.
        what: String,
    },
    /// One way did not work, and the next was taken.
    FellBack {
        /// The role that did.
        role: String,
        /// The way that is taken now.
        to: String,
        /// Why the one before did not work.
        because: String,
    },
    /// It stopped before the conversation was over.
    GaveUp {
        /// Why.
        because: String,
    },
}

/// A request to a model, and the reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The role that the model plays.
    pub role: String,
    /// How many messages are those of the role's request before, which are not written again.
    pub same: usize,
    /// The messages that were sent after those.
    pub messages: Vec<Message>,
    /// Names of the tools that were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The text that came back.
    pub content: String,
    /// The reasoning that came back apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Why the model declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The calls that came back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Why the reply ends.
    pub finish_reason: FinishReason,
    /// Tokens, as the server reports them.
    pub usage: Option<Usage>,
}

impl Asked {
    /// The tokens that are taken from the budget: those reported, else one for each four bytes.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let guess = || {
            let sent = serde_json::to_string(&self.messages).map_or(0, |text| text.len());
            (sent + self.content.len()) as u64 / 4
        };
        self.usage.map_or_else(guess, Usage::total)
    }
}

/// An environment that writes down what is done in it.
pub struct Recording<'a> {
    inner: &'a mut dyn Environment,
    steps: Vec<Step>,
    /// What was sent last, by role.
    sent: HashMap<String, Vec<Message>>,
}

impl<'a> Recording<'a> {
    /// Writes down what is done in an environment.
    pub fn new(inner: &'a mut dyn Environment) -> Self {
        Self { inner, steps: Vec::new(), sent: HashMap::new() }
    }

    /// What was written down.
    #[must_use]
    pub fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    fn refused<T>(&mut self, end: Option<&Finish>, error: EnvironmentError) -> Result<T, EnvironmentError> {
        self.steps.push(Step::Refused { end: end.cloned(), error: error.clone() });
        Err(error)
    }

    /// Leaves out the messages that the role's request before had as well.
    fn shortened(&mut self, mut asked: Asked) -> Asked {
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

    fn call<'a>(&'a mut self, call: &'a Call) -> Soon<'a, Reply> {
        Box::pin(async move {
            match self.inner.call(call).await {
                Ok(reply) => {
                    let found = if call.api == TOOL_SEARCHER { names_found(&reply.body) } else { Vec::new() };
                    let Reply { status, body } = reply.clone();
                    self.steps.push(Step::Called { call: call.clone(), status, body, found });
                    Ok(reply)
                }
                Err(error) => self.refused(None, error),
            }
        })
    }

    fn say<'a>(&'a mut self, words: &'a str) -> Soon<'a, Answer> {
        Box::pin(async move {
            match self.inner.say(words).await {
                Ok(answer) => {
                    let Answer { words: said, over } = answer.clone();
                    self.steps.push(Step::Said { words: words.to_owned(), answer: said, over });
                    Ok(answer)
                }
                Err(error) => self.refused(None, error),
            }
        })
    }

    fn finish<'a>(&'a mut self, end: &'a Finish) -> Soon<'a, Answer> {
        Box::pin(async move {
            match self.inner.finish(end).await {
                Ok(answer) => {
                    let Answer { words, over } = answer.clone();
                    self.steps.push(Step::Finished { end: end.clone(), answer: words, over });
                    Ok(answer)
                }
                Err(error) => self.refused(Some(end), error),
            }
        })
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        self.inner.reply_schema(api)
    }

    fn note(&mut self, note: Note) -> Result<(), EnvironmentError> {
        let kept = match note.clone() {
            Note::Asked(asked) => Note::Asked(Box::new(self.shortened(*asked))),
            other => other,
        };
        self.steps.push(Step::Noted(kept));
        self.inner.note(note)
    }
}

/// Does again what was written down. What the environment refused then is not done again.
///
/// # Errors
/// What the environment does not do now.
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

/// The APIs that a search shows.
#[must_use]
pub fn names_found(body: &Json) -> Vec<String> {
    let tools = body.get("tools").and_then(Json::as_array).into_iter().flatten();
    tools.filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned)).collect()
}
