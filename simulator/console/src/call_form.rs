//! Owns the page of an API: its documentation, and a form that calls it in a session.

use std::sync::Arc;

use diorama_engine::session::LogEntry;
use diorama_seeds::model::{Api, Parameter, World};
use diorama_seeds::schema::{Schema, Type};
use diorama_seeds::task::Call;
use diorama_sessions::{CreateRequest, Kind, PendingSteps, Problem, Ready, quoted};
use maud::{Markup, html};
use serde_json::{Map, Value as Json, json};

use crate::answer::{Answer, Page, Section};
use crate::changes::{self, IN_TIME};
use crate::pieces::{cell, crumbs, json_block, prose, short, short_id, status_class};
use crate::visit::Visit;
use crate::worlds_page::find_world;

/// Seconds without a request after which a scratch session ends.
const SCRATCH_SECONDS: u64 = 3_600;
/// Prefix of the form fields for arguments.
const ARGUMENT: &str = "argument:";
/// Maximum number of record keys that the form proposes.
const MAX_PROPOSALS: usize = 20;

/// Outcome of a call.
struct Outcome {
    session: String,
    /// Position of the call in the session's log, from 0.
    position: usize,
    entry: Arc<LogEntry>,
    lost: bool,
}

/// Shows an API's documentation and the form.
pub(crate) fn show(visit: &Visit<'_>, world: &str, api: &str) -> Answer {
    page(visit, world, api, None, PendingSteps::default())
}

/// Calls an API in the session that the form names, or in a new one.
pub(crate) fn call(visit: &Visit<'_>, world: &str, api: &str) -> Answer {
    let ready = find_world(visit, world)?.ready()?;
    let arguments = arguments(visit, find(&ready, api)?);
    let sessions = visit.app.sessions();
    let (slot, made) = match visit.form.get("session") {
        Some(id) => (sessions.get(id)?, PendingSteps::default()),
        None => {
            let request = CreateRequest {
                world: Some(world.to_owned()),
                lease_seconds: Some(SCRATCH_SECONDS),
                ..CreateRequest::default()
            };
            let (new, made) = sessions.create(request, None)?;
            let none = || Problem::new(Kind::Failed, "no session was made");
            (new.into_iter().next().ok_or_else(none)?, made)
        }
    };
    let mut live = slot.enter()?;
    if live.world.hash != ready.hash {
        let detail = format!("the session is of another world, expected one of {}", quoted(world, 60));
        return Err(Problem::new(Kind::Conflict, detail));
    }
    let position = live.session.calls();
    let (entry, mut after) = sessions.step(&mut live, Call { api: api.to_owned(), arguments })?;
    drop(live);
    let outcome = Outcome { session: slot.id().to_owned(), position, entry, lost: after.take_dropped() };
    after.join(made);
    page(visit, world, api, Some(&outcome), after)
}

fn find<'r>(ready: &'r Ready, name: &str) -> Result<&'r Api, Problem> {
    let missing = || Problem::new(Kind::NotFound, format!("the world has no API {}", quoted(name, 60)));
    let id = ready.base.api_named(name).ok_or_else(missing)?;
    Ok(ready.world().api(id))
}

fn page(
    visit: &Visit<'_>,
    world: &str,
    name: &str,
    outcome: Option<&Outcome>,
    after: PendingSteps,
) -> Answer {
    let ready = find_world(visit, world)?.ready()?;
    let api = find(&ready, name)?;
    let model = ready.world();
    let base_path = model.domains.get(api.domain.index()).map_or("", |domain| &*domain.base_path);
    let shown = || api.parameters.iter().filter(|parameter| !parameter.hidden);
    let session = outcome.map(|outcome| outcome.session.as_str()).or_else(|| visit.query.get("session"));
    let address = visit.links.page(&["worlds", world, "apis", name]);
    let body = html! {
        (crumbs(&[(visit.links.page(&[]), "Worlds"), (visit.links.page(&["worlds", world]), world)]))
        h1 { (api.name) }
        p { code.path { (api.method.as_str()) " " (base_path) (api.path) } }
        (prose(&api.description))
        @if !api.measures.is_empty() { (prose(&api.measures)) }
        div.columns {
            section aria-labelledby="call" {
                h2 #call { "Call it" }
                form.call #call-form method="post" action=(address) hx-post=(address) hx-target="#outcome" hx-select="#outcome" hx-swap="outerHTML" {
                    @for parameter in shown() { (input(visit, model, parameter)) }
                    @if shown().next().is_none() { p.hint { "It takes no arguments." } }
                    button { "Call " (api.name) }
                }
            }
            (result(visit, model, session, outcome))
        }
        h2 { "Parameters" }
        @if shown().next().is_none() { p.hint { "None." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Parameters" { table {
                thead { tr { th scope="col" { "Name" } th scope="col" { "Type" } th scope="col" { "Required" } th scope="col" { "Default" } th scope="col" { "Description" } } }
                tbody { @for parameter in shown() {
                    tr {
                        td { code { (parameter.name) } }
                        td { (type_name(model, &parameter.schema)) }
                        td { @if parameter.required { "yes" } @else { "no" } }
                        td { @if let Some(value) = &parameter.default { (cell(&value.to_json(&model.zone))) } }
                        td { (short(&parameter.description)) }
                    }
                } }
            } }
        }
        details {
            summary { "As a tool for a model (JSON Schema)" }
            @if let Some(schema) = ready.base.api_named(name).and_then(|id| ready.base.tool_schema(id)) { (json_block("Tool schema", schema)) }
        }
    };
    Ok(Page::after(Section::Worlds, name, body, after))
}

