//! Owns the page of a session: its addresses, its log as a timeline, its grade, and the actions on it.

use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_sessions::{ForkRequest, GradeReply, Kind, Live, Problem, Slot};
use maud::{Markup, html};
use serde_json::{Value as Json, json};

use crate::answer::{Answer, Page, Reply, Section};
use crate::changes::{self, IN_TIME};
use crate::pieces::{Range, cell, crumbs, json_block, pager, prose, short, short_id, status_class};
use crate::sessions_page::{clock, verdict};
use crate::verdicts::verdicts;
use crate::visit::Visit;

/// Number of calls on a page of a timeline.
const CALLS_PER_PAGE: usize = 50;
/// Maximum number of sessions that the page proposes for a comparison.
const MAX_PROPOSALS: usize = 20;

/// Returns the session with an id.
pub(crate) fn slot(visit: &Visit<'_>, id: &str) -> Result<Arc<Slot>, Problem> {
    visit.app.sessions().get(id)
}

/// Shows a session.
pub(crate) fn show(visit: &Visit<'_>, id: &str) -> Answer {
    let slot = slot(visit, id)?;
    let mut live = slot.enter()?;
    visit.app.sessions().recall(&mut live)?;
    let live = &*live;
    let total = live.session.calls();
    let offset = visit.query.number("offset")?.unwrap_or(0).min(total);
    let mut room = visit.app.sessions().room("the calls of this page");
    let mut entries = Vec::new();
    for entry in live.session.log_from(offset).take(CALLS_PER_PAGE) {
        room.take(entry.reply.body.bytes())?;
        entries.push(entry);
    }
    let range = Range { offset, limit: CALLS_PER_PAGE, total };
    let body = html! {
        (crumbs(&[(visit.links.page(&["sessions"]), "Sessions")]))
        h1 { "Session " code { (short_id(id)) } " " (verdict(live)) }
        (actions(visit, live))
        (facts(visit, live))
        @if let Some(grade) = &live.grade { (grade_table(grade)) }
        h2 { "Timeline" }
        @if let Some(task) = live.task.as_ref().filter(|_| offset == 0) {
            details { summary { "System message" } (prose(&task.system)) }
            (message("user", task.script.opening()))
        }
        @if total == 0 { p.hint { "No calls yet." } }
        ol.timeline { (timeline(visit, live, offset, &entries)) }
        (pager(&visit.links, &["sessions", id], &[], range))
        @if live.task.is_some() && live.grade.is_none() && !live.said.is_over() { (message_form(visit, id)) }
    };
    Ok(Page::reply(Section::Sessions, format!("Session {}", short_id(id)), body))
}

/// Renders the calls of a page, with the messages between them.
fn timeline(visit: &Visit<'_>, live: &Live, offset: usize, entries: &[Arc<LogEntry>]) -> Markup {
    let said = live.said.exchanges();
    let is_last = offset + entries.len() == live.session.calls();
    // A message comes before the call that followed it.
    let before = |position: usize| said.iter().filter(move |exchange| exchange.calls == position);
    html! {
        @for (entry, position) in entries.iter().zip(offset..) {
            @for exchange in before(position) { (show_exchange(exchange)) }
            (one_call(visit, live, position, entry))
        }
        @if is_last { @for exchange in before(live.session.calls()) { (show_exchange(exchange)) } }
    }
}

fn show_exchange(exchange: &diorama_user::conversation::Exchange) -> Markup {
    html! {
        li.message {
            (message("assistant", &exchange.said))
            @if let Some(outcome) = &exchange.given.outcome {
                p { span.badge { "finish" } " outcome " strong { (json!(outcome).as_str().unwrap_or_default()) }
                    @if let Some(about) = &exchange.given.about { ", about " (short(about)) } }
                @if !exchange.given.facts.is_empty() { (json_block("Facts", &Json::Object(exchange.given.facts.clone()))) }
            }
            @match &exchange.answer {
                Some(answer) => (message("user", answer)),
                None => p.hint { "The user has nothing more to say." },
            }
        }
    }
}

