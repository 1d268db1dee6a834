//! RestGPT (Song et al., 2023): a planner, an API selector, and an executor of caller and parser.
//!
//! Planning is coarse to fine and online: the planner says one step in natural language, the selector makes it a call of an API
//! it knows by name and description, the executor makes it and reads the reply, and the planner looks at what came of it. It
//! goes on with the next step, with the same one (`Continue`), or ends. Worlds add one thing to the paper: the planner may put a
//! question to the user (`Ask`).

pub mod caller;
pub mod executor;
pub mod parser;
pub mod planner;
pub mod selector;

use self::executor::{Executor, Parsing};
use self::planner::Plan;
use crate::Agent;
use crate::ending;
use crate::environment::{Environment, Soon};
use crate::mind::{Mind, Stop, rest};
use crate::toolbox::transcript;

/// Steps of the planner in one goal.
const STEPS: usize = 15;

/// The agent, whole or with a part left out.
pub struct RestGpt {
    mind: Mind,
    parsing: Parsing,
    planning: Planning,
}

/// Who plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planning {
    /// The planner.
    Planner,
    /// Nobody: the selector is given the request itself, and goes on until it has the answer. By the paper, this is ReAct with
    /// RestGPT's executor.
    Left,
}

impl RestGpt {
    /// The agent with a model.
    #[must_use]
    pub const fn new(mind: Mind, planning: Planning, parsing: Parsing) -> Self {
        Self { mind, parsing, planning }
    }

    async fn converse(&self, environment: &mut dyn Environment) -> Result<(), Stop> {
        let mut background = String::new();
        while !environment.view().over {
            let mut executor = Executor::new(&self.mind, self.parsing);
            let answer = match self.planning {
                Planning::Planner => self.planned(environment, &mut executor, &background).await?,
                Planning::Left => self.unplanned(environment, &mut executor, &background).await?,
            };
            let findings = executor.findings();
            ending::end(&self.mind, environment, &answer, &findings).await?;
            background.push_str(&executor.results());
        }
        Ok(())
    }

    /// Plans a goal step by step; its answer.
    async fn planned(
        &self,
        environment: &mut dyn Environment,
        executor: &mut Executor<'_>,
        background: &str,
    ) -> Result<String, Stop> {
        let mut history: Vec<planner::Done> = Vec::new();
        for _ in 0..STEPS {
            let request = transcript(environment.view());
            let input = planner::Input {
                system: &environment.view().system,
                request: &request,
                background,
                history: &history,
            };
            let messages = planner::prompt(&input)?;
            let plan = self.mind.ask_and_parse(environment, planner::ROLE, messages, planner::parse).await?;
            let (plan, response) = match plan {
                Plan::End(answer) => return Ok(answer),
                Plan::Ask(question) => {
                    let answer = environment.say(&question).await?;
                    if answer.over {
                        return Ok(question);
                    }
                    let words = answer.words.unwrap_or_default();
                    (format!("Ask: {question}"), format!("The user says: {words}"))
                }
                Plan::Step(step) => {
                    let known = planner::known(background, &history);
                    let result = executor.begin(environment, &known, &step).await?;
                    (step, result)
                }
                Plan::Continue(instruction) => {
                    let result = executor.go_on(environment, &instruction).await?;
                    (format!("Continue. {instruction}"), result)
                }
            };
            history.push(planner::Done { plan, response });
        }
        Err(Stop::Ended(format!("the planner has not ended after {STEPS} steps")))
    }

    /// Has the selector work on the request itself.
    async fn unplanned(
        &self,
        environment: &mut dyn Environment,
        executor: &mut Executor<'_>,
        background: &str,
    ) -> Result<String, Stop> {
        let request = transcript(environment.view());
        let mut result = executor.begin(environment, background, &request).await?;
        for _ in 0..STEPS {
            if let Some(answer) = executor.take_answer() {
                return Ok(answer);
            }
            result = executor.go_on(environment, "").await?;
        }
        Ok(result)
    }
}

impl Agent for RestGpt {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> Soon<'a, ()> {
        Box::pin(async move {
            let result = self.converse(environment).await;
            rest(environment, result)
        })
    }
}
