//! An episode: the task as the agent sees it, calls by name, the user's turns, and the grade at its end.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Response;
use diorama_seeds::task::{Call, Outcome};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::App;
use super::after::After;
use super::batch::called;
use super::problem::{Problem, reply, text};
use super::sessions::{Live, Slot, lock};
use super::store::Event;
use super::surface::Incoming;
use super::tasks::TaskSpec;
use crate::grade::{Attempt, Grade, Prepared};
use crate::session::LogEntry;

/// Calls after which progress is judged, at most.
const MAX_PROGRESS: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    api: String,
    #[serde(default)]
    arguments: Map<String, Json>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Ended {
    answer: Option<String>,
    outcome: Option<Outcome>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    #[serde(rename = "content")]
    _content: String,
}

impl App {
    /// Calls an API by name.
    pub(super) fn call(&self, slot: &Slot, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let Named { api, arguments } = request.json()?;
        let mut live = lock(slot);
        let (entry, after) = self.step(&mut live, &Call { api, arguments })?;
        let body =
            called(entry.reply.status, |out| entry.reply.body.write_json(out, &live.world.world().zone));
        drop(live);
        Ok(after.on(text(200, "application/json", body)))
    }

    /// Ends the episode; a second call repeats the result.
    pub(super) fn grade(&self, slot: &Slot, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let ended: Ended = request.json()?;
        let mut live = lock(slot);
        if let Some(grade) = &live.grade {
            return Ok(reply(200, grade));
        }
        self.recall(&mut live)?;
        let task = task_of(&live)?;
        let unfit = |error| {
            Problem::new(500, format!("the checks of task {} do not fit its world: {error}", task.id))
        };
        let prepared =
            Prepared::with(&task.checks, &live.world.base, live.world.vocabulary()).map_err(unfit)?;
        let log: Vec<Arc<LogEntry>> = live.session.log().collect();
        let answer = ended.answer.unwrap_or_default();
        let said = task.turns.get(..live.turns_said()).unwrap_or(&task.turns);
        let grade = prepared.grade(&Attempt {
            base: &live.world.base,
            initial: live.session.initial(),
            last: live.session.state(),
            log: &log,
            outcome: ended.outcome,
            answer: &answer,
            user_turns: said,
        });
        self.metrics.graded(grade.success);
        let shown = shown(&grade, &log, progress(&live, &prepared, &log, said))?;
        let saved = self.note(&mut live, &Event::Graded(shown.clone()))?;
        live.grade = Some(shown.clone());
        Ok(After::saving(saved).on(reply(200, &shown)))
    }

    /// The user's next turn; none when the user has said everything.
    pub(super) fn message(&self, slot: &Slot, request: &Incoming<'_>) -> Result<Response<Body>, Problem> {
        let _: Said = request.json()?;
        let mut live = lock(slot);
        live.takes_calls(&self.settings)?;
        let task = task_of(&live)?;
        let next = task.turns.get(live.turns_said());
        let mut saved = None;
        if next.is_some() {
            saved = self.note(&mut live, &Event::Said)?;
            let calls = live.session.calls();
            live.said.push(calls);
        }
        let done = live.turns_said() >= task.turns.len();
        Ok(After::saving(saved).on(reply(200, &json!({"content": next, "done": done}))))
    }
}

/// The task as a user would put it: never gold, checks or what the user will say later.
pub(super) fn task(slot: &Slot) -> Result<Response<Body>, Problem> {
    let live = lock(slot);
    let task = task_of(&live)?;
    let base = &live.world.base;
    let mut tools: Vec<&Json> =
        task.visible.iter().filter_map(|api| base.tool_schema(*api)).map(AsRef::as_ref).collect();
    if tools.is_empty() {
        tools.push(base.tool_searcher_schema());
    }
    let said = task.turns.first();
    Ok(reply(200, &json!({"id": task.id, "system": task.system, "user": said, "tools": tools})))
}

fn task_of(live: &Live) -> Result<Arc<TaskSpec>, Problem> {
    let none = || Problem::new(409, "the session has no task; create one with {\"task\": ...}");
    live.task.clone().ok_or_else(none)
}

/// The verdicts on the records after each call: how far the episode got, and when.
fn progress(live: &Live, prepared: &Prepared, log: &[Arc<LogEntry>], said: &[String]) -> Vec<Json> {
    let mut replay = live.session.fork();
    replay.reset();
    let mut steps = Vec::new();
    for (position, entry) in log.iter().take(MAX_PROGRESS).enumerate() {
        replay.set_clock(entry.clock);
        replay.call(&entry.call);
        let grade = prepared.grade(&Attempt {
            base: &live.world.base,
            initial: replay.initial(),
            last: replay.state(),
            log: log.get(..=position).unwrap_or(log),
            outcome: Some(Outcome::Done),
            answer: "",
            user_turns: said,
        });
        steps.push(json!({
            "call": position,
            "api": entry.call.api,
            "status": entry.reply.status,
            "change": grade.components.change,
            "damage": grade.components.damage,
        }));
    }
    steps
}

fn shown(grade: &Grade, log: &[Arc<LogEntry>], progress: Vec<Json>) -> Result<Json, Problem> {
    // A world that could not compute a reply, and a fault that was injected, have not given the agent a fair chance:
    // such an episode is masked.
    let hindering = log.iter().enumerate().flat_map(|(position, entry)| {
        let hinders = entry.faults.iter().filter(|fault| fault.kind.hinders());
        hinders.map(move |fault| json!({"call": position, "kind": fault.kind}))
    });
    let faults: Vec<Json> = hindering.collect();
    let faulty = log.iter().any(|entry| entry.faults.is_empty() && entry.reply.status >= 500);
    let attribution = match (grade.success, faulty, faults.is_empty()) {
        (true, _, _) => Json::Null,
        (false, true, _) => json!("world"),
        (false, false, false) => json!("fault"),
        (false, false, true) => json!("agent"),
    };
    let masked = !grade.success && (faulty || !faults.is_empty());
    let mut shown = serde_json::to_value(grade).map_err(|error| Problem::new(500, error.to_string()))?;
    if let Json::Object(shown) = &mut shown {
        shown.insert("progress".to_owned(), Json::Array(progress));
        shown.insert("attribution".to_owned(), attribution);
        shown.insert("masked".to_owned(), json!(masked));
        shown.insert("faults".to_owned(), Json::Array(faults));
    }
    Ok(shown)
}
