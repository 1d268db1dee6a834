//! The executor with the selector before it: a step of a plan, carried out.

use diorama_llm::Message;

use super::caller::{self, Called as Turn};
use super::parser::{self, Reading};
use super::selector::{self, Called, Selected};
use crate::ending::finding;
use crate::environment::Environment;
use crate::mind::{Mind, Stop};
use crate::toolbox::{documents, retrieve, shortened};

/// Operations for one selection: the call, and one more where it fails.
const OPERATIONS: usize = 3;
/// Characters of a reply that is not parsed.
const RAW: usize = 6_000;

/// Whether replies are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsing {
    /// By the parser.
    Parser,
    /// Not at all: the caller sees the reply itself, cut at a whole item.
    Left,
}

/// Carries out steps of a plan in one goal.
pub struct Executor<'a> {
    mind: &'a Mind,
    parsing: Parsing,
    background: String,
    plan: String,
    history: Vec<Called>,
    findings: Vec<String>,
    results: Vec<String>,
    /// The answer, where the selector said that no call is needed.
    answer: Option<String>,
}

impl<'a> Executor<'a> {
    /// An executor that has done nothing yet.
    #[must_use]
    pub const fn new(mind: &'a Mind, parsing: Parsing) -> Self {
        Self {
            mind,
            parsing,
            background: String::new(),
            plan: String::new(),
            history: Vec::new(),
            findings: Vec::new(),
            results: Vec::new(),
            answer: None,
        }
    }

    /// The replies so far, as they came.
    #[must_use]
    pub fn findings(&self) -> String {
        self.findings.join("\n")
    }

    /// What came of the steps so far, a line each.
    #[must_use]
    pub fn results(&self) -> String {
        self.results.iter().map(|result| format!("{result}\n")).collect()
    }

    /// The answer, where the last selection needed no call.
    pub const fn take_answer(&mut self) -> Option<String> {
        self.answer.take()
    }

    /// Carries out a new step.
    ///
    /// # Errors
    /// When the environment or the model ends it, or a role's reply cannot be read.
    pub async fn begin(
        &mut self,
        environment: &mut dyn Environment,
        background: &str,
        plan: &str,
    ) -> Result<String, Stop> {
        self.background = background.to_owned();
        self.plan = plan.to_owned();
        self.history.clear();
        retrieve(environment, plan).await?;
        self.execute(environment, None).await
    }

    /// Goes on with the step, with another call.
    ///
    /// # Errors
    /// As [`Executor::begin`].
    pub async fn go_on(
        &mut self,
        environment: &mut dyn Environment,
        instruction: &str,
    ) -> Result<String, Stop> {
        if !instruction.is_empty() {
            retrieve(environment, instruction).await?;
        }
        self.execute(environment, Some(instruction)).await
    }

    async fn execute(
        &mut self,
        environment: &mut dyn Environment,
        instruction: Option<&str>,
    ) -> Result<String, Stop> {
        let known = selector::known(&documents(environment.view()));
        let input = selector::Input {
            apis: &known,
            background: &self.background,
            plan: &self.plan,
            history: &self.history,
            instruction,
        };
        let messages = selector::prompt(&input)?;
        let read = |reply: &str| selector::parse(reply, &known);
        let selected = self.mind.ask_and_parse(environment, selector::ROLE, messages, read).await?;
        let (calling, apis) = match selected {
            Selected::Known(answer) => {
                self.answer = Some(answer.clone());
                return Ok(answer);
            }
            Selected::Call { calling, apis } => (calling, apis),
        };
        let result = self.call(environment, &calling, &apis).await?;
        let instruction = instruction.map(str::to_owned);
        self.history.push(Called { instruction, calling, response: result.clone() });
        self.results.push(result.clone());
        Ok(result)
    }

    /// Makes a planned call; what came of it in words.
    async fn call(
        &mut self,
        environment: &mut dyn Environment,
        calling: &str,
        apis: &[String],
    ) -> Result<String, Stop> {
        let all = documents(environment.view());
        let planned: Vec<_> = all.iter().filter(|document| apis.contains(&document.name)).collect();
        let history = self.history.iter().map(|called| &*called.response);
        let background: Vec<&str> = std::iter::once(&*self.background).chain(history).collect();
        let background = background.join("\n");
        let input = caller::Input {
            system: &environment.view().system,
            documents: planned,
            background: &background,
            plan: calling,
        };
        let mut messages = caller::prompt(&input)?;
        for _ in 0..OPERATIONS + apis.len() {
            let read = |reply: &str| caller::parse(reply, apis).map(|turn| (turn, reply.to_owned()));
            let told = self.mind.ask_and_parse(environment, caller::ROLE, messages.clone(), read).await?;
            let (call, about, instructions, said) = match told {
                (Turn::Result(result), _) => return Ok(result),
                (Turn::Operation { call, description, instructions }, said) => {
                    (call, description, instructions, said)
                }
            };
            let reply = environment.call(&call).await?;
            self.findings.push(finding(&call, reply.status, &reply.body));
            let read = if reply.status >= 400 || self.parsing == Parsing::Left {
                format!("status {}: {}", reply.status, shortened(&reply.body, RAW))
            } else {
                let document = all.iter().find(|document| document.name == call.api);
                let reading = Reading {
                    call: &call,
                    api_description: document.map_or("", |document| &*document.description),
                    body: &reply.body,
                    about: &about,
                    instructions: if instructions.is_empty() { calling } else { &instructions },
                };
                parser::read(self.mind, environment, &reading).await?
            };
            messages.push(Message::assistant(said.split("\nResponse:").next().unwrap_or_default()));
            messages.push(Message::user(format!("Response: {read}")));
        }
        Err(Stop::Ended("the caller makes call after call without a result".to_owned()))
    }
}