/// Renders a message with its speaker.
pub(crate) fn message(speaker: &str, text: &str) -> Markup {
    html! { div.said.(speaker) { p.speaker { (speaker) } (prose(text)) } }
}

fn one_call(visit: &Visit<'_>, live: &Live, position: usize, entry: &LogEntry) -> Markup {
    let world = live.world.world();
    let after = (position + 1).to_string();
    html! {
        li id=(format!("call-{}", position + 1)) value=(position + 1) {
            details {
                summary {
                    strong { (short(&entry.call.api)) } " "
                    span.badge.(status_class(entry.reply.status)) { (entry.reply.status) } " "
                    @for (kind, count) in counts(entry) { span.badge.(kind) { (count) " " (kind) } " " }
                    @for fault in &entry.faults { span.badge.warn { "fault " (json!(fault.kind).as_str().unwrap_or_default()) } " " }
                    span.hint { (arguments_in_short(entry)) }
                }
                h3 { "Arguments" }
                (json_block("Arguments", &Json::Object(entry.call.arguments.clone())))
                h3 { "Reply" }
                (json_block("Reply", &entry.reply.json_tree(&world.zone)))
                @if !entry.changes.is_empty() { h3 { "What changed" } (changes::list(world, &entry.changes, IN_TIME)) }
                p.actions {
                    a href=(visit.links.query(&["sessions", &live.id, "state"], &[("at", &after)])) { "Records after this call" }
                    form.inline method="post" action=(visit.links.page(&["sessions", &live.id, "fork"])) {
                        input type="hidden" name="at" value=(after);
                        button.quiet { "Fork after this call" }
                    }
                }
            }
        }
    }
}

/// Returns the number of a call's changes by kind.
fn counts(entry: &LogEntry) -> impl Iterator<Item = (&'static str, usize)> {
    let count = |kind| entry.changes.iter().filter(|change| changes::kind(change) == kind).count();
    let all = ["created", "updated", "deleted"].map(|kind| (kind, count(kind)));
    all.into_iter().filter(|(_, count)| *count > 0)
}

fn arguments_in_short(entry: &LogEntry) -> Markup {
    html! { @for (name, value) in entry.call.arguments.iter().take(4) { (short(name)) "=" (cell(value)) " " } }
}

fn actions(visit: &Visit<'_>, live: &Live) -> Markup {
    let post = |action: &str, label: &str| {
        html! { form.inline method="post" action=(visit.links.page(&["sessions", &live.id, action])) { button.quiet { (label) } } }
    };
    html! {
        div.actions {
            a.button href=(visit.links.page(&["sessions", &live.id, "state"])) { "Records" }
            @if live.task.is_none() { a.button href=(visit.links.page(&["worlds", &live.world.id])) { "World" } }
            (post("fork", "Fork"))
            (post("reset", "Reset"))
            @if live.task.is_some() { (post("grade", "Grade")) }
            (post("delete", "Delete"))
            form.inline.compare method="get" action=(visit.links.page(&["compare"])) {
                input type="hidden" name="left" value=(live.id);
                label for="right" { "Beside" }
                input #right name="right" required placeholder="id of another session" autocomplete="off" list="beside";
                datalist #beside { @for other in others(visit, live) { option value=(other) {} } }
                button.quiet { "Compare" }
            }
        }
    }
}

/// Returns the ids of sessions of the same world, the newest first.
fn others(visit: &Visit<'_>, live: &Live) -> Vec<String> {
    let all = visit.app.sessions().all();
    let others = all.iter().rev().filter(|slot| slot.world.hash == live.world.hash && slot.id() != live.id);
    others.take(MAX_PROPOSALS).map(|slot| slot.id().to_owned()).collect()
}

