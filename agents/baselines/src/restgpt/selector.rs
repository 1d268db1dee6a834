//! The API selector (section 3.2 of the paper): chooses the APIs for a step of the planner, and those that
//! continue it.

use minijinja::context;
use serde::Serialize;

use super::apis::NamedApis;
use super::executor::{Executor, PlannedCall};
use super::roles::{SELECTOR, Selection, parse_selection};
use crate::episode::Episode;
use crate::role_model::Stop;

/// Carries out the steps of the planner for one goal.
pub(super) struct Selector {
    executor: Executor,
    /// True if there is no planner. The step is then the user's request.
    is_alone: bool,
    background: String,
    plan: String,
    history: Vec<SelectedCall>,
}

/// A call for the present step, for the selector's prompt.
#[derive(Serialize)]
struct SelectedCall {
    /// The instruction that the call follows, from the second call on.
    instruction: Option<String>,
    calling: String,
    response: String,
}

/// The result of a step.
pub(super) struct StepResult {
    pub text: String,
    /// True if the selector answered without a call.
    pub is_answer: bool,
}

impl Selector {
    pub(super) const fn new(executor: Executor, is_alone: bool) -> Self {
        Self { executor, is_alone, background: String::new(), plan: String::new(), history: Vec::new() }
    }

    /// Carries out a new step.
    pub(super) async fn start(
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
    pub(super) async fn resume(
        &mut self,
        episode: &mut Episode<'_>,
        instruction: Option<&str>,
    ) -> Result<StepResult, Stop> {
        if let Some(instruction) = instruction.filter(|instruction| !instruction.is_empty()) {
            episode.search(instruction).await?;
        }
        self.execute(episode, instruction).await
    }

    async fn execute(
        &mut self,
        episode: &mut Episode<'_>,
        instruction: Option<&str>,
    ) -> Result<StepResult, Stop> {
        let apis = NamedApis::collect(episode, self.executor.form);
        let Self { background, plan, history, is_alone, .. } = &*self;
        let by_request = apis.by_request();
        let input =
            context! { apis => apis.all, by_request, background, plan, history, instruction, is_alone };
        let parse = |reply: &str| parse_selection(reply, &apis);
        let (calling, planned) = match episode.ask(SELECTOR, input, parse).await? {
            Selection::Answer(text) => return Ok(StepResult { text, is_answer: true }),
            Selection::Call { calling, apis } => (calling, apis),
        };
        let responses = self.history.iter().map(|call| &*call.response);
        let known = std::iter::once(&*self.background).chain(responses).filter(|text| !text.is_empty());
        let background: Vec<&str> = known.collect();
        let background = background.join("\n");
        let call = PlannedCall { calling: &calling, apis: &planned, background: &background };
        let text = self.executor.execute(episode, call).await?;
        let instruction = instruction.map(str::to_owned);
        self.history.push(SelectedCall { instruction, calling, response: text.clone() });
        Ok(StepResult { text, is_answer: false })
    }
}
