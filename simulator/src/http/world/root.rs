//! The session at the root of a server: where one document or world is served, a client needs nothing but the server's URL.

use std::sync::{Arc, PoisonError, RwLock};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::middleware::Next;
use axum::response::IntoResponse as _;
use diorama_sessions::{CreateRequest, Creation, Kind, Problem, Slot};

use super::routes::Found;
use super::{Received, Tables, respond};
use crate::http::answer::Refused;
use crate::http::app::{App, blocking};

/// The key of the request that makes the session: a server that starts again with the same state folder goes on with it.
const KEY: &str = "default session";

/// The session at the root, made when first needed, and again after it was deleted.
#[derive(Debug, Default)]
pub(in crate::http) struct Root {
    id: RwLock<Option<String>>,
}

/// Answers requests of the paths that the world at the root has; others go on to the server's own routes.
pub(in crate::http) async fn answer(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    match slot(&app).await {
        Ok(slot) if has_path(&slot, &request) => respond(&app, slot, 0, request).await.into_response(),
        Ok(_) => next.run(request).await,
        Err(problem) => Refused(problem).into_response(),
    }
}

/// The session at the root.
pub(super) async fn slot(app: &Arc<App>) -> Result<Arc<Slot>, Problem> {
    let none = || Problem::new(Kind::NotFound, "this server has no session at its root");
    let root = app.root.as_ref().ok_or_else(none)?;
    let known = root.id.read().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(slot) = known.and_then(|id| app.sessions.get(&id).ok()) {
        return Ok(slot);
    }
    let sessions = Arc::clone(&app.sessions);
    let made = blocking(move || {
        let request = CreateRequest { lease_seconds: Some(0), ..CreateRequest::default() };
        sessions.create(request, Some(&Creation::new(None, KEY, b"")))
    });
    let (made, steps) = made.await.map_err(|refused| refused.0)?;
    steps.settle().await?;
    let slot = made.into_iter().next().ok_or_else(none)?;
    *root.id.write().unwrap_or_else(PoisonError::into_inner) = Some(slot.id().to_owned());
    Ok(slot)
}

/// Returns true if the world has an API at the request's path, of whatever method.
fn has_path(slot: &Slot, request: &Request) -> bool {
    let Some(tables) = Tables::of(&slot.world) else { return false };
    let received = Received::new(request.uri(), request.headers(), request.method(), &[], 0);
    !matches!(tables.find(slot, |_| true, &received), Found::Nothing(_))
}
