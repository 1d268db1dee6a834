//! Owns the routes about the server itself: health, counts, description, and the check of candidates.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use axum::body::Body as AxumBody;
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use diorama_sessions::{Kind, Problem};
use serde_json::{Value as Json, json};

use crate::http::answer::{Answer, Reply, text};
use crate::http::app::{App, run_blocking};
use crate::http::extract::Body;
use crate::http::negotiate::{Format, choose_format};
use crate::http::reply_types::Health;
use crate::http::request_types::CandidateHead;
use crate::http::world::documents::Document;

/// Reports that the server is running.
pub(in crate::http) async fn health() -> Reply<Health> {
    Reply::ok(Health { status: "ok" })
}

/// Reports whether the server accepts requests.
pub(in crate::http) async fn readiness(State(app): State<Arc<App>>) -> Answer<Reply<Health>> {
    if app.ending.load(Relaxed) {
        let detail = "the server is ending; ask another";
        return Err(Problem::new(Kind::Unavailable, detail).retry_in(1).into());
    }
    match app.sessions.ailing() {
        Some(problem) => Err(problem.into()),
        None => Ok(Reply::ok(Health { status: "ready" })),
    }
}

/// Shows the counts in the format of Prometheus.
pub(in crate::http) async fn show_metrics(State(app): State<Arc<App>>) -> Response<AxumBody> {
    let sessions = &app.sessions;
    text(200, "text/plain; version=0.0.4", sessions.metrics().text(sessions.count(), sessions.scale()))
}

/// Describes the server's own API, in the format that the path names.
pub(in crate::http) async fn describe(
    State(app): State<Arc<App>>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer<Response<AxumBody>> {
    let named = Format::of_path(uri.path()).unwrap_or(Format::Json);
    let server = Arc::clone(&app);
    app.large(move || {
        let mut document = server.document.get().map(|document| (***document).clone()).unwrap_or_default();
        document["servers"] = json!([{"url": server.settings.public_url}]);
        Ok(Document::new(&document, choose_format(&headers, named)).response(&headers))
    })
    .await
}

/// Flag for work on another thread. Dropping it reports that no request waits for the result any more.
#[derive(Default)]
struct Waiting {
    gone: Arc<AtomicBool>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.gone.store(true, Relaxed);
    }
}

/// Returns each gate's verdict on a candidate.
pub(in crate::http) async fn check(
    State(app): State<Arc<App>>,
    body: Body<CandidateHead>,
) -> Answer<Reply<Json>> {
    let (CandidateHead { world, .. }, whole) = body.into_parts();
    // The guard is dropped with this future, for example when the connection ends.
    let waiting = Waiting::default();
    let gone = Arc::clone(&waiting.gone);
    run_blocking(move || {
        let none = || Problem::new(Kind::NotFound, "this server checks no candidates; use `diorama serve`");
        let prover = app.prover.get().ok_or_else(none)?;
        let served = match &world {
            Some(name) => app.sessions.worlds().named(name)?,
            None => app.sessions.worlds().only()?,
        };
        let ready = served.ready()?;
        let verdicts = prover.check(&ready.base, &whole.bytes, &gone);
        verdicts.map(Reply::ok).map_err(|error| Problem::new(Kind::Invalid, error.to_string()))
    })
    .await
}
