//! Calls of many sessions in one request: how a trainer steps all its episodes at once.
//!
//! Owns who makes which call. Sessions share nothing, and the calls of one are made in their order by one thread, so
//! the number of threads changes no reply.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::Response;
use diorama_seeds::task::Call;
use indexmap::IndexMap;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::App;
use super::after::After;
use super::problem::{Problem, text};
use super::sessions::lock;
use super::surface::Incoming;

/// Calls in one request, at most.
pub(super) const MAX_BATCH: usize = 4_096;
/// Calls of so many sessions are worth a thread more.
const SESSIONS_PER_THREAD: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch {
    calls: Vec<One>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    session: String,
    api: String,
    #[serde(default)]
    arguments: Map<String, Json>,
}

/// What came of a call, as JSON text, and what is to do before it may be told.
struct Made {
    place: usize,
    text: String,
    after: After,
}

impl App {
    /// Makes the calls, and gives what came of each in the order they were asked in.
    pub(super) fn batch(&self, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let Batch { calls } = request.json()?;
        if calls.len() > MAX_BATCH {
            let detail = format!("`calls`: expected at most {MAX_BATCH}, found {}", calls.len());
            return Err(Problem::new(422, detail).with("parameter", "calls").with("limit", MAX_BATCH as u64));
        }
        let sessions = by_session(calls);
        let make = |(place, one)| {
            let (text, after) =
                self.make(one).unwrap_or_else(|problem| (refused(&problem), After::default()));
            Made { place, text, after }
        };
        let mut made: Vec<Made> = match sessions.len() {
            // Waking another thread takes longer than these.
            0..=SESSIONS_PER_THREAD => sessions.into_iter().flatten().map(make).collect(),
            _ => {
                let sessions = sessions.into_par_iter().with_min_len(SESSIONS_PER_THREAD);
                sessions.flat_map_iter(|calls| calls.into_iter().map(make)).collect()
            }
        };
        made.sort_unstable_by_key(|made| made.place);
        let mut body = String::with_capacity(16 + made.iter().map(|made| made.text.len() + 1).sum::<usize>());
        body.push_str("{\"results\":[");
        let mut after = After::default();
        for made in made {
            if made.place > 0 {
                body.push(',');
            }
            body.push_str(&made.text);
            after.join(made.after);
        }
        body.push_str("]}");
        Ok(after.on(text(200, "application/json", body)))
    }

    fn make(&self, one: One) -> Result<(String, After), Problem> {
        let One { session, api, arguments } = one;
        let slot = self.sessions.get(&session, self.now_ms())?;
        let mut live = lock(&slot);
        let (entry, mut after) = self.step(&mut live, &Call { api, arguments })?;
        if after.dropped {
            after.dropped = false;
            return Ok(("{\"dropped\":true}".to_owned(), after));
        }
        let mut text =
            called(entry.reply.status, |out| entry.reply.body.write_json(out, &live.world.world().zone));
        if let Some(seconds) = after.retry_after() {
            text.pop();
            let _ = write!(text, ",\"retry_after\":{seconds}}}");
        }
        Ok((text, after))
    }
}

/// The result of a call by name.
pub(super) fn called(status: u16, body: impl FnOnce(&mut String)) -> String {
    let mut out = String::with_capacity(512);
    let _ = write!(out, "{{\"status\":{status},\"body\":");
    body(&mut out);
    out.push('}');
    out
}

/// The result of a call that the server did not make.
fn refused(problem: &Problem) -> String {
    let mut text = called(problem.status(), |out| out.push_str(&problem.body().to_string()));
    text.pop();
    text.push_str(",\"refused\":true}");
    text
}

/// Calls by session, with their places in the request.
fn by_session(calls: Vec<One>) -> Vec<Vec<(usize, One)>> {
    let mut sessions: IndexMap<String, Vec<(usize, One)>> = IndexMap::new();
    for (place, one) in calls.into_iter().enumerate() {
        sessions.entry(one.session.clone()).or_default().push((place, one));
    }
    sessions.into_values().collect()
}
