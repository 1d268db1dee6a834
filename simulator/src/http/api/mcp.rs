//! Owns the Model Context Protocol of a session's world.

use std::sync::Arc;

use axum::extract::{Request, State};

use crate::http::answer::{Answer, after};
use crate::http::app::App;
use crate::http::extract::Session;
use crate::http::transport::body::Whole;

/// Answers a message of the protocol (streamable HTTP).
pub(in crate::http) async fn answer(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    request: Request,
) -> Answer {
    let (parts, body) = request.into_parts();
    let whole = Whole::read(&app, &parts.headers, body).await?;
    let (response, steps) = app.mcp.answer(slot, parts, whole.bytes.clone()).await;
    Ok(after(steps, response))
}
