//! RestGPT (Song et al., 2023): a planner, an API selector, and an executor of caller and parser.
//!
//! Planning is coarse to fine and online. The planner states one step in natural language. The selector turns
//! it into a call of an API, which it knows by name and description. The executor writes the request and
//! parses the reply, and the planner sees the result. The planner then states the next step, continues the
//! same one (`Continue`), or ends. Worlds add one action to the paper: the planner may ask the user (`Ask`).

pub(crate) mod apis;
pub(crate) mod executor;
pub(crate) mod parser;
pub(crate) mod roles;
mod selector;

use minijinja::context;

pub use self::apis::CallerForm;
use self::executor::Executor;
pub use self::parser::Parsing;
use self::roles::{PLANNER, Plan, StepRecord, join_results, parse_plan};
use self::selector::Selector;
use crate::episode::Episode;
use crate::role_model::Stop;

/// Maximum number of planner steps per goal.
const MAX_STEPS: usize = 15;

/// The planning mode of RestGPT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planning {
    /// By the planner.
    Planner,
    /// Without a planner. The selector gets the request itself and continues until it has the answer. The
    /// paper calls this ReAct with RestGPT's executor.
    None,
}

/// Works on the open goal, and returns the answer in words.
pub(crate) async fn answer(
    episode: &mut Episode<'_>,
    planning: Planning,
    parsing: Parsing,
    form: CallerForm,
) -> Result<String, Stop> {
    let mut selector = Selector::new(Executor { form, parsing }, planning == Planning::None);
    match planning {
        Planning::Planner => plan(episode, &mut selector).await,
        Planning::None => select_only(episode, &mut selector).await,
    }
}

/// Plans step by step.
async fn plan(episode: &mut Episode<'_>, selector: &mut Selector) -> Result<String, Stop> {
    let mut history: Vec<StepRecord> = Vec::new();
    for _ in 0..MAX_STEPS {
        let input = context! { background => episode.background, history };
        let (plan, response) = match episode.ask(PLANNER, input, parse_plan).await? {
            Plan::End(answer) => return Ok(answer),
            Plan::Ask(question) => {
                let answer = episode.say(&question).await?;
                if answer.over {
                    return Ok(question);
                }
                let words = answer.words.unwrap_or_default();
                let response = format!("Asked \"{question}\", the user says: {words}");
                (format!("Ask: {question}"), response)
            }
            Plan::Step(step) => {
                let background = join_results(&episode.background, &history);
                let result = selector.start(episode, background, &step).await?;
                (step, result.text)
            }
            Plan::Continue(instruction) => {
                let result = selector.resume(episode, Some(&instruction)).await?;
                (format!("Continue. {instruction}"), result.text)
            }
        };
        history.push(StepRecord { plan, response });
    }
    Err(Stop::Ended(format!("the planner has not ended after {MAX_STEPS} steps")))
}

/// Lets the selector work on the request itself.
async fn select_only(episode: &mut Episode<'_>, selector: &mut Selector) -> Result<String, Stop> {
    let request = episode.query();
    let background = episode.background.clone();
    let mut result = selector.start(episode, background, &request).await?;
    for _ in 0..MAX_STEPS {
        if result.is_answer {
            break;
        }
        result = selector.resume(episode, None).await?;
    }
    Ok(result.text)
}
