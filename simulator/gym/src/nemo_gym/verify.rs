//! The reward of a rollout: grades its session, or replays its calls if the session is gone.
//!
//! A client that lost the reply repeats the request, and stored rollouts are graded again without a model.
//! The row and the calls determine all replies of the world, so both ways give the same grade.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request, Response};
use diorama_grade::Verdict;
use diorama_sessions::{GradeReply, Kind, Problem};
use serde_json::{Map, Value as Json, json};

use super::cookie::session_of;
use super::names::{MCP_SERVER, session_name};
use crate::gym::{Gym, RequestRefusal, reward};
use crate::reply::{self, Answer};
use crate::setup::{AnyTask, Setup};

/// The failure class of excluded rollouts.
const EXCLUDED_CLASS: &str = "excluded";

/// Grades a rollout and closes its session.
pub(super) async fn verify(
    State(gym): State<Arc<Gym>>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Answer {
    let row: Map<String, Json> = gym.read_episode(request).await?;
    let grade = match live_session(&gym, &row, session_of(&headers).as_deref())? {
        Some(id) => grade_and_close(&gym, &id).await?,
        None => grade_again(&gym, &row).await?,
    };
    Ok(make_reply(row, grade))
}

/// Returns the live session of a rollout, found by its cookie or by the name in its row.
fn live_session(gym: &Gym, row: &Map<String, Json>, cookie: Option<&str>) -> Result<Option<String>, Problem> {
    let named = session_name(row)?.and_then(|name| gym.named(&name));
    let known = cookie.map(str::to_owned).or(named);
    Ok(known.filter(|id| gym.episodes.is_live(id)))
}

async fn grade_and_close(gym: &Gym, id: &str) -> Result<GradeReply, Problem> {
    let grade = gym.episodes.grade(id).await?;
    gym.episodes.close(id).await?;
    Ok(grade)
}

/// Replays the calls of a stored response in a new session and grades it.
async fn grade_again(gym: &Gym, row: &Map<String, Json>) -> Result<GradeReply, RequestRefusal> {
    let items = row.get("response").and_then(|response| response.get("output")).and_then(Json::as_array);
    let items = items.ok_or_else(|| {
        let detail = "the session is gone, and `response.output` has no list of items, expected one: its calls are made again";
        Problem::new(Kind::Invalid, detail)
    })?;
    let start = Setup::read(row)?.start(&gym.tasks, AnyTask::Never)?;
    let id = gym.begin(start, None, &[]).await?;
    let graded = async {
        for (name, arguments) in items.iter().filter_map(function_call) {
            match gym.call(&id, name, arguments).await {
                Ok(_) => {}
                // A limit or a lost reply was part of the agent's episode, so the replay continues.
                Err(problem) if matches!(problem.status(), 409 | 422 | 429 | 504) => {}
                Err(problem) => return Err(problem),
            }
        }
        gym.episodes.grade(&id).await
    };
    let graded = graded.await;
    gym.episodes.close(&id).await?;
    Ok(graded?)
}

/// Returns the call in an item of a response. Skips calls whose arguments are no object, since the agent
/// answered those itself.
fn function_call(item: &Json) -> Option<(&str, Map<String, Json>)> {
    if item.get("type")?.as_str()? != "function_call" {
        return None;
    }
    let name = item.get("name")?.as_str()?;
    let arguments = serde_json::from_str(item.get("arguments")?.as_str()?).ok()?;
    Some((bare_name(name), arguments))
}

/// Removes the prefix that MCP agents put before tool names.
fn bare_name(name: &str) -> &str {
    let rest = name.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(MCP_SERVER)?.strip_prefix("__"));
    rest.unwrap_or(name)
}

/// Builds the reply: the row and the response as received, and the verdicts. An excluded episode has no
/// reward.
fn make_reply(mut row: Map<String, Json>, grade: GradeReply) -> Response<Body> {
    // The criteria become objectives. Every task has all of them.
    let number = |verdict: Verdict| if verdict == Verdict::Failed { 0.0 } else { 1.0 };
    let components = grade.components;
    let objectives = json!({
        "change": number(components.change),
        "damage": number(components.damage),
        "outcome": number(components.outcome),
        "answer": number(components.answer),
        "evidence": number(components.evidence),
        "policy": number(components.policy),
    });
    let verdict = match reward(&grade) {
        Some(reward) => ("reward", json!(reward)),
        None => ("_ng_failure_class", json!(EXCLUDED_CLASS)),
    };
    row.remove("reward");
    let verdicts = [
        verdict,
        ("reward_components", objectives),
        ("goal_rewards", json!(grade.goal_rewards)),
        ("excluded", json!(grade.excluded)),
        ("grader", json!(grade.version)),
    ];
    row.extend(verdicts.map(|(name, value)| (name.to_owned(), value)));
    reply::json(&row)
}
