//! Owns an environment of OpenEnv: episodes over a WebSocket, over HTTP, or over its JSON-RPC form of MCP.
//!
//! An action lists the tools or calls one. The observation is the tool's reply, including refusals. The
//! reward is 0 until the user has nothing more to say, and then the grade's.

mod attachments;
mod env;
mod http;
mod playing;
mod rpc;
mod schema;
mod socket;
mod wire;

use std::sync::Arc;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{RawQuery, State};
use axum::http::Uri;
use axum::response::IntoResponse;
use axum::routing::{any, get, post};
use diorama_sessions::{Kind, Problem};
use serde_json::json;

use self::env::OpenEnv;
use crate::gym::Gym;
use crate::reply::{self, Answer};
use crate::task_routes;

/// Builds the routes.
pub(crate) fn router(gym: &Arc<Gym>) -> Router {
    let env = Arc::new(OpenEnv::new(gym));
    Router::new()
        .route("/health", get(|| async { reply::json(&json!({"status": "healthy"})) }))
        .route("/metadata", get(|| async { reply::json(&schema::metadata()) }))
        .route("/schema", get(|| async { reply::json(&schema::schemas()) }))
        .route("/openapi.json", get(|| async { reply::json(&schema::document()) }))
        .route("/reset", post(http::reset))
        .route("/step", post(http::step))
        .route("/state", get(http::state))
        .route("/mcp", any(open_mcp_socket).post(http::mcp))
        .route("/ws", any(open_socket))
        .with_state(env)
        .merge(task_routes::router().with_state(Arc::clone(gym)))
        .fallback(|uri: Uri| async move { refuse_path(&uri) })
}

async fn open_socket(
    State(env): State<Arc<OpenEnv>>,
    RawQuery(query): RawQuery,
    upgrade: WebSocketUpgrade,
) -> impl IntoResponse {
    let query = query.unwrap_or_default();
    let session = query.split('&').find_map(|pair| pair.strip_prefix("session_id=")).map(str::to_owned);
    bound_messages(upgrade, &env).on_upgrade(move |upgraded| socket::serve(env, upgraded, session))
}

async fn open_mcp_socket(State(env): State<Arc<OpenEnv>>, upgrade: WebSocketUpgrade) -> impl IntoResponse {
    bound_messages(upgrade, &env).on_upgrade(move |upgraded| socket::serve_mcp(env, upgraded))
}

/// Limits the messages of a socket to the size of request bodies.
fn bound_messages(upgrade: WebSocketUpgrade, env: &OpenEnv) -> WebSocketUpgrade {
    let most = env.gym.app.max_body_bytes();
    upgrade.max_message_size(most).max_frame_size(most)
}

fn refuse_path(uri: &Uri) -> Answer {
    let shown: String = uri.path().chars().take(200).collect();
    Err(Problem::new(Kind::NotFound, format!("no route fits {shown}; see /openapi.json")).into())
}
