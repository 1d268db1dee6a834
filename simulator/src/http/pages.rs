//! Owns the requests of browsers for the pages of the server.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{HeaderValue, LOCATION};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse as _;

use super::answer::{Answer, ProblemResponse};
use super::app::{App, Pages};
use super::negotiate::Accept;
use super::transport::body::Whole;
use super::world;

/// Redirects a browser from `/` to the first page. Other clients get the answer of the world at the root, or
/// a refusal.
pub(super) async fn redirect(State(app): State<Arc<App>>, request: Request) -> Answer<Response<Body>> {
    let accept = Accept::read(request.headers());
    let is_browser = accept.names("text/html") && accept.rate("text/html") > 0;
    if app.pages.get().is_none() || !is_browser {
        return world::answer(&app, request).await;
    }
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(first) = HeaderValue::from_str(&app.pages_url()) {
        response.headers_mut().insert(LOCATION, first);
    }
    Ok(response)
}

/// Answers a request for a page.
pub(super) async fn answer(app: &Arc<App>, pages: &Arc<dyn Pages>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let answered = async {
        let whole = Whole::read(app, &parts.headers, body).await?;
        app.check_host(&parts.headers)?;
        app.check_room()?;
        let (server, pages) = (Arc::clone(app), Arc::clone(pages));
        app.large(move || {
            let request = Request::from_parts(parts, whole.bytes.clone());
            Ok(pages.answer(&server, &request))
        })
        .await
    };
    answered.await.unwrap_or_else(|refused: ProblemResponse| refused.into_response())
}
