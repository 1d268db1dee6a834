//! Owns the caller agent, which solves a request in a live session, turn by turn. It never sees the gold.
//!
//! It uses the environment of an evaluation with its user simulator. The judge of an evaluation grades
//! its calls with the checks of the planned chain. Only a trace that passes becomes a conversation, so that
//! two independent solutions reach the same end.

use std::sync::Arc;

use diorama_baselines::environment::Budget;
use diorama_baselines::role_model::RoleModel;
use diorama_baselines::trace::{Note, Recording, Step};
use diorama_baselines::{Agent, Baseline, Method};
use diorama_engine::Body;
use diorama_engine::session::LogEntry;
use diorama_output::row::Dialogue;
use diorama_proof::candidate::{CandidateCall, CandidateGoal, End, FactClaim, Opening, Turn};
use diorama_proof::{Candidate, GroundedCandidate};
use diorama_seeds::agent_tools::{CONFIRM, Confirmation};
use serde::Deserialize;
use serde_json::Value as Json;

use super::Protocol;
use super::ask::{Asker, NoReply};
use crate::episode::{Task, World};
use crate::evaluation::attribution::attribute;
use crate::evaluation::judge::Judge;
use crate::evaluation::measures::class_name;
use crate::worlds::world::BatchWorld;

/// Name of the step in usage reports and files.
pub const STEP: &str = "caller";

/// Budget of an episode. It bounds no time, because rows would then depend on the machine.
const BUDGET: Budget = Budget { steps: 60, calls: 40, tokens: 400_000, time_ms: u64::MAX };

/// Reason for which the caller agent has no conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerFailure {
    /// Error class: `no_api_call`, `api_hallucination`, `wrong_argument` or another.
    pub class: String,
    /// Description of the failure.
    pub what: String,
}

impl CallerFailure {
    fn new(class: &str, what: impl Into<String>) -> Self {
        Self { class: class.to_owned(), what: what.into() }
    }
}

/// Lets the agent solve the request of a proven conversation. `row` is that conversation as a row.
///
/// # Errors
/// Returns an error if the model gives no reply.
pub async fn solve(
    asker: &Arc<Asker>,
    number: u32,
    protocol: Protocol,
    planned: &GroundedCandidate,
    row: &Dialogue,
    world: &BatchWorld,
) -> Result<Result<Candidate, CallerFailure>, NoReply> {
    let broken = |what: String| NoReply::Fatal(format!("a proven conversation cannot be judged: {what}"));
    let task = Task::of(row).map_err(|error| broken(error.to_string()))?;
    let served = World::new(world.base.clone(), world.vocabulary.clone(), world.hash.clone());
    let judge = Judge::new(task, Arc::new(served)).map_err(|error| broken(error.to_string()))?;
    let environment = judge.open(planned.seed, BUDGET);
    let mut environment = environment.map_err(|error| broken(error.to_string()))?;
    let mind = RoleModel::new(asker.as_model(STEP), asker.sampling().clone(), asker.origin(STEP, number));
    let method = match protocol {
        Protocol::Tools => Method::FunctionCalling,
        Protocol::Text => Method::ReAct,
    };
    let agent = Baseline::new(mind, method);
    let mut recording = Recording::new(&mut environment);
    let stopped = agent.act(&mut recording).await.err();
    let steps = recording.into_steps();
    if let Some(lost) = asker.lost() {
        return Err(lost);
    }
    let judged = judge.grade(environment, stopped);
    if !judged.grade.success {
        return Ok(Err(classify_failure(&judge, &judged, &steps)));
    }
    Ok(conversation(planned, &steps, &judged.log, protocol))
}

