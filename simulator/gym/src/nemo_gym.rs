//! A resources server of NeMo Gym: sessions by cookie, tools by path, rewards by `/verify`.
//!
//! Its client keeps the cookies of the last reply alone, so every reply sets the session's cookie again. The whole body of a reply to a
//! tool is what a model reads, whatever the status.

mod cookie;
mod metrics;
mod names;
mod verify;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, Request, Response, Uri};
use axum::response::IntoResponse as _;
use axum::routing::{any, get, post};
use diorama_sessions::{Kind, Problem};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use self::cookie::{session_of, with_cookie};
use self::metrics::{AggregateMetrics, AggregateMetricsRequest};
use self::names::{MCP_SERVER, SESSION_MEMBER, session_name};
use crate::gym::{Gym, Refused};
use crate::reply::{self, Answer};
use crate::setup::{AnyTask, Setup};

/// Paths that are the server's own: no tool has such a name.
const RESERVED: [&str; 6] =
    ["seed_session", "verify", "aggregate_metrics", "close_session", "reverify_mode", "mcp"];
/// The header that names the session of a message of the Model Context Protocol.
const MCP_HEADER: HeaderName = HeaderName::from_static("x-nemo-gym-session-token");
/// What agents put before paths to tell rollouts apart.
const ROLLOUT_PREFIX: &str = "/ng-rollout/";

/// The reply to a seed.
#[derive(Serialize)]
struct Seeded<'a> {
    mcp: McpAccess<'a>,
}

/// How an agent reaches the tools of its session by the Model Context Protocol.
#[derive(Serialize)]
struct McpAccess<'a> {
    server_name: &'static str,
    url_path: &'static str,
    transport: &'static str,
    headers: McpHeaders<'a>,
}

#[derive(Serialize)]
struct McpHeaders<'a> {
    #[serde(rename = "X-NeMo-Gym-Session-Token")]
    session: &'a str,
}

/// The routes.
pub(crate) fn router(gym: &Arc<Gym>) -> Router {
    Router::new()
        .route("/", get(|| async { reply::json(&json!({"status": "ok"})) }))
        .route("/seed_session", post(seed_session))
        .route("/verify", post(verify::verify))
        .route("/aggregate_metrics", post(aggregate_metrics))
        .route("/close_session", post(close_session))
        // A stored episode is graded again from its calls, without a session.
        .route("/reverify_mode", get(|| async { reply::json(&"stateless") }))
        .route("/mcp", any(mcp))
        .route("/mcp/", any(mcp))
        .route("/{tool}", post(call_tool))
        .fallback(|uri: Uri| async move { no_route(&uri) })
        .method_not_allowed_fallback(|uri: Uri| async move { wrong_method(&uri) })
        .with_state(Arc::clone(gym))
}

/// Takes `/ng-rollout/{id}` off a path: the rollout is known by its cookie.
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

