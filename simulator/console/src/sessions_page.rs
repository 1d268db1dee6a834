//! Owns the page of a server's sessions, with a form that makes one.

use diorama_seeds::value::{Instant, Zone};
use diorama_sessions::{CreateRequest, Kind, Live, Problem};
use maud::{Markup, html};

use crate::answer::{Answer, Page, Reply, Section};
use crate::pieces::{Range, pager, short, short_id};
use crate::visit::Visit;

/// Number of sessions on a page.
const SESSIONS_PER_PAGE: usize = 50;
/// Maximum number of worlds that the form proposes.
const MAX_PROPOSALS: usize = 200;

/// Lists the sessions, the newest first.
pub(crate) fn list(visit: &Visit<'_>) -> Answer {
    let all = visit.app.sessions().all();
    let offset = visit.query.number("offset")?.unwrap_or(0);
    let range = Range { offset, limit: SESSIONS_PER_PAGE, total: all.len() };
    let refresh = visit.links.query(&["sessions"], &[("offset", &offset.to_string())]);
    let shown = all.iter().rev().skip(offset).take(SESSIONS_PER_PAGE);
    let body = html! {
        h1 { "Sessions" }
        (new_form(visit))
        section #sessions hx-get=(refresh) hx-trigger="every 5s" hx-select="#sessions" hx-swap="outerHTML" {
            p.hint { (all.len()) " of at most " (visit.app.sessions().most()) " sessions. The list is read again every five seconds." }
            @if !all.is_empty() {
                table {
                    caption.sr { "Sessions, the newest first" }
                    thead { tr {
                        th scope="col" { "Session" } th scope="col" { "World" } th scope="col" { "Task" }
                        th.number scope="col" { "Calls" } th scope="col" { "Clock" } th scope="col" { "Grade" }
                    } }
                    tbody { @for slot in shown { (row(visit, &slot.lock())) } }
                }
                (pager(&visit.links, &["sessions"], &[], range))
            }
        }
    };
    Ok(Page::reply(Section::Sessions, "Sessions", body))
}

fn row(visit: &Visit<'_>, live: &Live) -> Markup {
    html! {
        tr {
            // The id preserves the keyboard focus when the list is refreshed.
            td { a id=(format!("session-{}", live.id)) href=(visit.links.page(&["sessions", &live.id])) { code { (short_id(&live.id)) } } }
            td { (short(&live.world.id)) }
            td { @if let Some(task) = &live.task { (short(&task.id)) } }
            td.number { (live.session.calls()) }
            td { (clock(live.session.state().clock(), &live.world.world().zone)) }
            td { (verdict(live)) }
        }
    }
}

/// Renders the result of an episode that has one.
pub(crate) fn verdict(live: &Live) -> Markup {
    html! {
        @if let Some(grade) = &live.grade {
            @if grade.success { span.badge.good { "solved" } } @else { span.badge.bad { "failed" } }
        }
    }
}

/// Formats a timestamp in the world's zone.
pub(crate) fn clock(instant: Instant, zone: &Zone) -> String {
    let mut text = String::new();
    zone.write_instant(instant, &mut text);
    text
}

fn new_form(visit: &Visit<'_>) -> Markup {
    let sessions = visit.app.sessions();
    let worlds = sessions.worlds().all();
    let tasks = sessions.tasks().map(|tasks| tasks.list(0, MAX_PROPOSALS)).unwrap_or_default();
    html! {
        details {
            summary { "New session" }
            form method="post" action=(visit.links.page(&["sessions"])) {
                @if !worlds.is_empty() { div.field {
                    label for="world" { "World" }
                    input #world name="world" list="worlds" value=[worlds.first().filter(|_| worlds.len() == 1).map(|only| &only.source.id)] autocomplete="off";
                    datalist #worlds { @for served in worlds.iter().take(MAX_PROPOSALS) { option value=(served.source.id) {} } }
                } }
                @if !tasks.is_empty() { div.field {
                    label for="task" { "Task" }
                    input #task name="task" list="tasks" autocomplete="off";
                    datalist #tasks { @for task in &tasks { option value=(task.id) {} } }
                } }
                div.field { label for="seed" { "Seed" } input #seed name="seed" inputmode="numeric" placeholder="0"; }
                button { "Make it" }
            }
        }
    }
}

/// Makes a session.
pub(crate) fn create(visit: &Visit<'_>) -> Answer {
    let text = |name: &str| visit.form.get(name).map(str::to_owned);
    let request = CreateRequest {
        world: text("world"),
        task: text("task"),
        seed: visit.form.number("seed")?,
        ..CreateRequest::default()
    };
    let (made, after) = visit.app.sessions().create(request, None)?;
    let slot = made.first().ok_or_else(|| Problem::new(Kind::Failed, "no session was made"))?;
    Ok(Reply::Redirect(visit.links.page(&["sessions", slot.id()]), after))
}
