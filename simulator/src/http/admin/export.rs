//! Owns the export of a session's log: a dialogue's skeleton, a HAR file, a curl script.
//!
//! Timestamps are the session's own, so that the same session gives the same bytes.

mod form;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use axum::http::header::{CONTENT_DISPOSITION, HeaderValue};
use axum::response::IntoResponse as _;
use diorama_sessions::{Live, Problem, Room, Slot, quoted};
use serde_json::{Value as Json, json};

use self::form::Form;
use crate::http::answer::{Answer, Reply, text};
use crate::http::app::App;
use crate::http::extract::{Query, Session};
use crate::http::request_types::{EXPORT_FORMATS, ExportQuery, Flag};
use crate::http::view;
use crate::http::world::auth;
use diorama_engine::session::LogEntry;

/// Exports a session's log in the format that the query names.
pub(in crate::http) async fn export(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    Query(query): Query<ExportQuery>,
) -> Answer {
    let server = Arc::clone(&app);
    app.large(move || write(&server, &slot, &query)).await
}

fn write(app: &App, slot: &Slot, query: &ExportQuery) -> Result<Response<Body>, Problem> {
    let mut live = slot.lock();
    app.sessions.recall(&mut live)?;
    let base = app.base_url(&live.id);
    let by_name = format!("{}/v1/sessions/{}/call", app.settings.public_url, live.id);
    let credentials = query.credentials == Some(Flag::True);
    let requests = Requests { live: &live, base: &base, by_name: &by_name, credentials };
    let room = app.sessions.room("the session's calls and replies");
    let (mut response, name) = match query.format.as_deref().unwrap_or(EXPORT_FORMATS[0]) {
        "dialogue" => (Reply::ok(dialogue(&live, room)?).into_response(), "dialogue.json"),
        "har" => (Reply::ok(har(&requests, room)?).into_response(), "session.har"),
        "curl" => (text(200, "text/x-shellscript; charset=utf-8", curl(&requests)), "session.sh"),
        other => {
            let expected = format!("one of {}", EXPORT_FORMATS.join(", "));
            return Err(Problem::about("format", &expected, quoted(other, 60)));
        }
    };
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response.headers_mut().insert(CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// Calls of a session as requests.
struct Requests<'a> {
    live: &'a Live,
    base: &'a str,
    by_name: &'a str,
    /// True if the requests carry the credentials of the session's client.
    credentials: bool,
}

impl Requests<'_> {
    fn form(&self, entry: &LogEntry) -> Form {
        let world = self.live.world.world();
        let mut form = Form::of(world, entry, self.base, self.by_name);
        if let Some(id) = entry.api.filter(|_| self.credentials) {
            form.add_proofs(auth::proofs(&auth::holder(self.live), world.api(id)));
        }
        form
    }
}

/// Returns the messages of a dialogue that the episode has. Words beside a call are null, as is an unsent
/// last message: a person has to fill them in.
fn dialogue(live: &Live, mut room: Room) -> Result<Json, Problem> {
    let world = live.world.world();
    let task = live.task.as_deref();
    let mut messages = vec![
        json!({"role": "system", "content": task.map(|task| &task.system)}),
        json!({"role": "user", "content": task.map(|task| task.script.opening())}),
    ];
    let mut exchanges = live.said.exchanges().iter().peekable();
    let mut turn_before = |call: usize, messages: &mut Vec<Json>| {
        while let Some(exchange) = exchanges.next_if(|exchange| exchange.calls <= call) {
            messages.push(json!({"role": "assistant", "content": exchange.said}));
            messages.extend(exchange.answer.iter().map(|said| json!({"role": "user", "content": said})));
        }
    };
    let mut calls = 0;
    for (position, entry) in live.session.log().enumerate() {
        turn_before(position, &mut messages);
        let content = entry.reply.to_json(&world.zone);
        let id = format!("call_{position}");
        let arguments = Json::Object(entry.call.arguments.clone()).to_string();
        room.take((content.len() + arguments.len()) as u64)?;
        let function = json!({"name": entry.call.api, "arguments": arguments});
        messages.push(json!({
            "role": "assistant",
            "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": function}],
        }));
        messages.push(json!({
            "role": "tool",
            "tool_call_id": id,
            "name": entry.call.api,
            "content": content,
        }));
        calls = position + 1;
    }
    turn_before(calls, &mut messages);
    if !live.said.is_over() {
        messages.push(json!({"role": "assistant", "content": null}));
    }
    Ok(json!({
        "world": live.world.id,
        "world_hash": live.world.hash,
        "seed": live.session.seed(),
        "clock": view::clock(live.session.initial().clock(), &world.zone),
        "zone": world.zone.name(),
        "messages": messages,
    }))
}

fn har(requests: &Requests<'_>, mut room: Room) -> Result<Json, Problem> {
    let entry = |entry: Arc<LogEntry>| har_entry(requests, &entry, &mut room);
    let entries = requests.live.session.log().map(entry).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({
        "log": {
            "version": "1.2",
            "creator": {"name": "diorama", "version": env!("CARGO_PKG_VERSION")},
            "comment": "Moments are the session's clock.",
            "entries": entries,
        },
    }))
}

fn har_entry(requests: &Requests<'_>, entry: &LogEntry, room: &mut Room) -> Result<Json, Problem> {
    let world = requests.live.world.world();
    let form = requests.form(entry);
    let named = |pairs: &[(String, String)]| -> Vec<Json> {
        pairs.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    };
    let status = entry.reply.status;
    let said = entry.reply.to_json(&world.zone);
    let sent = form.body.as_ref().map_or(0, String::len);
    room.take((said.len() + sent) as u64)?;
    let kind = if entry.reply.is_success() { "application/json" } else { "application/problem+json" };
    let delay = entry.faults.iter().map(|fault| fault.delay_ms).max().unwrap_or(0);
    let mut request = json!({
        "method": form.method,
        "url": form.url(),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": named(&form.headers),
        "queryString": named(&form.query),
        "headersSize": -1,
        "bodySize": sent,
    });
    if let (Json::Object(request), Some(body)) = (&mut request, &form.body) {
        request.insert("postData".to_owned(), json!({"mimeType": "application/json", "text": body}));
    }
    Ok(json!({
        "startedDateTime": view::clock(entry.clock, &world.zone),
        "time": delay,
        "request": request,
        "response": {
            "status": status,
            "statusText": form::reason(status),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [{"name": "content-type", "value": kind}],
            "content": {"size": said.len(), "mimeType": kind, "text": said},
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": said.len(),
        },
        "cache": {},
        "timings": {"send": 0, "wait": delay, "receive": 0},
        "_api": entry.call.api,
        "_faults": entry.faults,
    }))
}

/// Returns a script that repeats the calls. Keys and tokens depend on the session's seed. On another session
/// of the same world, seed and clock, the script gets the same replies.
fn curl(requests: &Requests<'_>) -> String {
    let Requests { live, base, .. } = requests;
    let world = live.world.world();
    let mut out = String::from("#!/bin/sh\n");
    out.push_str("# The calls of a session. Takes the base URL of another session as its argument.\n");
    out.push_str(&format!("# world {}, seed {}, clock ", live.world.id, live.session.seed()));
    out.push_str(&view::clock(live.session.initial().clock(), &world.zone));
    out.push_str(&format!("\nset -eu\nBASE=${{1:-{}}}\n", form::quoted(base)));
    for entry in live.session.log() {
        out.push_str(&format!("\n# {}: {}\n", form::one_line(&entry.call.api), entry.reply.status));
        out.push_str(&requests.form(&entry).curl(base));
        out.push('\n');
    }
    out
}
