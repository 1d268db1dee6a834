//! The baselines that RestGPT's paper compares with, each over RestGPT's executor: Offline, DEPS, Reflexion.
//!
//! Offline plans once and carries the plan out as it stands. DEPS (describe, explain, plan and select) plans again after each
//! step, ten at most. Reflexion makes a second trial, told what was wrong with the first; the world stays as the first left it, since
//! nothing but the user's word ends a goal.

use diorama_llm::Message;
use serde::Serialize;

use crate::Agent;
use crate::ending;
use crate::environment::{Environment, Soon};
use crate::mind::{Mind, ParseError, Stop, rest};
use crate::prompts::{PromptError, render};
use crate::restgpt::executor::{Executor, Parsing};
use crate::restgpt::planner::{Done, known};
use crate::restgpt::selector;
use crate::toolbox::{documents, retrieve, transcript};

/// Steps of a plan that is carried out as it stands.
const PLAN: usize = 12;
/// Steps of DEPS, as in the paper.
const STEPS: usize = 10;
/// Trials of Reflexion, as in the paper.
const TRIALS: usize = 2;

/// Which baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Plans once.
    Offline,
    /// Plans again after each step.
    Deps,
    /// Tries twice.
    Reflexion,
}

/// A baseline.
pub struct Planned {
    mind: Mind,
    baseline: Baseline,
}

/// What a planner of the baselines is given.
#[derive(Clone, Debug, Serialize)]
pub struct Input<'a> {
    /// The system message.
    pub system: &'a str,
    /// The visible APIs.
    pub apis: &'a [selector::Known],
    /// What is known from goals before, or of a trial before.
    pub background: &'a str,
    /// What the user wants.
    pub request: &'a str,
    /// What was done.
    pub history: &'a [Done],
    /// The answer that is judged.
    pub answer: &'a str,
}

/// What DEPS wants after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replan {
    /// These steps are left.
    Steps(Vec<String>),
    /// It is finished; the answer.
    End(String),
}

/// The messages of a role, by its file.
///
/// # Errors
/// When the prompt's file is wrong.
pub fn prompt(name: &str, input: &Input<'_>) -> Result<Vec<Message>, PromptError> {
    render(name, input)
}

/// Reads the numbered steps of a plan.
///
/// # Errors
/// When there are none.
pub fn parse_plan(reply: &str) -> Result<Vec<String>, ParseError> {
    let step = |line: &str| {
        let rest = line.trim().trim_start_matches("Step ").trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = rest.len() < line.trim().len();
        let step = rest.trim_start_matches(['.', ')', ':', ' ']).trim();
        (numbered && !step.is_empty()).then(|| step.to_owned())
    };
    let steps: Vec<String> = reply.lines().filter_map(step).take(PLAN).collect();
    if steps.is_empty() { Err(ParseError::expected("numbered steps, one a line", reply)) } else { Ok(steps) }
}

/// Reads what DEPS says after a step.
///
/// # Errors
/// When there is neither a plan nor an answer.
pub fn parse_replan(reply: &str) -> Result<Replan, ParseError> {
    if let Some((_, answer)) =
        reply.split_once("Final Answer:").filter(|(_, answer)| !answer.trim().is_empty())
    {
        return Ok(Replan::End(answer.trim().to_owned()));
    }
    let plan = reply.split_once("Plan:").map_or(reply, |(_, plan)| plan);
    parse_plan(plan).map(Replan::Steps)
}

/// Reads a verdict: none for success, else what is to be done instead.
///
/// # Errors
/// When it is neither.
pub fn parse_verdict(reply: &str) -> Result<Option<String>, ParseError> {
    let text = reply.trim();
    let text = text.strip_prefix("Verdict:").map_or(text, str::trim);
    if text.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("success")) {
        return Ok(None);
    }
    match text.get(..7).filter(|word| word.eq_ignore_ascii_case("failure")).and(text.get(7..)) {
        Some(why) => Ok(Some(why.trim_start_matches([':', ' ']).trim().to_owned())),
        None => Err(ParseError::expected("`Success` or `Failure:`", reply)),
    }
}