/// Classifies a failure by the grader's errors about calls. Without such errors, the first wrong step
/// gives the class.
fn classify_failure(
    judge: &Judge,
    judged: &crate::evaluation::judge::JudgedEpisode,
    steps: &[Step],
) -> CallerFailure {
    use diorama_grade::ErrorClass::{
        ApiHallucination, InvalidInputParameters, MissInputParameters, NoApiCall,
    };
    let told = judged.grade.errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join("; ");
    let calls = [NoApiCall, ApiHallucination, MissInputParameters, InvalidInputParameters];
    let class = calls.into_iter().find(|class| judged.grade.errors.iter().any(|error| error.class == *class));
    let class = class.map(class_name).or_else(|| {
        let blamed = serde_json::to_value(attribute(judge, judged, steps)).ok()?;
        blamed.as_str().map(str::to_owned)
    });
    let gave_up = steps.iter().rev().find_map(|step| match step {
        Step::Noted(Note::GaveUp { because }) => Some(because.clone()),
        _ => None,
    });
    let what =
        gave_up.into_iter().chain(Some(told).filter(|told| !told.is_empty())).collect::<Vec<_>>().join("; ");
    CallerFailure { class: class.unwrap_or_else(|| "failed".to_owned()), what }
}

/// Makes a conversation of an agent's steps. The planned claims then refer to the agent's calls.
///
/// # Errors
/// Returns an error if the agent's calls do not show the claimed facts.
pub fn conversation(
    planned: &GroundedCandidate,
    steps: &[Step],
    log: &[Arc<LogEntry>],
    protocol: Protocol,
) -> Result<Candidate, CallerFailure> {
    let script = &planned.script;
    let mut goals: Vec<CandidateGoal> = Vec::new();
    let mut turns: Vec<Turn> = Vec::new();
    let mut message = Turn::default();
    let mut is_new = true;
    let mut made = 0;
    let asks_model = steps.iter().any(|step| matches!(step, Step::Noted(Note::Asked(_))));
    for step in steps {
        match step {
            Step::Noted(Note::Asked(asked)) => {
                let spoken = protocol == Protocol::Tools
                    && !asked.tool_calls.is_empty()
                    && !asked.content.trim().is_empty();
                let say = spoken.then(|| asked.content.trim().to_owned());
                message = Turn { say, reasoning: asked.reasoning.clone(), ..Turn::default() };
                is_new = true;
            }
            Step::Called { call, body, .. } if planned.checks.confirms && call.api == CONFIRM => {
                let asked = Confirmation::deserialize(Json::Object(call.arguments.clone()));
                let asked = asked.map_err(|error| CallerFailure::new("unasked", error.to_string()))?;
                let user = body.get("content").and_then(Json::as_str).map(str::to_owned);
                let (say, confirms) = (Some(asked.message), asked.calls.len());
                turns.push(Turn { say, confirms, reasoning: message.reasoning.take(), ..Turn::default() });
                turns.push(Turn { user, ..Turn::default() });
                is_new = true;
            }
            Step::Called { call, .. } => {
                // The API refused the arguments as not of its schema (400). The mark tells trainers not to
                // learn from the call.
                let mistake = log.get(made).is_some_and(|entry| entry.reply.status == 400);
                let call = CandidateCall {
                    api: call.api.clone(),
                    arguments: call.arguments.clone(),
                    mistake,
                    care: false,
                };
                made += 1;
                match turns.last_mut() {
                    Some(turn) if !is_new => turn.calls.push(call),
                    _ => turns.push(Turn { calls: vec![call], ..std::mem::take(&mut message) }),
                }
                // An agent without a model makes one call per turn.
                is_new = !asks_model;
            }
            Step::Said { .. } | Step::Finished { .. } => {
                let (words, answer, ends_goal) = match step {
                    Step::Finished { end, answer, .. } => (end.message.clone(), answer, true),
                    Step::Said { words, answer, over } => {
                        let next = script.goals.get(goals.len() + 1);
                        let opens = next.is_some_and(|next| answer.as_deref() == Some(&*next.user));
                        (words.clone(), answer, *over || opens)
                    }
                    _ => continue,
                };
                let wordless =
                    || CallerFailure::new("wordless", "a goal was finished without a message to the user");
                let say = (!words.is_empty()).then_some(words).ok_or_else(wordless)?;
                let say = Turn { say: Some(say), reasoning: message.reasoning.take(), ..Turn::default() };
                is_new = true;
                if ends_goal {
                    let Some(of_plan) = planned.candidate.goals.get(goals.len()) else { break };
                    turns.push(Turn { ends: Some(ends(planned, of_plan.end(), log)?), ..say });
                    let when = of_plan.when.as_ref().map(|when| opening(planned, when, log)).transpose()?;
                    goals.push(CandidateGoal {
                        when,
                        user: of_plan.user.clone(),
                        withheld: of_plan.withheld.clone(),
                        questions: of_plan.questions.clone(),
                        pleas: of_plan.pleas.clone(),
                        turns: std::mem::take(&mut turns),
                    });
                } else {
                    turns.push(say);
                    turns.extend(answer.clone().map(|user| Turn { user: Some(user), ..Turn::default() }));
                }
            }
            Step::Refused { .. } | Step::Noted(_) => {}
        }
    }
    if goals.len() != planned.candidate.goals.len() {
        return Err(CallerFailure::new("stopped_early", "not all goals were reached"));
    }
    Ok(Candidate { goals, ..planned.candidate.clone() })
}

