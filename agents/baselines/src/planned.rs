//! Owns the baselines in RestGPT's paper, each with RestGPT's executor: Offline, DEPS, Reflexion (section
//! 5.1, appendix B).
//!
//! The plan names the APIs, and the executor of section 3.3 makes the calls, without a selector. Offline
//! plans once and executes the plan unchanged. DEPS (describe, explain, plan and select) plans again from the
//! results after each step, ten at most. Reflexion makes a second trial with a reflection on the first. The
//! world keeps the changes of the first trial, since only a message to the user ends a goal.

use diorama_engine::tools::TOOL_SEARCHER;
use minijinja::{Value, context};

use crate::episode::{Episode, Role, parse_words};
use crate::labels::{find_final_answer, split_at};
use crate::restgpt::apis::{CallerForm, NamedApis};
use crate::restgpt::executor::{Executor, PlannedCall};
use crate::restgpt::parser::Parsing;
use crate::restgpt::roles::{StepRecord, join_results};
use crate::role_model::{ParseError, Stop};

const OFFLINE_PLANNER: Role = same_name("offline/planner");
const OFFLINE_ANSWER: Role = same_name("offline/answer");
const DEPS_PLANNER: Role = same_name("deps/planner");
const DEPS_REPLAN: Role = same_name("deps/replan");
const REFLEXION_JUDGE: Role = same_name("reflexion/judge");

/// Maximum number of steps in one plan.
const MAX_PLANNED_STEPS: usize = 12;
/// Maximum number of steps of DEPS, as in the paper.
const MAX_DEPS_STEPS: usize = 10;
/// Number of trials of Reflexion, as in the paper.
const MAX_TRIALS: usize = 2;

/// A step of a plan.
#[derive(Clone)]
struct PlannedStep {
    /// Its text.
    text: String,
    /// Names of the tools of its APIs.
    apis: Vec<String>,
}

/// A reply of DEPS after a step.
enum Replan {
    /// The remaining steps.
    Steps(Vec<PlannedStep>),
    /// The final answer.
    End(String),
}

const fn same_name(name: &'static str) -> Role {
    Role { name, prompt: name }
}

/// Makes the input of a role, which is the same for all three baselines.
fn role_input(apis: &NamedApis, background: &str, history: &[StepRecord], answer: &str) -> Value {
    context! { apis => apis.all, background, history, answer }
}

/// Plans once and executes the plan.
pub(crate) async fn offline(episode: &mut Episode<'_>, form: CallerForm) -> Result<String, Stop> {
    let (apis, background) = (NamedApis::collect(episode, form), episode.background.clone());
    let input = role_input(&apis, &background, &[], "");
    let steps = episode.ask(OFFLINE_PLANNER, input, |reply| parse_steps(reply, &apis)).await?;
    let mut history: Vec<StepRecord> = Vec::new();
    for step in steps {
        let response = carry_out(episode, form, &step, &join_results(&background, &history)).await?;
        history.push(StepRecord { plan: step.text, response });
    }
    let input = role_input(&apis, &background, &history, "");
    episode.ask(OFFLINE_ANSWER, input, |reply| parse_words(reply, "an answer")).await
}

/// Plans again after each step.
pub(crate) async fn deps(episode: &mut Episode<'_>, form: CallerForm) -> Result<String, Stop> {
    let background = episode.background.clone();
    try_deps(episode, form, &background, &mut Vec::new()).await
}

/// Makes one trial of DEPS and returns the answer. Adds the steps to `history`.
async fn try_deps(
    episode: &mut Episode<'_>,
    form: CallerForm,
    background: &str,
    history: &mut Vec<StepRecord>,
) -> Result<String, Stop> {
    let apis = callable(episode, form);
    let input = role_input(&apis, background, &[], "");
    let mut steps = episode.ask(DEPS_PLANNER, input, |reply| parse_steps(reply, &apis)).await?;
    for _ in 0..MAX_DEPS_STEPS {
        let Some(step) = steps.first().cloned() else { break };
        let response = carry_out(episode, form, &step, &join_results(background, history)).await?;
        history.push(StepRecord { plan: step.text, response });
        let apis = callable(episode, form);
        let input = role_input(&apis, background, history, "");
        match episode.ask(DEPS_REPLAN, input, |reply| parse_replan(reply, &apis)).await? {
            Replan::End(answer) => return Ok(answer),
            Replan::Steps(left) => steps = left,
        }
    }
    Err(Stop::Ended(format!("no answer after {MAX_DEPS_STEPS} steps")))
}

