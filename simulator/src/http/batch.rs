//! Calls of many sessions in one request: how a trainer steps all its episodes at once.
//!
//! Owns who makes which call. Sessions share nothing, and the calls of one are made in their order, so the number of
//! threads changes no reply.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::num::NonZero;
use std::thread;

use axum::body::Body;
use axum::http::Response;
use diorama_seeds::task::Call;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::App;
use super::after::After;
use super::problem::{Problem, text};
use super::sessions::lock;
use super::surface::Incoming;

/// Calls in one request, at most.
pub(super) const MAX_BATCH: usize = 4_096;
/// A thread more is worth so many calls.
const CALLS_PER_THREAD: usize = 64;

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
        let count = calls.len();
        let mut shares = shared_out(calls, threads(count)).into_iter();
        // The thread that took the request does its share as well.
        let own = shares.next().unwrap_or_default();
        let mut made = thread::scope(|scope| {
            let others: Vec<_> = shares.map(|share| scope.spawn(|| self.make_all(share))).collect();
            let mut made = self.make_all(own);
            for other in others {
                made.extend(other.join().map_err(|_| Problem::new(500, "the server failed at a call"))?);
            }
            Ok::<_, Problem>(made)
        })?;
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

    fn make_all(&self, share: Vec<(usize, One)>) -> Vec<Made> {
        let made = share.into_iter().map(|(place, one)| {
            let (text, after) =
                self.make(one).unwrap_or_else(|problem| (refused(&problem), After::default()));
            Made { place, text, after }
        });
        made.collect()
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

fn threads(calls: usize) -> usize {
    let most = thread::available_parallelism().map_or(1, NonZero::get);
    calls.div_ceil(CALLS_PER_THREAD).clamp(1, most)
}

/// Calls by who makes them, with their places in the request; all of one session by one.
fn shared_out(calls: Vec<One>, threads: usize) -> Vec<Vec<(usize, One)>> {
    let mut shares: Vec<Vec<(usize, One)>> = Vec::new();
    shares.resize_with(threads, Vec::new);
    let mut known: HashMap<String, usize> = HashMap::new();
    for (place, one) in calls.into_iter().enumerate() {
        let next = known.len() % threads;
        let thread = match known.get(&one.session) {
            Some(thread) => *thread,
            None => *known.entry(one.session.clone()).or_insert(next),
        };
        if let Some(share) = shares.get_mut(thread) {
            share.push((place, one));
        }
    }
    shares
}
