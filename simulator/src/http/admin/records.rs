//! Owns the records of a session, their changes, and its calls.

use std::sync::Arc;

use axum::extract::{OriginalUri, State};
use diorama_sessions::{Kind, Problem};

use crate::http::answer::{Answer, Reply, json_text};
use crate::http::app::App;
use crate::http::extract::{Page, Query, Session};
use crate::http::negotiate::add_links;
use crate::http::reply_types::{Diff, State as Records};
use crate::http::request_types::StateQuery;
use crate::http::view;

/// Shows all records of a session, or those of one resource.
pub(in crate::http) async fn state(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    Query(query): Query<StateQuery>,
) -> Answer<Reply<Records>> {
    app.large(move || {
        let live = slot.lock();
        let world = live.world.world();
        if let Some(name) = &query.resource
            && world.resource_named(name).is_none()
        {
            let names: Vec<&str> = world.resources.iter().map(|resource| &*resource.qualified).collect();
            let expected = format!("one of {}", names.join(", "));
            return Err(Problem::about("resource", &expected, format!("`{name}`")));
        }
        Ok(Reply::ok(view::state(&live, query.resource.as_deref())))
    })
    .await
}

/// Shows the differences from a session's start.
pub(in crate::http) async fn diff(
    State(app): State<Arc<App>>,
    Session(slot): Session,
) -> Answer<Reply<Diff>> {
    app.large(move || {
        let live = slot.lock();
        Ok(Reply::ok(Diff { changes: view::changes(live.world.world(), &live.session.diff()) }))
    })
    .await
}

/// Shows a page of a session's calls.
pub(in crate::http) async fn log(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    page: Page,
    OriginalUri(uri): OriginalUri,
) -> Answer {
    let sessions = Arc::clone(&app.sessions);
    app.large(move || {
        let Page { offset, limit } = page;
        let mut live = slot.lock();
        sessions.recall(&mut live)?;
        let world = live.world.world();
        let total = live.session.calls();
        let mut room = sessions.room("the calls of this page");
        let mut shown = format!("{{\"total\":{total},\"offset\":{offset},\"calls\":[");
        // Calls are serialized one at a time, because a page as trees takes many times the memory of its
        // text.
        for (entry, position) in live.session.log_from(offset).take(limit).zip(offset..) {
            let entry = serde_json::to_string(&view::entry(world, position, &entry));
            let entry = entry.map_err(|error| {
                Problem::new(Kind::Failed, format!("the call cannot be written: {error}"))
            })?;
            room.take(entry.len() as u64)?;
            if position > offset {
                shown.push(',');
            }
            shown.push_str(&entry);
        }
        shown.push_str("]}");
        Ok(add_links(json_text(200, shown), uri.path(), page, total))
    })
    .await
}