/// Makes a second trial of DEPS if the first is judged a failure. Every prompt of the second includes the
/// reflection.
pub(crate) async fn reflexion(episode: &mut Episode<'_>, form: CallerForm) -> Result<String, Stop> {
    let mut background = episode.background.clone();
    for _ in 1..MAX_TRIALS {
        let mut history = Vec::new();
        let answer = match try_deps(episode, form, &background, &mut history).await {
            Err(Stop::Ended(why)) => why,
            other => other?,
        };
        let input = role_input(&NamedApis::collect(episode, form), &background, &history, &answer);
        let Some(reflection) = episode.ask(REFLEXION_JUDGE, input, parse_verdict).await? else {
            return Ok(answer);
        };
        background = join_results(&background, &history);
        episode.reflection = reflection;
    }
    try_deps(episode, form, &background, &mut Vec::new()).await
}

/// Returns the APIs that a step of DEPS may call. They include the tool search, since the next plan is made
/// from its results.
fn callable(episode: &Episode<'_>, form: CallerForm) -> NamedApis {
    NamedApis::collect(episode, form).with_tool(episode.tool_searcher())
}

/// Executes a step, and returns its result in words.
async fn carry_out(
    episode: &mut Episode<'_>,
    form: CallerForm,
    step: &PlannedStep,
    background: &str,
) -> Result<String, Stop> {
    if step.apis.iter().any(|api| api == TOOL_SEARCHER) {
        let before = episode.documents();
        episode.search(step.text.replace(TOOL_SEARCHER, "").trim()).await?;
        let apis = NamedApis::collect(episode, form).all.into_iter();
        let names: Vec<String> = apis.filter(|api| !before.contains(&api.tool)).map(|api| api.name).collect();
        return Ok(match names.is_empty() {
            true => "The search shows no further API.".to_owned(),
            false => format!("The search shows: {}.", names.join(", ")),
        });
    }
    let planned = PlannedCall { calling: &step.text, apis: &step.apis, background };
    Executor { form, parsing: Parsing::Program }.execute(episode, planned).await
}

/// Parses the numbered steps of a plan, each of which names an API.
fn parse_steps(reply: &str, apis: &NamedApis) -> Result<Vec<PlannedStep>, ParseError> {
    let step = |line: &str| {
        let end = line.trim().trim_start_matches("Step ").trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = end.len() < line.trim().len();
        let step = end.trim_start_matches(['.', ')', ':', ' ']).trim();
        (numbered && !step.is_empty()).then(|| step.to_owned())
    };
    let steps = reply.lines().filter_map(step).take(MAX_PLANNED_STEPS).map(|text| {
        let apis = apis.named_in(&text, " in each step");
        let apis = apis.map_err(|expected| ParseError::expected(&expected, &text))?;
        Ok(PlannedStep { text, apis })
    });
    let steps = steps.collect::<Result<Vec<_>, ParseError>>()?;
    if steps.is_empty() { Err(ParseError::expected("numbered steps, one a line", reply)) } else { Ok(steps) }
}

/// Parses a reply of DEPS after a step: a plan or an answer.
fn parse_replan(reply: &str, apis: &NamedApis) -> Result<Replan, ParseError> {
    if let Some(answer) = find_final_answer(reply).filter(|answer| !answer.is_empty()) {
        return Ok(Replan::End(answer.to_owned()));
    }
    let plan = split_at(reply, "Plan").map_or(reply, |(_, plan)| plan);
    parse_steps(plan, apis).map(Replan::Steps)
}

/// Parses a verdict. `None` is success, and a failure has a reflection.
fn parse_verdict(reply: &str) -> Result<Option<String>, ParseError> {
    let text = reply.trim();
    let text = text.strip_prefix("Verdict:").map_or(text, str::trim);
    if text.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("success")) {
        return Ok(None);
    }
    let failure = text.get(..7).filter(|word| word.eq_ignore_ascii_case("failure")).and(text.get(7..));
    match failure.map(|why| why.trim_start_matches([':', ' ']).trim()) {
        Some(why) if !why.is_empty() => Ok(Some(why.to_owned())),
        _ => Err(ParseError::expected("`Success`, or `Failure:` with a reflection", reply)),
    }
}
