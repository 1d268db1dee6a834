//! Owns the calls by name.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::State;
use diorama_seeds::task::Call;
use diorama_seeds::value::Zone;
use diorama_sessions::{Live, NamedCall};

use crate::http::answer::{Answer, after, json_text};
use crate::http::app::App;
use crate::http::extract::{Body, Session};
use crate::http::request_types::CallRequest;

/// Calls an API, or a tool of the conversation, by name.
pub(in crate::http) async fn call(
    State(app): State<Arc<App>>,
    Session(slot): Session,
    body: Body<CallRequest>,
) -> Answer {
    let (CallRequest { api, arguments }, _held) = body.into_parts();
    let (body, steps) = app.sessions.call(slot, Call { api, arguments }, called).await?;
    Ok(after(steps, json_text(200, body)))
}

fn called(call: &NamedCall, live: &Live) -> String {
    result(call, &live.world.world().zone)
}

/// Returns the result of a call by name, as JSON.
pub(super) fn result(call: &NamedCall, zone: &Zone) -> String {
    written(call.status(), |out| call.write_body(zone, out))
}

/// Returns a result with this status. `body` appends the body.
pub(super) fn written(status: u16, body: impl FnOnce(&mut String)) -> String {
    let mut out = String::with_capacity(512);
    let _ = write!(out, "{{\"status\":{status},\"body\":");
    body(&mut out);
    out.push('}');
    out
}
