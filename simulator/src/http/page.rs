//! The page of links that a browser finds at `/`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::http::header::ACCEPT;
use axum::response::{Html, IntoResponse as _};
use maud::{DOCTYPE, Markup, html};

use super::answer::Answer;
use super::app::App;
use super::route::RESERVED_PREFIX;
use super::world;

/// The links of the page: where they lead, and what is there.
const LINKS: [(&str, &str); 7] = [
    ("openapi.json", "The server's own API, as an OpenAPI document"),
    ("v1/worlds", "The worlds that are served"),
    ("v1/tasks", "The tasks that are served"),
    ("v1/sessions", "The sessions"),
    ("metrics", "Counts of sessions, calls and errors"),
    ("healthz", "Whether the server answers"),
    ("readyz", "Whether the server takes requests"),
];

/// Shows the page to a browser; others are told that there is no such route.
pub(super) async fn show(State(app): State<Arc<App>>, request: Request) -> Answer<Response<Body>> {
    let accepts =
        |value: &axum::http::HeaderValue| value.to_str().is_ok_and(|text| text.contains("text/html"));
    if !request.headers().get_all(ACCEPT).iter().any(accepts) {
        return world::answer(&app, request).await;
    }
    Ok(Html(page(&app).into_string()).into_response())
}

fn page(app: &App) -> Markup {
    let worlds = app.sessions.worlds().all();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "Diorama" }
                style { "body{font:16px/1.5 sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}code{background:#eee}" }
            }
            body {
                h1 { "Diorama" }
                p { "A server of simulated worlds. Each session is a world of its own that remembers what was written to it." }
                @if app.settings.default_session {
                    p { "A session answers at this address: send the requests of the document to " code { (app.settings.public_url) } "." }
                }
                ul {
                    @for (path, text) in LINKS {
                        li { a href={ "." (RESERVED_PREFIX) "/" (path) } { (text) } }
                    }
                }
                @if !worlds.is_empty() {
                    h2 { "Worlds" }
                    ul { @for world in worlds { li { (world.source.id) } } }
                }
            }
        }
    }
}
