//! Owns the page of a session's records, now or after an earlier call, with the changes.

use std::collections::HashMap;

use diorama_engine::RecordChange;
use diorama_seeds::model::{Resource, ResourceId};
use diorama_seeds::value::Value;
use diorama_sessions::{Live, Problem};
use maud::{Markup, html};

use crate::answer::{Answer, Page, Section};
use crate::changes::{self, IN_TIME};
use crate::pieces::{Mark, Range, crumbs, pager, records, short_id};
use crate::session_page::slot;
use crate::visit::Visit;
use crate::worlds_page::resource_id;

/// Number of records on a page.
const RECORDS_PER_PAGE: usize = 50;

/// Shows the records of one resource after a number of calls, and all changes up to then.
pub(crate) fn show(visit: &Visit<'_>, id: &str) -> Answer {
    let slot = slot(visit, id)?;
    let mut live = slot.enter()?;
    let calls = live.session.calls();
    let at = visit.query.number("at")?.unwrap_or(calls);
    if at > calls {
        return Err(Problem::about("at", &format!("a number of calls from 0 to {calls}"), at));
    }
    visit.app.sessions().recall(&mut live)?;
    let live = &*live;
    let session = live.session.fork_at(at);
    let last = at.checked_sub(1).and_then(|before| live.session.log_from(before).next());
    let world = live.world.world();
    let diff = session.diff();
    let first = diff.first().map(|change| &*world.resource(change.resource).qualified);
    let first = first.or_else(|| world.resources.first().map(|resource| &*resource.qualified));
    let name = visit.query.get("resource").or(first).unwrap_or_default();
    let at_text = at.to_string();
    let body = html! {
        (crumbs(&[(visit.links.page(&["sessions"]), "Sessions"), (visit.links.page(&["sessions", id]), short_id(id))]))
        h1 { "Records of session " code { (short_id(id)) } }
        (slider(visit, id, name, at, calls))
        div #state {
            p { "After " strong { (at) } " of " (calls) " calls"
                @if let Some(entry) = &last { ", the last of them " strong { (entry.call.api) } } "." }
            @if let Some(entry) = last.as_ref().filter(|entry| !entry.changes.is_empty()) {
                section aria-label="What this call changed" {
                    h2 { "What this call changed" }
                    (changes::list(world, &entry.changes, IN_TIME))
                }
            }
            (tabs(visit, live, id, name, &at_text, &diff))
            @if !name.is_empty() {
                @let resource = resource_id(world, name)?;
                @let declared = world.resource(resource);
                @let total = session.state().count(&live.world.base, resource);
                @let offset = visit.query.number("offset")?.unwrap_or(0);
                @let marks = marks(&diff, resource);
                @let rows = session.state().iter(&live.world.base, resource).skip(offset).take(RECORDS_PER_PAGE);
                (records(declared, &world.zone, &format!("Records of {name}"), rows.map(|record| (record, record.get(declared.key.index()).and_then(|key| marks.get(key).copied()).flatten()))))
                (pager(&visit.links, &["sessions", id, "state"], &[("resource", name), ("at", &at_text)], Range { offset, limit: RECORDS_PER_PAGE, total }))
            }
            section aria-label="Changes since the start" {
                h2 { "Changes since the start" }
                @if diff.is_empty() { p.hint { "None." } }
                (changes::list(world, &diff, IN_TIME))
            }
        }
    };
    Ok(Page::reply(Section::Sessions, format!("Records of {}", short_id(id)), body))
}

/// Renders the form that chooses a call.
fn slider(visit: &Visit<'_>, id: &str, resource: &str, at: usize, calls: usize) -> Markup {
    let address = visit.links.page(&["sessions", id, "state"]);
    html! {
        form.slider method="get" action=(address) {
            input type="hidden" name="resource" value=(resource);
            label for="at" { "After call" }
            input #at type="range" name="at" min="0" max=(calls) value=(at) hx-get=(address) hx-trigger="input changed delay:120ms"
                hx-target="#state" hx-select="#state" hx-swap="outerHTML" hx-include="closest form" hx-replace-url="true" hx-sync="this:replace";
            button { "Show" }
        }
    }
}

/// Renders links to the resources, with the numbers of their changed records.
fn tabs(visit: &Visit<'_>, live: &Live, id: &str, name: &str, at: &str, diff: &[RecordChange]) -> Markup {
    let world = live.world.world();
    let changed = |resource: &Resource| {
        diff.iter().filter(|change| world.resource(change.resource).qualified == resource.qualified).count()
    };
    html! {
        nav.tabs aria-label="Resources" {
            @for resource in &world.resources {
                @let count = changed(resource);
                a href=(visit.links.query(&["sessions", id, "state"], &[("resource", &resource.qualified), ("at", at)]))
                    aria-current=[(*resource.qualified == *name).then_some("true")] {
                    (resource.qualified) @if count > 0 { " " span.badge.updated { (count) span.sr { " changed" } } }
                }
            }
        }
    }
}

/// Returns the marks of changed records, by key.
fn marks(diff: &[RecordChange], resource: ResourceId) -> HashMap<&Value, Mark> {
    let own = diff.iter().filter(|change| change.resource == resource);
    own.map(|change| (&change.key, Some((changes::kind(change), changes::kind(change))))).collect()
}
