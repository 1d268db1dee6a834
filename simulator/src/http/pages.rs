//! Pages for a browser.
//!
//! Another crate makes them, which stands on this one; who starts the server brings them ([`Pages`]).

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{HeaderValue, LOCATION};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse as _;

use super::answer::{Answer, Refused};
use super::app::App;
use super::negotiate::Accept;
use super::transport::body::Whole;
use super::world;

/// The path below which all pages lie, also where a world at the root has paths of the same name.
pub const PAGES_PATH: &str = "/__diorama/console";

/// Makes the pages of a server.
pub trait Pages: Send + Sync {
    /// Answers a request whose path begins with [`PAGES_PATH`] and whose body has been read. It may block.
    fn answer(&self, app: &App, request: &axum::http::Request<Bytes>) -> Response<Body>;
}

/// Sends a browser that asks for `/` to the first page; others are told that there is no such route.
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

/// Answers a request for a page; nothing where no pages are shown.
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
    answered.await.unwrap_or_else(|refused: Refused| refused.into_response())
}
