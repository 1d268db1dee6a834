//! The reward of a rollout: the grade of its session, or of its calls made again where the session is gone.
//!
//! A client that lost the reply asks again, and stored rollouts are graded again without a model: what a world replies is a function
//! of the row and the calls, so that both give the same grade.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request, Response};
use axum::response::IntoResponse as _;
use diorama_grade::Verdict;
use diorama_sessions::{Graded, Kind, Problem};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::cookie::{session_of, with_cookie};
use super::names::{MCP_SERVER, session_name};
use crate::gym::{Gym, Refused, reward};
use crate::reply;
use crate::setup::{AnyTask, Setup};

/// The class of failures under which rollouts that count for nothing are kept apart.
const EXCLUDED_CLASS: &str = "excluded";

/// The verdicts of a rollout, beside the row and the response.
#[derive(Debug, PartialEq, Serialize)]
struct Verdicts {
    /// Absent where the episode is excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
    reward_components: RewardComponents,
    /// 1 for each goal that holds by itself, else 0.
    goal_rewards: Vec<f64>,
    excluded: bool,
    /// The version of the grader.
    grader: String,
    #[serde(rename = "_ng_failure_class", skip_serializing_if = "Option::is_none")]
    failure_class: Option<&'static str>,
}

/// The criteria as objectives: 0 for one that failed, else 1. Every task has all of them.
#[derive(Debug, PartialEq, Serialize)]
struct RewardComponents {
    change: f64,
    damage: f64,
    outcome: f64,
    answer: f64,
    evidence: f64,
}

/// Grades a rollout, and frees its session.
pub(super) async fn verify(
    State(gym): State<Arc<Gym>>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response<Body> {
    let session = session_of(&headers);
    let graded = async {
        let row: Map<String, Json> = gym.read_episode(request).await?;
        let live = live_session(&gym, &row, session.as_deref())?;
        let grade = match &live {
            Some(id) => grade_and_close(&gym, id).await?,
            None => grade_again(&gym, &row).await?,
        };
        Ok::<_, Refused>(verified(row, grade))
    };
    with_cookie(graded.await.into_response(), session.as_deref())
}

/// The session of a rollout, by its cookie or by the name that its row gives, where it is still there.
fn live_session(gym: &Gym, row: &Map<String, Json>, cookie: Option<&str>) -> Result<Option<String>, Problem> {
    let named = session_name(row)?.and_then(|name| gym.named(&name));
    let known = cookie.map(str::to_owned).or(named);
    Ok(known.filter(|id| gym.episodes.is_live(id)))
}

async fn grade_and_close(gym: &Gym, id: &str) -> Result<Graded, Problem> {
    let grade = gym.episodes.grade(id).await?;
    gym.episodes.close(id).await?;
    Ok(grade)
}

/// Makes the calls of a stored response in a session of their own, and grades it.
async fn grade_again(gym: &Gym, row: &Map<String, Json>) -> Result<Graded, Refused> {
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
                // What a cap or a lost reply kept from the agent is part of its episode.
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

/// The call of an item of a response. Calls whose arguments are no object were answered by the agent and not made.
fn function_call(item: &Json) -> Option<(&str, Map<String, Json>)> {
    if item.get("type")?.as_str()? != "function_call" {
        return None;
    }
    let name = item.get("name")?.as_str()?;
    let arguments = serde_json::from_str(item.get("arguments")?.as_str()?).ok()?;
    Some((bare_name(name), arguments))
}

/// The name of a tool without the server's, which agents of the Model Context Protocol put before it.
fn bare_name(name: &str) -> &str {
    let rest = name.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(MCP_SERVER)?.strip_prefix("__"));
    rest.unwrap_or(name)
}

/// The reply: the row and the response as they came, and the verdicts.
fn verified(mut row: Map<String, Json>, grade: Graded) -> Response<Body> {
    let number = |verdict: Verdict| if verdict == Verdict::Failed { 0.0 } else { 1.0 };
    let components = grade.components;
    let verdicts = Verdicts {
        reward: reward(&grade),
        reward_components: RewardComponents {
            change: number(components.change),
            damage: number(components.damage),
            outcome: number(components.outcome),
            answer: number(components.answer),
            evidence: number(components.evidence),
        },
        excluded: grade.excluded,
        failure_class: grade.excluded.then_some(EXCLUDED_CLASS),
        goal_rewards: grade.goal_rewards,
        grader: grade.version,
    };
    row.remove("reward");
    if let Ok(Json::Object(verdicts)) = serde_json::to_value(&verdicts) {
        row.extend(verdicts);
    }
    reply::json(&row)
}
