//! The baselines that RestGPT's paper compares with, each over RestGPT's executor: Offline, DEPS, Reflexion.
//!
//! Offline plans once and carries the plan out as it stands. DEPS (describe, explain, plan and select) plans again after each
//! step, ten at most. Reflexion makes a second trial with a reflection on the first; the world stays as the first left it, since
//! only the user's word ends a goal.

use minijinja::{Value, context};

use crate::episode::{Episode, Role, parse_words};
use crate::restgpt::Parsing;
use crate::restgpt::executor::Executor;
use crate::restgpt::roles::{StepRecord, join_results};
use crate::role_model::{ParseError, Stop};

const OFFLINE_PLANNER: Role = same_name("offline/planner");
const OFFLINE_ANSWER: Role = same_name("offline/answer");
const DEPS_PLANNER: Role = same_name("deps/planner");
const DEPS_REPLAN: Role = same_name("deps/replan");
const REFLEXION_JUDGE: Role = same_name("reflexion/judge");

/// Steps of one plan.
const MAX_PLANNED_STEPS: usize = 12;
/// Steps of DEPS, as in the paper.
const MAX_DEPS_STEPS: usize = 10;
/// Trials of Reflexion, as in the paper.
const MAX_TRIALS: usize = 2;

/// A reply of DEPS after a step.
enum Replan {
    /// The steps that are left.
    Steps(Vec<String>),
    /// The final answer.
    End(String),
}

const fn same_name(name: &'static str) -> Role {
    Role { name, prompt: name }
}

/// Every role of these baselines is shown the same.
fn shown(episode: &Episode<'_>, background: &str, history: &[StepRecord], answer: &str) -> Value {
    context! { apis => episode.documents(), background, history, answer }
}

/// Plans once and carries the plan out.
pub(crate) async fn offline(episode: &mut Episode<'_>) -> Result<String, Stop> {
    let mut executor = Executor::new(Parsing::Parser);
    let background = episode.background.clone();
    let input = shown(episode, &background, &[], "");
    let mut history: Vec<StepRecord> = Vec::new();
    for plan in episode.ask(OFFLINE_PLANNER, input, parse_steps).await? {
        let response = executor.start(episode, join_results(&background, &history), &plan).await?.text;
        history.push(StepRecord { plan, response });
    }
    let input = shown(episode, &background, &history, "");
    episode.ask(OFFLINE_ANSWER, input, |reply| parse_words(reply, "an answer")).await
}

/// Plans again after each step.
pub(crate) async fn deps(episode: &mut Episode<'_>) -> Result<String, Stop> {
    let background = episode.background.clone();
    try_deps(episode, &mut Executor::new(Parsing::Parser), &background).await.map(|(_, answer)| answer)
}

/// One trial of DEPS: its steps, and the answer.
async fn try_deps(
    episode: &mut Episode<'_>,
    executor: &mut Executor,
    background: &str,
) -> Result<(Vec<StepRecord>, String), Stop> {
    let input = shown(episode, background, &[], "");
    let mut steps = episode.ask(DEPS_PLANNER, input, parse_steps).await?;
    let mut history: Vec<StepRecord> = Vec::new();
    for _ in 0..MAX_DEPS_STEPS {
        let Some(plan) = steps.first().cloned() else { break };
        let response = executor.start(episode, join_results(background, &history), &plan).await?.text;
        history.push(StepRecord { plan, response });
        let input = shown(episode, background, &history, "");
        match episode.ask(DEPS_REPLAN, input, parse_replan).await? {
            Replan::End(answer) => return Ok((history, answer)),
            Replan::Steps(left) => steps = left,
        }
    }
    Err(Stop::Ended(format!("no answer after {MAX_DEPS_STEPS} steps")))
}

/// Makes a second trial of DEPS where the first is judged a failure.
pub(crate) async fn reflexion(episode: &mut Episode<'_>) -> Result<String, Stop> {
    let mut executor = Executor::new(Parsing::Parser);
    let mut background = episode.background.clone();
    for _ in 1..MAX_TRIALS {
        let (history, answer) = match try_deps(episode, &mut executor, &background).await {
            Err(Stop::Ended(why)) => (Vec::new(), why),
            other => other?,
        };
        let input = shown(episode, &background, &history, &answer);
        let Some(reflection) = episode.ask(REFLEXION_JUDGE, input, parse_verdict).await? else {
            return Ok(answer);
        };
        background.push_str(&episode.results);
        background.push_str(&format!("\nA first attempt failed: {reflection}\n"));
    }
    try_deps(episode, &mut executor, &background).await.map(|(_, answer)| answer)
}

/// Parses the numbered steps of a plan.
fn parse_steps(reply: &str) -> Result<Vec<String>, ParseError> {
    let step = |line: &str| {
        let end = line.trim().trim_start_matches("Step ").trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = end.len() < line.trim().len();
        let step = end.trim_start_matches(['.', ')', ':', ' ']).trim();
        (numbered && !step.is_empty()).then(|| step.to_owned())
    };
    let steps: Vec<String> = reply.lines().filter_map(step).take(MAX_PLANNED_STEPS).collect();
    if steps.is_empty() { Err(ParseError::expected("numbered steps, one a line", reply)) } else { Ok(steps) }
}

/// Parses a reply of DEPS after a step: a plan or an answer.
fn parse_replan(reply: &str) -> Result<Replan, ParseError> {
    if let Some((_, answer)) =
        reply.split_once("Final Answer:").filter(|(_, answer)| !answer.trim().is_empty())
    {
        return Ok(Replan::End(answer.trim().to_owned()));
    }
    let plan = reply.split_once("Plan:").map_or(reply, |(_, plan)| plan);
    parse_steps(plan).map(Replan::Steps)
}

/// Parses a verdict; `None` is success, and a failure has a reflection.
fn parse_verdict(reply: &str) -> Result<Option<String>, ParseError> {
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
