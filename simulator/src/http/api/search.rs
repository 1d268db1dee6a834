//! Owns the search for APIs among all worlds.

use std::sync::Arc;

use axum::extract::State;
use diorama_seeds::model::Method;
use diorama_sessions::{Kind, Problem, quoted};
use serde_json::json;

use crate::http::answer::{Answer, Reply};
use crate::http::app::{App, run_blocking};
use crate::http::extract::Body;
use crate::http::reply_types::SearchReply;
use crate::http::request_types::{MAX_PAGE_ITEMS, SearchRequest};
use crate::search::{ApiQuery, SearchBy};

/// Number of hits of a search, unless the request states one.
const DEFAULT_HITS: usize = 5;

/// Finds APIs by their purpose.
pub(in crate::http) async fn find(
    State(app): State<Arc<App>>,
    body: Body<SearchRequest>,
) -> Answer<Reply<SearchReply>> {
    let (request, _held) = body.into_parts();
    run_blocking(move || search(&app, &request).map(Reply::ok)).await
}

fn search(app: &App, request: &SearchRequest) -> Result<SearchReply, Problem> {
    if let Some(world) = &request.world {
        app.sessions.worlds().named(world)?;
    }
    let k = request.k.unwrap_or(DEFAULT_HITS);
    if !(1..=MAX_PAGE_ITEMS).contains(&k) {
        return Err(Problem::about("k", &format!("a number from 1 to {MAX_PAGE_ITEMS}"), k));
    }
    if let Some(domain) = &request.domain {
        let about = |expected: String| Problem::about("domain", &expected, quoted(domain, 40));
        app.search.check_domain(domain).map_err(about)?;
    }
    let query = ApiQuery {
        text: &request.query,
        k,
        world: request.world.as_deref(),
        domain: request.domain.as_deref(),
        method: request.method.as_deref().map(method).transpose()?,
        by: request.by.as_deref().map(search_by).transpose()?.unwrap_or_default(),
    };
    let hits = app.search.search(query);
    let hits = hits.map_err(|error| Problem::new(Kind::Failed, error.to_string()))?;
    Ok(SearchReply { hits: json!(hits) })
}

fn method(name: &str) -> Result<Method, Problem> {
    let expected = "GET, POST, PUT, PATCH or DELETE";
    Method::parse(name).ok_or_else(|| Problem::about("method", expected, quoted(name, 20)))
}

fn search_by(name: &str) -> Result<SearchBy, Problem> {
    let names = SearchBy::ALL.map(SearchBy::name).join(", ");
    SearchBy::named(name).ok_or_else(|| Problem::about("by", &format!("one of {names}"), quoted(name, 20)))
}
