//! The selector and the executor: a step of a plan, carried out.

use diorama_llm::Message;
use minijinja::context;
use serde::Serialize;

use super::parser;
use super::roles::{CALLER, CallerTurn, SELECTOR, Selection, parse_caller_turn, parse_selection};
use crate::episode::Episode;
use crate::role_model::Stop;
use crate::toolbox::{Document, shorten};

/// Turns of the caller for one selection beyond one for each planned API: a retry, and the result.
const MAX_EXTRA_TURNS: usize = 3;
/// Characters of a reply that is not parsed.
const MAX_RAW_CHARS: usize = 6_000;

/// The parsing of replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsing {
    /// By the parser.
    Parser,
    /// None: the caller sees the reply itself, cut at a whole item.
    None,
}

/// Carries out the steps of a plan for one goal.
pub(crate) struct Executor {
    parsing: Parsing,
    background: String,
    plan: String,
    history: Vec<SelectedCall>,
}

/// A call for the present step, as the selector is shown it.
#[derive(Serialize)]
struct SelectedCall {
    /// The instruction that the call follows, from the second call on.
    instruction: Option<String>,
    calling: String,
    response: String,
}

/// The result of a step.
pub(crate) struct StepResult {
    pub text: String,
    /// True where the selector answered without a call.
    pub is_answer: bool,
}

impl Executor {
    pub(crate) const fn new(parsing: Parsing) -> Self {
        Self { parsing, background: String::new(), plan: String::new(), history: Vec::new() }
    }

    /// Carries out a new step.
    pub(crate) async fn start(
        &mut self,
        episode: &mut Episode<'_>,
        background: String,
        plan: &str,
    ) -> Result<StepResult, Stop> {
        (self.background, self.plan) = (background, plan.to_owned());
        self.history.clear();
        episode.search(plan).await?;
        self.execute(episode, None).await
    }

    /// Continues the step with another call.
    pub(crate) async fn resume(
        &mut self,
        episode: &mut Episode<'_>,
        instruction: &str,
    ) -> Result<StepResult, Stop> {
        if !instruction.is_empty() {
            episode.search(instruction).await?;
        }
        self.execute(episode, Some(instruction)).await
    }

    async fn execute(
        &mut self,
        episode: &mut Episode<'_>,
        instruction: Option<&str>,
    ) -> Result<StepResult, Stop> {
        let apis = episode.documents();
        let Self { background, plan, history, .. } = &*self;
        let input = context! { apis, background, plan, history, instruction };
        let parse = |reply: &str| parse_selection(reply, &apis);
        let (calling, planned) = match episode.ask(SELECTOR, input, parse).await? {
            Selection::Answer(text) => return Ok(StepResult { text, is_answer: true }),
            Selection::Call { calling, apis } => (calling, apis),
        };
        let text = self.call(episode, &apis, &calling, &planned).await?;
        let instruction = instruction.map(str::to_owned);
        self.history.push(SelectedCall { instruction, calling, response: text.clone() });
        episode.results.push_str(&format!("{text}\n"));
        Ok(StepResult { text, is_answer: false })
    }

    /// Has the caller make a planned call; returns its result in words.
    async fn call(
        &self,
        episode: &mut Episode<'_>,
        apis: &[Document],
        calling: &str,
        planned: &[String],
    ) -> Result<String, Stop> {
        let documents: Vec<_> = apis.iter().filter(|api| planned.contains(&api.name)).collect();
        let responses = self.history.iter().map(|call| &*call.response);
        let background: Vec<&str> = std::iter::once(&*self.background).chain(responses).collect();
        let background = background.join("\n");
        let input = context! { documents, background, plan => calling };
        let mut messages = episode.prompt(CALLER, input)?;
        for _ in 0..MAX_EXTRA_TURNS + planned.len() {
            let parse = |reply: &str| parse_caller_turn(reply, planned).map(|turn| (turn, reply.to_owned()));
            let (turn, words) = episode.ask_with(CALLER, messages.clone(), parse).await?;
            let (call, description, instructions) = match turn {
                CallerTurn::Result(result) => return Ok(result),
                CallerTurn::Operation { call, description, instructions } => {
                    (call, description, instructions)
                }
            };
            let reply = episode.call(&call).await?;
            let response = if reply.status >= 400 || self.parsing == Parsing::None {
                format!("status {}: {}", reply.status, shorten(&reply.body, MAX_RAW_CHARS))
            } else {
                let api = documents.iter().find(|document| document.name == call.api);
                let question = if instructions.is_empty() { calling } else { &instructions };
                let api_description = api.map_or("", |api| &*api.description);
                let input = context! { api => call.api, api_description, about => description, instructions => question };
                parser::read(episode, &call, &reply.body, input).await?
            };
            messages.push(Message::assistant(words.split("\nResponse:").next().unwrap_or_default()));
            messages.push(Message::user(format!("Response: {response}")));
        }
        Err(Stop::Ended("the caller makes call after call without a result".to_owned()))
    }
}
