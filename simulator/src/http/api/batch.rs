//! Owns the calls of many sessions in one request, with which a trainer advances all its episodes at once.
//!
//! Sessions share no state, and one thread makes the calls of a session in their order. The number of threads
//! therefore changes no reply.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body as AxumBody;
use axum::extract::State;
use axum::http::Response;
use diorama_seeds::task::Call;
use diorama_sessions::{Kind, PendingSteps, Problem};
use indexmap::IndexMap;
use rayon::prelude::*;

use super::calls::{result, written};
use crate::http::answer::{Answer, after, json_text};
use crate::http::app::App;
use crate::http::extract::Body;
use crate::http::request_types::{BatchCall, BatchRequest, MAX_BATCH_CALLS};

/// Makes the calls, and returns their results in the order of the request.
pub(in crate::http) async fn call_all(State(app): State<Arc<App>>, body: Body<BatchRequest>) -> Answer {
    let (BatchRequest { calls }, held) = body.into_parts();
    if calls.len() > MAX_BATCH_CALLS {
        let detail = format!("`calls`: expected at most {MAX_BATCH_CALLS}, found {}", calls.len());
        let problem = Problem::new(Kind::Invalid, detail).with("parameter", "calls");
        return Err(problem.with("limit", MAX_BATCH_CALLS as u64).into());
    }
    let server = Arc::clone(&app);
    app.large(move || {
        let _held = held;
        Ok(make_all(&server, calls))
    })
    .await
}

/// Number of sessions with calls for which a further thread pays off.
const SESSIONS_PER_THREAD: usize = 64;

/// Results of the calls so far, as JSON by their positions in the request.
///
/// If the replies exceed the cap, the last ones are withheld. The choice depends on their lengths alone and
/// not on the order in which calls end. If there are too many bytes, the last positions are dropped first,
/// and no dropped position can have been among those that fit.
struct Results {
    texts: BTreeMap<usize, String>,
    bytes: u64,
    most: u64,
    /// First position whose reply is withheld.
    cut: usize,
    after: PendingSteps,
}

impl Results {
    fn new(most: u64) -> Self {
        Self { texts: BTreeMap::new(), bytes: 0, most, cut: usize::MAX, after: PendingSteps::default() }
    }

    fn add(&mut self, place: usize, text: String, after: PendingSteps) {
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

    /// Returns the reply to all calls.
    fn text(self, calls: usize) -> (String, PendingSteps) {
        let most = self.most;
        let detail = format!(
            "the replies of this request come to more than {most} bytes (--max-reply-bytes): this call was made, and \
             its reply, which the session's log has, is withheld; make fewer calls at a time"
        );
        let mut withheld = text_of(&Problem::new(Kind::Invalid, detail).with("limit", most));
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

fn make_all(app: &App, calls: Vec<BatchCall>) -> Response<AxumBody> {
    let count = calls.len();
    let sessions = by_session(calls);
    let results = Mutex::new(Results::new(app.settings.sessions.max_reply_bytes));
    let make = |(place, one)| {
        let (text, after) =
            make(app, one).unwrap_or_else(|problem| (refused(&problem), PendingSteps::default()));
        results.lock().unwrap_or_else(PoisonError::into_inner).add(place, text, after);
    };
    match sessions.len() {
        // Waking another thread takes longer than these calls.
        0..=SESSIONS_PER_THREAD => sessions.into_iter().flatten().for_each(make),
        _ => {
            let sessions = sessions.into_par_iter().with_min_len(SESSIONS_PER_THREAD);
            sessions.for_each(|calls| calls.into_iter().for_each(make));
        }
    }
    let (body, steps) = results.into_inner().unwrap_or_else(PoisonError::into_inner).text(count);
    after(steps, json_text(200, body))
}

fn make(app: &App, one: BatchCall) -> Result<(String, PendingSteps), Problem> {
    let BatchCall { session, api, arguments } = one;
    let slot = app.sessions.get(&session)?;
    let mut made = app.sessions.call_by_name(&mut slot.lock(), Call { api, arguments })?;
    if made.after.take_dropped() {
        return Ok(("{\"dropped\":true}".to_owned(), made.after));
    }
    let mut text = result(&made, &slot.world.world().zone);
    if let Some(seconds) = made.after.retry_after() {
        text.pop();
        let _ = write!(text, ",\"retry_after\":{seconds}}}");
    }
    Ok((text, made.after))
}

/// Returns the result of a call that the server did not make.
fn refused(problem: &Problem) -> String {
    let mut text = text_of(problem);
    text.push_str(",\"refused\":true}");
    text
}

/// Returns a problem as a result without its closing brace.
fn text_of(problem: &Problem) -> String {
    let mut text = written(problem.status(), |out| out.push_str(&problem.body().to_string()));
    text.pop();
    text
}

/// Groups calls by session, with their positions in the request.
fn by_session(calls: Vec<BatchCall>) -> Vec<Vec<(usize, BatchCall)>> {
    let mut sessions: IndexMap<String, Vec<(usize, BatchCall)>> = IndexMap::new();
    for (place, one) in calls.into_iter().enumerate() {
        sessions.entry(one.session.clone()).or_default().push((place, one));
    }
    sessions.into_values().collect()
}