/// Returns the planned end of a goal with its facts found in other calls.
fn ends(planned: &GroundedCandidate, end: End, log: &[Arc<LogEntry>]) -> Result<End, CallerFailure> {
    let missing = |fact: &FactClaim| {
        CallerFailure::new("other_route", format!("no reply of its calls shows `{}`", fact.path))
    };
    let facts: Result<Vec<FactClaim>, CallerFailure> = end
        .facts
        .iter()
        .map(|fact| {
            let (call, path) = place(planned, fact.call, &fact.path, log).ok_or_else(|| missing(fact))?;
            Ok(FactClaim { call, path, ..fact.clone() })
        })
        .collect();
    Ok(End { facts: facts?, ..end })
}

fn opening(
    planned: &GroundedCandidate,
    when: &Opening,
    log: &[Arc<LogEntry>],
) -> Result<Opening, CallerFailure> {
    let Some(call) = when.call else { return Ok(when.clone()) };
    let path = when.path.clone().unwrap_or_default();
    let found = place(planned, call, &path, log);
    let (call, path) = found
        .ok_or_else(|| CallerFailure::new("other_route", "no reply of its calls opens the next goal"))?;
    Ok(Opening { call: Some(call), path: when.path.as_ref().map(|_| path), ..when.clone() })
}

/// Finds a call and a path that show the same value as a planned call at `path`. The call has the same
/// API, or shows the same field of the same record.
fn place(
    planned: &GroundedCandidate,
    call: usize,
    path: &str,
    log: &[Arc<LogEntry>],
) -> Option<(usize, String)> {
    let gold = planned.entries.get(call)?;
    let root = path.split("[*]").next().unwrap_or_default().trim_end_matches('.');
    let wanted = gold.reply.body.at(root)?;
    let same = log.iter().rposition(|entry| {
        let shown = entry.call.api == gold.call.api && entry.reply.status == gold.reply.status;
        shown && entry.reply.body.at(root).is_some_and(|body| same_values(body, wanted))
    });
    if let Some(call) = same {
        return Some((call, path.to_owned()));
    }
    let Body::Leaf(value, origin @ diorama_engine::Origin::Field { .. }) = wanted else {
        return None;
    };
    log.iter().enumerate().rev().find_map(|(call, entry)| {
        let found = entry.reply.body.leaves().find(|(_, shown, from)| *from == origin && *shown == value);
        found.map(|(path, ..)| (call, path))
    })
}

fn same_values(one: &Body, other: &Body) -> bool {
    let values = one.leaves().map(|(path, value, _)| (path, value));
    values.eq(other.leaves().map(|(path, value, _)| (path, value)))
}