/// Shows a session's base URL, credentials and origin.
fn facts(visit: &Visit<'_>, live: &Live) -> Markup {
    let zone = &live.world.world().zone;
    let credentials = visit.app.credentials(live);
    let copied = |label: &str, text: &str| {
        html! { dt { (label) } dd { input.copied readonly value=(text) aria-label=(label); } }
    };
    html! {
        dl.facts {
            (copied("Id", &live.id))
            (copied("Base URL", &visit.app.base_url(&live.id)))
            @if visit.app.control_token().is_some() { (copied("Token of this session", &live.token)) }
            @for (name, credential) in &credentials { (copied(&format!("Credential {name}"), &credential.to_string())) }
            dt { "World" } dd { (short(&live.world.id)) ", seed " (live.session.seed()) }
            @if let Some(task) = &live.task { dt { "Task" } dd { (short(&task.id)) } }
            dt { "Clock" } dd { (clock(live.session.state().clock(), zone)) " " (zone.name()) }
            dt { "Calls" } dd { (live.session.calls()) }
            @if let Some(faults) = live.session.faults() {
                dt { "Faults" } dd { @for rule in faults.rules() { (cell(&json!(rule))) " " } }
            }
        }
    }
}

/// Renders a grade with its components and errors.
fn grade_table(grade: &GradeReply) -> Markup {
    html! {
        h2 { "Grade" }
        p { "Reward " strong { (grade.reward) } @if grade.excluded { ", excluded: the agent had no fair chance" }
            @if let Some(why) = &grade.attribution { ", attributed to " (why) } " " span.hint { "(" (grade.version) ")" } }
        (verdicts(&json!(grade)))
    }
}

fn message_form(visit: &Visit<'_>, id: &str) -> Markup {
    html! {
        form method="post" action=(visit.links.page(&["sessions", id, "messages"])) {
            div.field { label for="content" { "Say something to the user" } textarea #content name="content" rows="2" required {} }
            button { "Send" }
        }
    }
}

/// Makes a session from the current state of this one, or from an earlier one.
pub(crate) fn fork(visit: &Visit<'_>, id: &str) -> Answer {
    let request = ForkRequest { n: None, at: visit.form.number("at")? };
    let slot = slot(visit, id)?;
    let (made, after) = visit.app.sessions().fork(slot.lock(), &request, None)?;
    let made = made.first().ok_or_else(|| Problem::new(Kind::Failed, "no session was made"))?;
    Ok(Reply::Redirect(visit.links.page(&["sessions", made.id()]), after))
}

/// Resets a session to its start.
pub(crate) fn reset(visit: &Visit<'_>, id: &str) -> Answer {
    let slot = slot(visit, id)?;
    let (live, after) = visit.app.sessions().reset(slot.lock())?;
    drop(live);
    Ok(Reply::Redirect(visit.links.page(&["sessions", id]), after))
}

/// Deletes a session.
pub(crate) fn delete(visit: &Visit<'_>, id: &str) -> Answer {
    let after = visit.app.sessions().close(&*slot(visit, id)?)?;
    Ok(Reply::Redirect(visit.links.page(&["sessions"]), after))
}

/// Ends the episode and grades it.
pub(crate) fn grade(visit: &Visit<'_>, id: &str) -> Answer {
    let slot = slot(visit, id)?;
    let (_, after) = visit.app.sessions().grade(&mut *slot.enter()?)?;
    Ok(Reply::Redirect(visit.links.page(&["sessions", id]), after))
}

/// Sends a message to the user of a task.
pub(crate) fn say(visit: &Visit<'_>, id: &str) -> Answer {
    let slot = slot(visit, id)?;
    let said = visit.form.get("content").unwrap_or_default();
    let (_, after) = visit.app.sessions().hear(&mut *slot.enter()?, said)?;
    Ok(Reply::Redirect(visit.links.page(&["sessions", id]), after))
}
