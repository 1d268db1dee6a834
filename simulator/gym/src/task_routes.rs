//! Owns the task routes of OpenEnv and ORS, with the same paths and bodies.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Request;
use axum::middleware::{Next, from_fn};
use axum::routing::{get, post};
use diorama_sessions::{Kind, Problem, quoted};
use serde::Deserialize;
use serde_json::json;

use crate::gym::{Gym, JsonBody};
use crate::reply::{self, Answer};

/// The name of the only environment.
pub(crate) const ENVIRONMENT: &str = "diorama";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfSplit {
    split: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfIndex {
    split: String,
    index: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfRange {
    split: String,
    start: Option<i64>,
    stop: Option<i64>,
}

/// Builds the routes that list environments, splits and tasks.
pub(crate) fn router() -> Router<Arc<Gym>> {
    Router::new()
        .route("/list_environments", get(|| async { reply::json(&[ENVIRONMENT]) }))
        .route("/{environment}/splits", get(list_splits))
        .route("/{environment}/tasks", post(list_tasks))
        .route("/{environment}/num_tasks", post(count_tasks))
        .route("/{environment}/task", post(show_task))
        .route("/{environment}/task_range", post(list_range))
        .route_layer(from_fn(check_path))
}

/// Refuses the name of another environment.
///
/// # Errors
/// 404 for another name.
pub(crate) fn check_environment(name: &str) -> Result<(), Problem> {
    if name.eq_ignore_ascii_case(ENVIRONMENT) {
        return Ok(());
    }
    let detail = format!("unknown environment {}, expected `{ENVIRONMENT}`", quoted(name, 60));
    Err(Problem::new(Kind::NotFound, detail))
}

/// Refuses a request whose path names another environment.
pub(crate) async fn check_path(
    environment: Option<Path<String>>,
    request: Request<Body>,
    next: Next,
) -> Answer {
    if let Some(Path(name)) = environment {
        check_environment(&name)?;
    }
    Ok(next.run(request).await)
}

async fn list_splits(State(gym): State<Arc<Gym>>) -> Answer {
    Ok(reply::json(&gym.tasks.splits()))
}

async fn list_tasks(State(gym): State<Arc<Gym>>, JsonBody(OfSplit { split }): JsonBody<OfSplit>) -> Answer {
    let tasks = gym.tasks.range(&split, None, None)?;
    Ok(reply::json(&json!({"tasks": tasks, "env_name": ENVIRONMENT})))
}

async fn count_tasks(State(gym): State<Arc<Gym>>, JsonBody(OfSplit { split }): JsonBody<OfSplit>) -> Answer {
    Ok(reply::json(&json!({"num_tasks": gym.tasks.count(&split)?})))
}

async fn show_task(
    State(gym): State<Arc<Gym>>,
    JsonBody(OfIndex { split, index }): JsonBody<OfIndex>,
) -> Answer {
    Ok(reply::json(&json!({"task": gym.tasks.at(&split, index)?, "env_name": ENVIRONMENT})))
}

async fn list_range(State(gym): State<Arc<Gym>>, JsonBody(range): JsonBody<OfRange>) -> Answer {
    let tasks = gym.tasks.range(&range.split, range.start, range.stop)?;
    Ok(reply::json(&json!({"tasks": tasks, "env_name": ENVIRONMENT})))
}
