//! Owns the page of two sessions side by side: the first call that differs, and the difference of their
//! records.

use std::sync::Arc;

use diorama_engine::diff;
use diorama_engine::session::{LogEntry, Session};
use diorama_sessions::{Kind, Problem, Ready};
use maud::{Markup, html};
use serde_json::{Value as Json, json};

use crate::answer::{Answer, Page, Section};
use crate::changes::{self, Sides};
use crate::pieces::{crumbs, json_block, short, short_id, status_class};
use crate::session_page::slot;
use crate::visit::Visit;

/// Maximum number of compared calls.
const MAX_CALLS: usize = 1_000;
/// Number of calls shown before the first difference.
const CALLS_BEFORE: usize = 3;
/// Maximum number of calls shown.
const CALLS_SHOWN: usize = 30;

/// Sides of a difference.
const BESIDE: Sides = Sides { first: "Left", second: "Right" };

/// One of the two sessions.
struct Side {
    id: String,
    world: Arc<Ready>,
    session: Session,
    log: Vec<Arc<LogEntry>>,
}

/// Shows two sessions side by side.
pub(crate) fn show(visit: &Visit<'_>) -> Answer {
    let sessions = visit.query.get("left").zip(visit.query.get("right"));
    let (left, right) = sessions.ok_or_else(|| Problem::about("right", "the id of a session", "nothing"))?;
    let (left, right) = (side(visit, left)?, side(visit, right)?);
    if left.world.hash != right.world.hash {
        let detail = format!(
            "found sessions of the worlds {} and {}, expected one world",
            left.world.id, right.world.id
        );
        return Err(Problem::new(Kind::Conflict, detail));
    }
    let calls = left.log.len().max(right.log.len());
    let pairs = || (0..calls).map(|position| (left.log.get(position), right.log.get(position)));
    let parts_at = pairs().position(|(left, right)| !are_alike(left, right));
    let from = parts_at.unwrap_or(0).saturating_sub(CALLS_BEFORE);
    let world = left.world.world();
    let differences = diff(&left.world.base, left.session.state(), right.session.state());
    let body = html! {
        (crumbs(&[(visit.links.page(&["sessions"]), "Sessions")]))
        h1 { "Two sessions" }
        p { "Left: " (link(visit, &left)) ", calls: " (left.session.calls()) ". Right: " (link(visit, &right)) ", calls: " (right.session.calls()) "." }
        @match parts_at {
            Some(position) => { p { "They part at " strong { "call " (position + 1) } ": " (reason(left.log.get(position), right.log.get(position))) "." } },
            None => { p { "Their calls and replies are the same" @if calls == MAX_CALLS { " up to call " (calls) } "." } },
        }
        @if calls > 0 {
            h2 { "Calls" }
            div.scroll tabindex="0" role="region" aria-label="Calls side by side" { table.beside {
                thead { tr { th scope="col" { "Call" } th scope="col" { "Left" } th scope="col" { "Right" } } }
                tbody {
                    @for (position, (one, other)) in pairs().enumerate().skip(from).take(CALLS_SHOWN) {
                        tr class=[(!are_alike(one, other)).then_some("differs")] {
                            th scope="row" { (position + 1) @if parts_at == Some(position) { " " span.badge.warn { "parts" } } }
                            td { (call(&left, one)) }
                            td { (call(&right, other)) }
                        }
                    }
                }
            } }
        }
        h2 { "Records that differ now" }
        @if differences.is_empty() { p.hint { "None." } }
        @else { p.hint { "Created: on the right only. Deleted: on the left only." } }
        (changes::list(world, &differences, BESIDE))
    };
    Ok(Page::reply(Section::Sessions, "Two sessions", body))
}

fn side(visit: &Visit<'_>, id: &str) -> Result<Side, Problem> {
    let slot = slot(visit, id)?;
    let mut live = slot.enter()?;
    visit.app.sessions().recall(&mut live)?;
    let mut room = visit.app.sessions().room("the calls of a session");
    let entries = live.session.log().take(MAX_CALLS);
    let entries = entries.map(|entry| {
        room.take(entry.reply.body.bytes())?;
        Ok(entry)
    });
    let log = entries.collect::<Result<Vec<_>, Problem>>()?;
    Ok(Side { id: id.to_owned(), world: Arc::clone(&live.world), session: live.session.fork(), log })
}

/// Returns true if two calls and their replies are equal.
fn are_alike(left: Option<&Arc<LogEntry>>, right: Option<&Arc<LogEntry>>) -> bool {
    left.zip(right).is_some_and(|(left, right)| left.call == right.call && left.reply == right.reply)
}

fn reason(left: Option<&Arc<LogEntry>>, right: Option<&Arc<LogEntry>>) -> &'static str {
    match (left, right) {
        (Some(left), Some(right)) if left.call.api != right.call.api => "they call other APIs",
        (Some(left), Some(right)) if left.call != right.call => "they give other arguments",
        (Some(_), Some(_)) => "they get other replies",
        _ => "one of them has no more calls",
    }
}

fn link(visit: &Visit<'_>, side: &Side) -> Markup {
    html! { a href=(visit.links.page(&["sessions", &side.id])) { "session " code { (short_id(&side.id)) } } }
}

fn call(side: &Side, entry: Option<&Arc<LogEntry>>) -> Markup {
    let Some(entry) = entry else { return html! { span.none { "no call" } } };
    html! {
        details {
            summary { strong { (short(&entry.call.api)) } " " span.badge.(status_class(entry.reply.status)) { (entry.reply.status) } " "
                span.hint { (short(&Json::Object(entry.call.arguments.clone()).to_string())) } }
            (json_block("Arguments", &json!(entry.call.arguments)))
            (json_block("Reply", &entry.reply.json_tree(&side.world.world().zone)))
        }
    }
}