/// Begins the episode of a dataset's row.
async fn seed_session(
    State(gym): State<Arc<Gym>>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response<Body> {
    let earlier = session_of(&headers);
    match seed(&gym, request, earlier.as_deref()).await {
        Ok(id) => {
            let headers = McpHeaders { session: &id };
            let mcp = McpAccess { server_name: MCP_SERVER, url_path: "/mcp", transport: "http", headers };
            with_cookie(reply::json(&Seeded { mcp }), Some(&id))
        }
        Err(refused) => with_cookie(refused.into_response(), earlier.as_deref()),
    }
}

async fn seed(gym: &Gym, request: Request<Body>, earlier: Option<&str>) -> Result<String, Refused> {
    let row: Map<String, Json> = gym.read_episode(request).await?;
    let start = Setup::read(&row)?.start(&gym.tasks, AnyTask::Never)?;
    let name = session_name(&row)?;
    // A rollout that begins anew with its cookie gives up what it had.
    if let Some(earlier) = earlier.filter(|_| name.is_none()) {
        gym.episodes.close(earlier).await?;
    }
    let request = Json::Object(row.clone()).to_string();
    let id = gym
        .begin(start, name.as_deref(), request.as_bytes())
        .await
        .map_err(|error| conflict(error, name.as_deref()))?;
    for tool in gym.tools(&id).await? {
        if let Some(problem) = unfit_name(&tool.name) {
            gym.episodes.close(&id).await?;
            return Err(problem.into());
        }
    }
    Ok(id)
}

/// The problem of a name that another row's session has.
fn conflict(error: Refused, name: Option<&str>) -> Refused {
    match (&error, name) {
        (Refused::Because(problem), Some(name)) if problem.is_about_key() => {
            let detail = format!(
                "`{SESSION_MEMBER}`: found `{name}`, which another row's session has; give each its own"
            );
            Refused::Because(Problem::new(Kind::Conflict, detail))
        }
        _ => error,
    }
}

/// Why a tool cannot be called by path.
fn unfit_name(name: &str) -> Option<Problem> {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if plain && !name.is_empty() && !RESERVED.contains(&name) {
        return None;
    }
    let reserved = RESERVED.join(", ");
    Some(Problem::new(
        Kind::Invalid,
        format!(
            "the task's world has a tool `{name}`, expected names of letters, digits, `_` and `-` other than {reserved}; leave the \
             task out, or rename the API"
        ),
    ))
}

/// Makes a call: the bare arguments come in, the bare reply goes out.
async fn call_tool(
    State(gym): State<Arc<Gym>>,
    Path(tool): Path<String>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response<Body> {
    let session = session_of(&headers);
    let called = async {
        let id = session.as_deref().ok_or_else(|| {
            Problem::new(
                Kind::Malformed,
                "found no session cookie, expected the one of the reply to POST /seed_session",
            )
        })?;
        let called = gym.call(id, &tool, gym.read(request).await?).await?;
        Ok::<_, Refused>(reply::text(called.status, called.body))
    };
    with_cookie(called.await.into_response(), session.as_deref())
}

/// Ends a session: of the caller's name, or of the cookie. Ending it twice is no error.
async fn close_session(
    State(gym): State<Arc<Gym>>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response<Body> {
    let session = session_of(&headers);
    let closed = async {
        let body: Map<String, Json> = gym.read(request).await?;
        let id = match session_name(&body)? {
            Some(name) => gym.named(&name),
            None => session.clone(),
        };
        match id {
            Some(id) => gym.episodes.close(&id).await,
            None => Ok(false),
        }
    };
    let response = match closed.await {
        Ok(closed) => reply::json(&json!({"outcome": if closed { "closed" } else { "already_closed" }})),
        Err(problem) => reply::text(
            problem.status(),
            json!({"outcome": "release_failed", "detail": problem.detail()}).to_string(),
        ),
    };
    with_cookie(response, session.as_deref())
}

/// Adds up the rewards of rollouts.
async fn aggregate_metrics(
    State(gym): State<Arc<Gym>>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response<Body> {
    let read = gym.read_episode(request).await;
    let summed = read.map(|rollouts: AggregateMetricsRequest| {
        reply::json(&AggregateMetrics::of(&rollouts.verify_responses))
    });
    with_cookie(summed.map_err(Refused::from).into_response(), session_of(&headers).as_deref())
}

/// Answers the Model Context Protocol for the session that the header names.
async fn mcp(State(gym): State<Arc<Gym>>, request: Request<Body>) -> Answer {
    let session = request.headers().get(&MCP_HEADER).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let id = session.ok_or_else(|| {
        Problem::new(
            Kind::Unauthorized,
            "found no header X-NeMo-Gym-Session-Token, expected the one of the reply to POST /seed_session",
        )
    })?;
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, gym.app.max_body_bytes()).await;
    let body = body.map_err(|error| Problem::new(Kind::BodyTooLarge, format!("the body: {error}")))?;
    let slot = gym.app.sessions().get(&id)?;
    let (response, steps) = gym.app.mcp().answer(slot, parts, body).await;
    steps.settle().await?;
    Ok(response)
}

fn no_route(uri: &Uri) -> Answer {
    let shown: String = uri.path().chars().take(200).collect();
    let detail = format!(
        "found the path {shown}, expected /seed_session, /verify, /aggregate_metrics, /close_session, /mcp or the name of a tool"
    );
    Err(Problem::new(Kind::NotFound, detail).into())
}

fn wrong_method(uri: &Uri) -> Answer {
    let shown: String = uri.path().chars().take(200).collect();
    let detail = format!("{shown}: expected POST, or GET for / and /reverify_mode");
    Err(Problem::new(Kind::MethodNotAllowed, detail).into())
}
