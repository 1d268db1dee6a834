//! Owns the routes that make, fork, reset, grade and delete sessions.

use std::sync::{Arc, MutexGuard};

use axum::body::Body as AxumBody;
use axum::extract::{OriginalUri, State};
use axum::http::Response;
use axum::response::IntoResponse as _;
use diorama_sessions::{CreateRequest, ForkRequest, GradeReply, Kind, Live, PendingSteps, Problem, Slot};

use crate::http::answer::{Answer, Reply, after, json_text};
use crate::http::app::{App, run_blocking};
use crate::http::extract::{Body, Page, Session};
use crate::http::negotiate::add_links;
use crate::http::reply_types::{NewSessions, SessionAccess, SessionList, SessionView, Tools};
use crate::http::request_types::{ClockRequest, GradeRequest, HeartbeatRequest};
use crate::http::view;

/// Lists the sessions, in pages.
pub(in crate::http) async fn list(
    State(app): State<Arc<App>>,
    page: Page,
    OriginalUri(uri): OriginalUri,
) -> Answer {
    run_blocking(move || {
        let all = app.sessions.all();
        let shown = all.iter().skip(page.offset).take(page.limit).map(|slot| show_live(&app, &slot.lock()));
        let total = all.len();
        let list = SessionList { total, offset: page.offset, sessions: shown.collect() };
        Ok(add_links(Reply::ok(list).into_response(), uri.path(), page, total))
    })
    .await
}

/// Makes sessions of a world or a task.
pub(in crate::http) async fn create(
    State(app): State<Arc<App>>,
    body: Body<CreateRequest>,
) -> Answer<Reply<NewSessions>> {
    let creation = body.creation(None)?;
    let (request, _held) = body.into_parts();
    run_blocking(move || {
        let (made, steps) = app.sessions.create(request, creation.as_ref())?;
        show_made(&app, &made, steps)
    })
    .await
}

/// Makes sessions from the current state of this one.
pub(in crate::http) async fn fork(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    body: Body<ForkRequest>,
) -> Answer<Reply<NewSessions>> {
    let creation = body.creation(Some(slot.id()))?;
    let (request, _held) = body.into_parts();
    let is_one = request.n.unwrap_or(1) == 1 && request.at.is_none();
    let fork = move |live: MutexGuard<'_, Live>| {
        let (made, steps) = app.sessions.fork(live, &request, creation.as_ref())?;
        show_made(&app, &made, steps)
    };
    if is_one { Ok(slot.work(fork).await?) } else { run_blocking(move || fork(slot.lock())).await }
}

/// Shows a session.
pub(in crate::http) async fn show(
    State(app): State<Arc<App>>,
    Session(slot): Session,
) -> Answer<Reply<SessionView>> {
    run_blocking(move || Ok(Reply::ok(show_live(&app, &slot.lock())))).await
}

/// Deletes a session.
pub(in crate::http) async fn delete(
    State(app): State<Arc<App>>,
    Session(slot): Session,
) -> Answer<Response<AxumBody>> {
    let steps = run_blocking(move || app.sessions.close(&slot)).await?;
    Ok(after(steps, json_text(204, String::new())))
}

/// Resets a session to its start.
pub(in crate::http) async fn reset(
    State(app): State<Arc<App>>,
    Session(slot): Session,
) -> Answer<Reply<SessionView>> {
    let reset = move |live: MutexGuard<'_, Live>| {
        let (live, steps) = app.sessions.reset(live)?;
        Ok(Reply::ok(show_live(&app, &live)).after(steps))
    };
    Ok(slot.work(reset).await?)
}

/// Sets a session's clock.
pub(in crate::http) async fn set_clock(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    body: Body<ClockRequest>,
) -> Answer<Reply<SessionView>> {
    let (ClockRequest { clock }, _held) = body.into_parts();
    run_blocking(move || {
        let (live, steps) = app.sessions.set_clock(&slot, &clock)?;
        Ok(Reply::ok(show_live(&app, &live)).after(steps))
    })
    .await
}

/// Renews a session's lease, or sets another one. Every request renews the lease as well.
pub(in crate::http) async fn renew(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    body: Body<HeartbeatRequest>,
) -> Answer<Reply<SessionView>> {
    let (HeartbeatRequest { lease_seconds }, _held) = body.into_parts();
    run_blocking(move || {
        let (live, steps) = app.sessions.renew(&slot, lease_seconds)?;
        Ok(Reply::ok(show_live(&app, &live)).after(steps))
    })
    .await
}

/// Ends the episode and grades it. A second request repeats the result.
pub(in crate::http) async fn grade(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    _: Body<GradeRequest>,
) -> Answer<Reply<GradeReply>> {
    run_blocking(move || {
        let (grade, steps) = app.sessions.grade(&mut *slot.enter()?)?;
        Ok(Reply::ok(grade).after(steps))
    })
    .await
}

/// Shows every tool that the session of a task may call, for trainers that fix tools per class. The list
/// includes the tools that searches would show one by one. The agent API lacks this route, because the search
/// is part of the task.
pub(in crate::http) async fn tools(
    State(app): State<Arc<App>>,
    Session(slot): Session,
) -> Answer<Reply<Tools>> {
    app.large(move || {
        let live = slot.lock();
        let task = live.task()?;
        let base = &live.world.base;
        let searches = task.visible.is_empty();
        let reachable = if searches { base.world().api_ids().collect() } else { task.visible.clone() };
        let mut tools = base.shown_tools(&reachable);
        if searches {
            tools.insert(0, base.tool_searcher_schema());
        }
        let own = live.ending_tools();
        tools.extend(&own);
        let (id, world) = (task.id.clone(), task.world.clone());
        Ok(Reply::ok(Tools { id, world, searches, tools: tools.into_iter().cloned().collect() }))
    })
    .await
}

/// Returns the reply with the addresses of new sessions.
fn show_made(app: &App, made: &[Arc<Slot>], steps: PendingSteps) -> Result<Reply<NewSessions>, Problem> {
    let sessions = made.iter().map(|slot| access(app, &slot.lock())).collect();
    let first = made.first().ok_or_else(|| Problem::new(Kind::Failed, "no session was made"))?.lock();
    let (token, first) = (first.token.clone(), show_live(app, &first));
    Ok(Reply::created(NewSessions { first, token, sessions }).after(steps))
}

fn access(app: &App, live: &Live) -> SessionAccess {
    SessionAccess { id: live.id.clone(), base_url: app.base_url(&live.id), token: live.token.clone() }
}

fn show_live(app: &App, live: &Live) -> SessionView {
    view::session(live, app.base_url(&live.id))
}
