//! The session at the root of a server: where one document or world is served, a client needs nothing but the server's URL.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::middleware::Next;
use axum::response::IntoResponse as _;

use super::answer::Refused;
use super::app::App;
use super::world::{has_path, respond};

/// Answers requests of the paths that the world at the root has; others go on to the server's own routes.
pub(super) async fn answer_first(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    match app.root_session().await {
        Ok(slot) if has_path(&slot, &request) => respond(&app, slot, 0, request).await.into_response(),
        Ok(_) => next.run(request).await,
        Err(problem) => Refused(problem).into_response(),
    }
}
