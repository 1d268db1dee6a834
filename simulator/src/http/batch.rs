//! Calls of many sessions in one request: how a trainer steps all its episodes at once.
//!
//! Owns who makes which call. Sessions share nothing, and the calls of one are made in their order by one thread, so
//! the number of threads changes no reply.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use super::after::After;
use super::app::App;
use super::incoming::Incoming;
use super::named_call::NamedCall;
use super::problem::{Answer, Problem, text};
use super::request_types::{BatchCall, BatchRequest, MAX_BATCH_CALLS};
use super::sessions::lock;
use diorama_seeds::task::Call;
use diorama_seeds::value::Zone;
use indexmap::IndexMap;
use rayon::prelude::*;

/// Calls of so many sessions are worth a thread more.
const SESSIONS_PER_THREAD: usize = 64;

/// The results of the calls so far, as JSON by their places in the request.
///
/// Of replies that come to more than the cap, the first ones are given and the others are withheld. Which those are follows
/// from their lengths alone, whatever order the calls end in: where there are too many bytes, the last places go first,
/// and no place that goes can have been among those that fit.
struct Results {
    texts: BTreeMap<usize, String>,
    bytes: u64,
    most: u64,
    /// From this place on, replies are withheld.
    cut: usize,
    after: After,
}

impl Results {
    fn new(most: u64) -> Self {
        Self { texts: BTreeMap::new(), bytes: 0, most, cut: usize::MAX, after: After::default() }
    }

    fn add(&mut self, place: usize, text: String, after: After) {
        self.after.join(after);
        if place >= self.cut {
            return;
        }
        self.bytes += text.len() as u64;
        self.texts.insert(place, text);
        while self.bytes > self.most
            && let Some((place, text)) = self.texts.pop_last()
        {
            self.bytes -= text.len() as u64;
            self.cut = place;
        }
    }

    /// The reply to all calls.
    fn text(self, calls: usize) -> (String, After) {
        let most = self.most;
        let detail = format!(
            "the replies of this request come to more than {most} bytes (--max-reply-bytes): this call was made, and \
             its reply, which the session's log has, is withheld; make fewer calls at a time"
        );
        let mut withheld = text_of(&Problem::new(422, detail).with("limit", most));
        withheld.push_str(",\"withheld\":true}");
        let mut body = String::with_capacity(self.bytes as usize + 16 + calls);
        body.push_str("{\"results\":[");
        for place in 0..calls {
            if place > 0 {
                body.push(',');
            }
            body.push_str(self.texts.get(&place).unwrap_or(&withheld));
        }
        body.push_str("]}");
        (body, self.after)
    }
}

impl App {
    /// Makes the calls, and gives what came of each in the order they were asked in.
    pub(super) fn batch(&self, request: &Incoming<'_>) -> Answer {
        let BatchRequest { calls } = request.json()?;
        if calls.len() > MAX_BATCH_CALLS {
            let detail = format!("`calls`: expected at most {MAX_BATCH_CALLS}, found {}", calls.len());
            return Err(Problem::new(422, detail)
                .with("parameter", "calls")
                .with("limit", MAX_BATCH_CALLS as u64));
        }
        let count = calls.len();
        let sessions = by_session(calls);
        let results = Mutex::new(Results::new(self.settings.max_reply_bytes));
        let make = |(place, one)| {
            let (text, after) =
                self.make(one).unwrap_or_else(|problem| (refused(&problem), After::default()));
            results.lock().unwrap_or_else(PoisonError::into_inner).add(place, text, after);
        };
        match sessions.len() {
            // Waking another thread takes longer than these.
            0..=SESSIONS_PER_THREAD => sessions.into_iter().flatten().for_each(make),
            _ => {
                let sessions = sessions.into_par_iter().with_min_len(SESSIONS_PER_THREAD);
                sessions.for_each(|calls| calls.into_iter().for_each(make));
            }
        }
        let (body, after) = results.into_inner().unwrap_or_else(PoisonError::into_inner).text(count);
        Ok(after.on(text(200, "application/json", body)))
    }

    fn make(&self, one: BatchCall) -> Result<(String, After), Problem> {
        let BatchCall { session, api, arguments } = one;
        let slot = self.sessions.get(&session, self.now_ms())?;
        let mut made = self.call_by_name(&mut lock(&slot), &Call { api, arguments })?;
        if made.after.dropped {
            made.after.dropped = false;
            return Ok(("{\"dropped\":true}".to_owned(), made.after));
        }
        let mut text = called(&made, &slot.world.world().zone);
        if let Some(seconds) = made.after.retry_after() {
            text.pop();
            let _ = write!(text, ",\"retry_after\":{seconds}}}");
        }
        Ok((text, made.after))
    }
}

/// The result of a call by name.
pub(super) fn called(call: &NamedCall, zone: &Zone) -> String {
    result(call.status(), |out| call.write_body(zone, out))
}

fn result(status: u16, body: impl FnOnce(&mut String)) -> String {
    let mut out = String::with_capacity(512);
    let _ = write!(out, "{{\"status\":{status},\"body\":");
    body(&mut out);
    out.push('}');
    out
}

/// The result of a call that the server did not make.
fn refused(problem: &Problem) -> String {
    let mut text = text_of(problem);
    text.push_str(",\"refused\":true}");
    text
}

/// A problem as a result that is still open.
fn text_of(problem: &Problem) -> String {
    let mut text = result(problem.status(), |out| out.push_str(&problem.body().to_string()));
    text.pop();
    text
}

/// Calls by session, with their places in the request.
fn by_session(calls: Vec<BatchCall>) -> Vec<Vec<(usize, BatchCall)>> {
    let mut sessions: IndexMap<String, Vec<(usize, BatchCall)>> = IndexMap::new();
    for (place, one) in calls.into_iter().enumerate() {
        sessions.entry(one.session.clone()).or_default().push((place, one));
    }
    sessions.into_values().collect()
}
