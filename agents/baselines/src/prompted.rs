//! The baselines of Reverse Chain's paper (section 4): a plan of nested calls in one reply.
//!
//! Zero-shot and few-shot, each with and without chain of thought. The plan is read out of the reply and carried out, the
//! innermost calls first.

use diorama_llm::Message;
use serde::Serialize;

use crate::Agent;
use crate::ending::{self, finding};
use crate::environment::{Environment, Said, Soon};
use crate::mind::{Mind, ParseError, Stop, rest};
use crate::plan::{Known, carry_out, find};
use crate::prompts::{PromptError, render};
use crate::toolbox::{Document, documents, retrieve, transcript};
use crate::types::members;

/// The role's name.
pub const ROLE: &str = "plan";

/// What the prompt holds beside the APIs and the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shots {
    /// Nothing.
    Zero,
    /// An example.
    Few,
}

/// Whether the model writes its steps first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thoughts {
    /// The plan alone.
    Left,
    /// Chain of thought.
    Written,
}

/// The agent.
pub struct Prompted {
    mind: Mind,
    shots: Shots,
    thoughts: Thoughts,
}

/// An API as the prompt shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// `Name(argument, ..) -> what it gives`.
    pub form: String,
    /// What it does.
    pub description: String,
    /// Its arguments, as JSON Schema.
    pub parameters: serde_json::Value,
}

/// What the role is given.
#[derive(Clone, Debug, Serialize)]
pub struct Input<'a> {
    /// The system message.
    pub system: &'a str,
    /// The APIs.
    pub apis: &'a [Shown],
    /// The conversation.
    pub request: &'a str,
    /// Whether steps are written first.
    pub thoughts: bool,
}

impl Prompted {
    /// The agent with a model.
    #[must_use]
    pub const fn new(mind: Mind, shots: Shots, thoughts: Thoughts) -> Self {
        Self { mind, shots, thoughts }
    }

    async fn converse(&self, environment: &mut dyn Environment) -> Result<(), Stop> {
        while !environment.view().over {
            let request = transcript(environment.view());
            let wanted = environment.view().user_turns().last().unwrap_or_default().to_owned();
            retrieve(environment, &wanted).await?;
            let all = documents(environment.view());
            let known: Vec<Known> = all.iter().map(|document| known(environment, document)).collect();
            let apis: Vec<Shown> =
                all.iter().zip(&known).map(|(document, known)| shown(document, known)).collect();
            let system = environment.view().system.clone();
            let thoughts = self.thoughts == Thoughts::Written;
            let input = Input { system: &system, apis: &apis, request: &request, thoughts };
            let messages = prompt(self.shots, &input)?;
            let read = |reply: &str| {
                find(reply, &known)
                    .ok_or_else(|| ParseError::expected("a call such as Outer(a=Inner(b='x'), n=2)", reply))
            };
            let plan = self.mind.ask_and_parse(environment, ROLE, messages, read).await?;
            let before = environment.view().conversation.len();
            let reply = carry_out(environment, &plan, &all).await?;
            let made = environment.view().conversation.iter().skip(before);
            let findings: Vec<String> = made
                .filter_map(|said| match said {
                    Said::Call(call, reply) => Some(finding(call, reply.status, &reply.body)),
                    _ => None,
                })
                .collect();
            let answer = format!("{} answered {}: {}", plan.api, reply.status, reply.body);
            ending::end(&self.mind, environment, &answer, &findings.join("\n")).await?;
        }
        Ok(())
    }
}

impl Agent for Prompted {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            let result = self.converse(environment).await;
            rest(environment, result)
        })
    }
}

/// The messages of the role.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn prompt(shots: Shots, input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    match shots {
        Shots::Zero => render("reverse-chain/zero-shot", input),
        Shots::Few => render("reverse-chain/few-shot", input),
    }
}

/// An API with what it gives, by its reply's schema where the environment knows it.
fn known(environment: &dyn Environment, document: &Document) -> Known {
    let schema = environment.reply_schema(&document.name).unwrap_or_default();
    let gives = members(&schema).into_iter().map(|(name, _)| name.to_owned()).collect();
    Known { api: document.name.clone(), gives }
}

fn shown(document: &Document, known: &Known) -> Shown {
    let gives =
        if known.gives.is_empty() { String::new() } else { format!(" -> {}", known.gives.join(", ")) };
    Shown {
        form: format!("{}({}){gives}", document.name, document.places().join(", ")),
        description: document.description.clone(),
        parameters: document.parameters.clone(),
    }
}
