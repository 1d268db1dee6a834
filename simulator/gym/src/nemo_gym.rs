//! Owns a resources server of NeMo Gym: sessions by cookie, tools by path, rewards by `/verify`.
//!
//! The client keeps only the cookies of the last reply, so every reply sets the session's cookie again. A
//! model reads the whole body of a tool's reply, whatever its status.

mod cookie;
mod metrics;
mod names;
mod verify;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, Request, Response, Uri};
use axum::middleware::from_fn;
use axum::routing::{any, get, post};
use diorama_sessions::{Kind, Problem};
use diorama_simulator::http::json_text;
use serde_json::{Map, Value as Json, json};

use self::cookie::{repeat_cookie, session_of, with_cookie};
use self::metrics::{AggregateMetrics, AggregateMetricsRequest};
use self::names::{MCP_SERVER, SESSION_MEMBER, session_name};
use crate::gym::{Gym, RequestRefusal};
use crate::reply::{self, Answer};
use crate::setup::{AnyTask, Setup};

/// The server's own paths. A tool with such a name cannot be called by path.
const RESERVED: [&str; 6] =
    ["seed_session", "verify", "aggregate_metrics", "close_session", "reverify_mode", "mcp"];
/// The header that names the session of an MCP message.
const MCP_HEADER: HeaderName = HeaderName::from_static("x-nemo-gym-session-token");
/// The prefix of paths by which agents distinguish rollouts.
const ROLLOUT_PREFIX: &str = "/ng-rollout/";

/// Builds the routes.
pub(crate) fn router(gym: &Arc<Gym>) -> Router {
    Router::new()
        .route("/seed_session", post(seed_session))
        .route("/verify", post(verify::verify))
        .route("/aggregate_metrics", post(aggregate_metrics))
        .route("/close_session", post(close_session))
        .route("/{tool}", post(call_tool))
        .route_layer(from_fn(repeat_cookie))
        .route("/", get(|| async { reply::json(&json!({"status": "ok"})) }))
        // The server grades a stored episode from its calls, without a session.
        .route("/reverify_mode", get(|| async { reply::json(&"stateless") }))
        .route("/mcp", any(mcp))
        .route("/mcp/", any(mcp))
        .fallback(|uri: Uri| async move { refuse_path(&uri) })
        .method_not_allowed_fallback(|uri: Uri| async move { refuse_method(&uri) })
        .with_state(Arc::clone(gym))
}

/// Removes `/ng-rollout/{id}` from a path. The cookie identifies the rollout.
pub(crate) fn strip_rollout(request: &mut Request<Body>) {
    let path = request.uri().path();
    let Some(rest) = path.strip_prefix(ROLLOUT_PREFIX).and_then(|rest| rest.split_once('/')) else { return };
    let path = match request.uri().query() {
        Some(query) => format!("/{}?{query}", rest.1),
        None => format!("/{}", rest.1),
    };
    if let Ok(uri) = path.parse() {
        *request.uri_mut() = uri;
    }
}

/// Starts the episode of a dataset's row.
async fn seed_session(State(gym): State<Arc<Gym>>, headers: HeaderMap, request: Request<Body>) -> Answer {
    let id = begin_episode(&gym, request, session_of(&headers).as_deref()).await?;
    // Agents reach the tools of their session over MCP with these values.
    let headers = json!({"X-NeMo-Gym-Session-Token": id});
    let mcp = json!({"server_name": MCP_SERVER, "url_path": "/mcp", "transport": "http", "headers": headers});
    Ok(with_cookie(reply::json(&json!({"mcp": mcp})), &id))
}

async fn begin_episode(
    gym: &Gym,
    request: Request<Body>,
    earlier: Option<&str>,
) -> Result<String, RequestRefusal> {
    let row: Map<String, Json> = gym.read_episode(request).await?;
    let start = Setup::read(&row)?.start(&gym.tasks, AnyTask::Never)?;
    let name = session_name(&row)?;
    // A rollout that starts again with its cookie closes its earlier episode.
    if let Some(earlier) = earlier.filter(|_| name.is_none()) {
        gym.episodes.close(earlier).await?;
    }
    let request = Json::Object(row.clone()).to_string();
    let id = gym
        .begin(start, name.as_deref(), request.as_bytes())
        .await
        .map_err(|error| explain_conflict(error, name.as_deref()))?;
    let named = gym.tools(&id).await?.iter().try_for_each(|tool| check_name(&tool.name));
    if named.is_err() {
        gym.episodes.close(&id).await?;
    }
    Ok(named.map(|()| id)?)
}