/// Reads words.
fn parse_words(reply: &str) -> Result<String, ParseError> {
    match reply.trim() {
        "" => Err(ParseError::expected("an answer", reply)),
        words => Ok(words.to_owned()),
    }
}

impl Planned {
    /// A baseline with a model.
    #[must_use]
    pub const fn new(mind: Mind, baseline: Baseline) -> Self {
        Self { mind, baseline }
    }

    async fn converse(&self, environment: &mut dyn Environment) -> Result<(), Stop> {
        let mut background = String::new();
        while !environment.view().over {
            let mut executor = Executor::new(&self.mind, Parsing::Parser);
            let wanted = environment.view().user_turns().last().unwrap_or_default().to_owned();
            retrieve(environment, &wanted).await?;
            let answer = match self.baseline {
                Baseline::Offline => self.offline(environment, &mut executor, &background).await?,
                Baseline::Deps => self.deps(environment, &mut executor, &background).await?.1,
                Baseline::Reflexion => self.reflexion(environment, &mut executor, &background).await?,
            };
            let findings = executor.findings();
            ending::end(&self.mind, environment, &answer, &findings).await?;
            background.push_str(&executor.results());
        }
        Ok(())
    }

    async fn ask<T>(
        &self,
        environment: &mut dyn Environment,
        file: &str,
        (background, history, answer): (&str, &[Done], &str),
        read: impl Fn(&str) -> Result<T, ParseError> + Send + Sync,
    ) -> Result<T, Stop> {
        let apis = selector::known(&documents(environment.view()));
        let (system, request) = (environment.view().system.clone(), transcript(environment.view()));
        let input = Input { system: &system, apis: &apis, background, request: &request, history, answer };
        let messages = prompt(file, &input)?;
        self.mind.ask_and_parse(environment, file, messages, read).await
    }

    async fn offline(
        &self,
        environment: &mut dyn Environment,
        executor: &mut Executor<'_>,
        background: &str,
    ) -> Result<String, Stop> {
        let steps = self.ask(environment, "offline/planner", (background, &[], ""), parse_plan).await?;
        let mut history: Vec<Done> = Vec::new();
        for plan in steps {
            let response = executor.begin(environment, &known(background, &history), &plan).await?;
            history.push(Done { plan, response });
        }
        self.ask(environment, "offline/answer", (background, &history, ""), parse_words).await
    }

    /// What was done, and the answer.
    async fn deps(
        &self,
        environment: &mut dyn Environment,
        executor: &mut Executor<'_>,
        background: &str,
    ) -> Result<(Vec<Done>, String), Stop> {
        let mut steps = self.ask(environment, "deps/planner", (background, &[], ""), parse_plan).await?;
        let mut history: Vec<Done> = Vec::new();
        for _ in 0..STEPS {
            let Some(plan) = steps.first().cloned() else { break };
            let response = executor.begin(environment, &known(background, &history), &plan).await?;
            history.push(Done { plan, response });
            let input = (background, &*history, "");
            match self.ask(environment, "deps/replan", input, parse_replan).await? {
                Replan::End(answer) => return Ok((history, answer)),
                Replan::Steps(left) => steps = left,
            }
        }
        Err(Stop::Ended(format!("no answer after {STEPS} steps")))
    }

    async fn reflexion(
        &self,
        environment: &mut dyn Environment,
        executor: &mut Executor<'_>,
        background: &str,
    ) -> Result<String, Stop> {
        let mut background = background.to_owned();
        let mut last = String::new();
        for trial in 1..=TRIALS {
            let (history, answer) = match self.deps(environment, executor, &background).await {
                Err(Stop::Ended(why)) if trial < TRIALS => (Vec::new(), why),
                other => other?,
            };
            last.clone_from(&answer);
            if trial == TRIALS {
                break;
            }
            let input = (&*background, &*history, &*answer);
            match self.ask(environment, "reflexion/judge", input, parse_verdict).await? {
                None => break,
                Some(reflection) => {
                    background.push_str(&executor.results());
                    background.push_str(&format!("\nA first attempt failed: {reflection}\n"));
                }
            }
        }
        Ok(last)
    }
}

impl Agent for Planned {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            let result = self.converse(environment).await;
            rest(environment, result)
        })
    }
}
