//! The routes by which OpenEnv and ORS list tasks: the same paths and bodies in both.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Request;
use axum::routing::{get, post};
use diorama_sessions::{Kind, Problem};
use serde::Deserialize;
use serde_json::json;

use crate::gym::Gym;
use crate::reply::{self, Answer};

/// The name of the one environment.
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

/// The routes that list environments, splits and tasks.
pub(crate) fn router() -> Router<Arc<Gym>> {
    Router::new()
        .route("/list_environments", get(|| async { reply::json(&[ENVIRONMENT]) }))
        .route("/{environment}/splits", get(splits))
        .route("/{environment}/tasks", post(tasks))
        .route("/{environment}/num_tasks", post(num_tasks))
        .route("/{environment}/task", post(task))
        .route("/{environment}/task_range", post(task_range))
}

/// Refuses the name of another environment.
///
/// # Errors
/// 404 where it is not the environment's.
pub(crate) fn check_environment(name: &str) -> Result<(), Problem> {
    if name.eq_ignore_ascii_case(ENVIRONMENT) {
        return Ok(());
    }
    let shown: String = name.chars().take(60).collect();
    Err(Problem::new(Kind::NotFound, format!("unknown environment `{shown}`, expected `{ENVIRONMENT}`")))
}

async fn splits(State(gym): State<Arc<Gym>>, Path(environment): Path<String>) -> Answer {
    check_environment(&environment)?;
    Ok(reply::json(&gym.tasks.splits()))
}

async fn tasks(
    State(gym): State<Arc<Gym>>,
    Path(environment): Path<String>,
    request: Request<Body>,
) -> Answer {
    check_environment(&environment)?;
    let OfSplit { split } = gym.read(request).await?;
    let tasks = gym.tasks.range(&split, None, None)?;
    Ok(reply::json(&json!({"tasks": tasks, "env_name": ENVIRONMENT})))
}

async fn num_tasks(
    State(gym): State<Arc<Gym>>,
    Path(environment): Path<String>,
    request: Request<Body>,
) -> Answer {
    check_environment(&environment)?;
    let OfSplit { split } = gym.read(request).await?;
    Ok(reply::json(&json!({"num_tasks": gym.tasks.count(&split)?})))
}

async fn task(
    State(gym): State<Arc<Gym>>,
    Path(environment): Path<String>,
    request: Request<Body>,
) -> Answer {
    check_environment(&environment)?;
    let OfIndex { split, index } = gym.read(request).await?;
    Ok(reply::json(&json!({"task": gym.tasks.at(&split, index)?, "env_name": ENVIRONMENT})))
}

async fn task_range(
    State(gym): State<Arc<Gym>>,
    Path(environment): Path<String>,
    request: Request<Body>,
) -> Answer {
    check_environment(&environment)?;
    let OfRange { split, start, stop } = gym.read(request).await?;
    let tasks = gym.tasks.range(&split, start, stop)?;
    Ok(reply::json(&json!({"tasks": tasks, "env_name": ENVIRONMENT})))
}