/// Explains the problem of a name that another row's session uses.
fn explain_conflict(error: RequestRefusal, name: Option<&str>) -> RequestRefusal {
    match (&error, name) {
        (RequestRefusal::Because(problem), Some(name)) if problem.is_about_key() => {
            let detail = format!(
                "`{SESSION_MEMBER}`: found `{name}`, which another row's session has; give each its own"
            );
            RequestRefusal::Because(Problem::new(Kind::Conflict, detail))
        }
        _ => error,
    }
}

/// Refuses a tool name that cannot be called by path.
fn check_name(name: &str) -> Result<(), Problem> {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if plain && !name.is_empty() && !RESERVED.contains(&name) {
        return Ok(());
    }
    let reserved = RESERVED.join(", ");
    Err(Problem::new(
        Kind::Invalid,
        format!(
            "the task's world has a tool `{name}`, expected names of letters, digits, `_` and `-` other than {reserved}; leave the \
             task out, or rename the API"
        ),
    ))
}

/// Calls a tool. Request and reply are the bare arguments and the bare result.
async fn call_tool(
    State(gym): State<Arc<Gym>>,
    Path(tool): Path<String>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Answer {
    let id = session_of(&headers).ok_or_else(|| {
        Problem::new(
            Kind::Malformed,
            "found no session cookie, expected the one of the reply to POST /seed_session",
        )
    })?;
    let called = gym.call(&id, &tool, gym.read(request).await?).await?;
    Ok(json_text(called.status, called.body))
}

/// Ends a session, found by the caller's name or the cookie. Ending it twice is no error.
async fn close_session(
    State(gym): State<Arc<Gym>>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response<Body> {
    let closed = async {
        let body: Map<String, Json> = gym.read(request).await?;
        let id = match session_name(&body)? {
            Some(name) => gym.named(&name),
            None => session_of(&headers),
        };
        match id {
            Some(id) => gym.episodes.close(&id).await,
            None => Ok(false),
        }
    };
    match closed.await {
        Ok(closed) => reply::json(&json!({"outcome": if closed { "closed" } else { "already_closed" }})),
        Err(problem) => json_text(
            problem.status(),
            json!({"outcome": "release_failed", "detail": problem.detail()}).to_string(),
        ),
    }
}

/// Aggregates the rewards of rollouts.
async fn aggregate_metrics(State(gym): State<Arc<Gym>>, request: Request<Body>) -> Answer {
    let rollouts: AggregateMetricsRequest = gym.read_episode(request).await?;
    Ok(reply::json(&AggregateMetrics::of(&rollouts.verify_responses)))
}

/// Answers an MCP message for the session that the header names.
async fn mcp(State(gym): State<Arc<Gym>>, request: Request<Body>) -> Answer {
    let session = request.headers().get(&MCP_HEADER).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let id = session.ok_or_else(|| {
        Problem::new(
            Kind::Unauthorized,
            "found no header X-NeMo-Gym-Session-Token, expected the one of the reply to POST /seed_session",
        )
    })?;
    let (parts, body) = request.into_parts();
    let body = gym.read_bytes(body).await?.into();
    let slot = gym.app.sessions().get(&id)?;
    let (response, steps) = gym.app.mcp().answer(slot, parts, body).await;
    steps.settle().await?;
    Ok(response)
}

fn refuse_path(uri: &Uri) -> Answer {
    let shown: String = uri.path().chars().take(200).collect();
    let detail = format!(
        "found the path {shown}, expected /seed_session, /verify, /aggregate_metrics, /close_session, /mcp or the name of a tool"
    );
    Err(Problem::new(Kind::NotFound, detail).into())
}

fn refuse_method(uri: &Uri) -> Answer {
    let shown: String = uri.path().chars().take(200).collect();
    let detail = format!("{shown}: expected POST, or GET for / and /reverify_mode");
    Err(Problem::new(Kind::MethodNotAllowed, detail).into())
}