/// Returns the outcome beside the form, with the session for the next call.
fn result(visit: &Visit<'_>, world: &World, session: Option<&str>, outcome: Option<&Outcome>) -> Markup {
    html! {
        section #outcome aria-live="polite" aria-label="Outcome" {
            @if let Some(id) = session {
                input type="hidden" name="session" value=(id) form="call-form";
            }
            @match outcome {
                None if session.is_none() => { h2 { "Outcome" } p.hint { "The first call makes a scratch session; the next ones go on with it." } }
                None => { h2 { "Outcome" } p.hint { "Calls go to the session that you came from." } }
                Some(Outcome { session, position, entry, lost }) => {
                    h2 { "Outcome " span.badge.(status_class(entry.reply.status)) { (entry.reply.status) } }
                    p { "Call " (position + 1) " of " a href=(visit.links.page(&["sessions", session])) { "session " (short_id(session)) } }
                    @if *lost { p.problem { "A fault loses this reply: a client would not get it." } }
                    @for fault in &entry.faults { p.hint { "fault " (json!(fault.kind).as_str().unwrap_or_default()) } }
                    h3 { "Request" }
                    (json_block("Request", &json!({"api": entry.call.api, "arguments": entry.call.arguments})))
                    h3 { "Reply" }
                    (json_block("Reply", &entry.reply.json_tree(&world.zone)))
                    h3 { "What changed" }
                    @if entry.changes.is_empty() { p.hint { "No record." } }
                    (changes::list(world, &entry.changes, IN_TIME))
                }
            }
        }
    }
}

fn input(visit: &Visit<'_>, world: &World, parameter: &Parameter) -> Markup {
    let name = format!("{ARGUMENT}{}", parameter.name);
    let given = visit.form.get(&name).unwrap_or_default();
    let describes = format!("{name}-note");
    let list = format!("{name}-list");
    let control = match &parameter.schema.kind {
        Type::Enum(words) => choice(&name, given, words.iter().map(|word| &**word)),
        Type::Boolean => choice(&name, given, ["true", "false"].into_iter()),
        Type::List(_) | Type::Object(_) | Type::Any => html! {
            textarea id=(name) name=(name) rows="3" aria-describedby=(describes) required[parameter.required] { (given) }
        },
        Type::Reference { resource, .. } => {
            let declared = world.resource(*resource);
            let key = |record: &diorama_seeds::model::Record| {
                record.get(declared.key.index()).map(|key| key.to_json(&world.zone))
            };
            html! {
                input id=(name) name=(name) value=(given) list=(list) aria-describedby=(describes) required[parameter.required] autocomplete="off";
                datalist id=(list) {
                    @for key in declared.records.iter().take(MAX_PROPOSALS).filter_map(key) {
                        option value=(key.as_str().map_or_else(|| key.to_string(), str::to_owned)) {}
                    }
                }
            }
        }
        _ => html! {
            input id=(name) name=(name) value=(given) aria-describedby=(describes) required[parameter.required] autocomplete="off";
        },
    };
    html! {
        div.field {
            label for=(name) { (parameter.name) @if parameter.required { span.required aria-hidden="true" { " *" } } }
            (control)
            p.hint id=(describes) { (type_name(world, &parameter.schema)) @if !parameter.description.is_empty() { ": " (short(&parameter.description)) } }
        }
    }
}

fn choice<'w>(name: &str, given: &str, words: impl Iterator<Item = &'w str>) -> Markup {
    html! {
        select id=(name) name=(name) {
            option value="" { "left out" }
            @for word in words { option value=(word) selected[word == given] { (word) } }
        }
    }
}

/// Returns the arguments in the form, without empty ones.
fn arguments(visit: &Visit<'_>, api: &Api) -> Map<String, Json> {
    let given = api.parameters.iter().filter_map(|parameter| {
        let text = visit.form.get(&format!("{ARGUMENT}{}", parameter.name))?;
        Some((parameter.name.to_string(), argument(&parameter.schema, text)))
    });
    given.collect()
}

/// Parses a text as a value of a type. Invalid JSON is sent as text, so that the world names the expected
/// type.
fn argument(schema: &Schema, text: &str) -> Json {
    match schema.kind {
        Type::String | Type::Enum(_) | Type::Date | Type::Time | Type::DateTime => json!(text),
        Type::Reference { key: diorama_seeds::schema::KeyKind::String, .. } => json!(text),
        _ => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    }
}

fn type_name(world: &World, schema: &Schema) -> String {
    match &schema.kind {
        Type::Integer => "integer".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Decimal { currency: Some(currency), .. } => format!("amount in {currency}"),
        Type::Decimal { .. } => "decimal".to_owned(),
        Type::Date => "date (2026-03-09)".to_owned(),
        Type::Time => "time (17:30)".to_owned(),
        Type::DateTime => "date-time (2026-03-09T17:30)".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::String => {
            schema.format.as_deref().map_or("text".to_owned(), |format| format!("text ({format})"))
        }
        Type::Enum(words) => format!("one of {} words", words.len()),
        Type::Reference { resource, .. } => format!("key of {}", world.resource(*resource).qualified),
        Type::List(item) => format!("JSON list of {}", type_name(world, item)),
        Type::Object(_) => "JSON object".to_owned(),
        Type::Any => "JSON".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_a_value_of_the_declared_type() {
        let check =
            |kind: Type, text: &str, expect: Json| assert_eq!(argument(&Schema::of(kind), text), expect);
        check(Type::Integer, "12", json!(12));
        check(Type::Integer, "twelve", json!("twelve"));
        check(Type::String, "12", json!("12"));
        check(Type::Boolean, "true", json!(true));
        check(Type::List(Arc::new(Schema::of(Type::Integer))), "[1, 2]", json!([1, 2]));
        check(Type::Date, "2026-03-09", json!("2026-03-09"));
    }
}
