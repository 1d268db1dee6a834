//! An episode: the task as the agent sees it, calls by name, the user's turns, and the grade at its end.

use std::sync::Arc;

use diorama_seeds::agent_tools::ASK_USER;
use diorama_seeds::ending::{self, FINISH, Finish};
use diorama_seeds::task::Call;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::after::After;
use super::app::App;
use super::batch::called;
use super::incoming::Incoming;
use super::problem::{Answer, Problem, reply, text};
use super::reply_types::{GradeReply, Hindrance, MessageReply, TaskView, Tools};
use super::request_types::{AskUser, CallRequest, GradeRequest, MessageRequest};
use super::sessions::{Live, Slot, held, lock};
use super::store::Event;
use super::tasks::TaskSpec;
use crate::conversation::Given;
use diorama_engine::session::LogEntry;
use diorama_grade::{Attempt, Cause, Grade, Prepared, Progress, exclusion};

/// Calls after which progress is judged, at most.
const MAX_PROGRESS: usize = 200;
/// Messages of an episode, at most.
const MAX_EXCHANGES: usize = 1_000;

impl App {
    /// Calls an API by name.
    pub(super) fn call(&self, slot: &Slot, request: &Incoming<'_>) -> Answer {
        let CallRequest { api, arguments } = request.json()?;
        let call = Call { api, arguments };
        let (world, api) = (&slot.world, slot.world.base.api_named(&call.api));
        if request.in_haste && (slot.speaks(&call.api) || world.pace.is_slow(api)) {
            return Err(Problem::postponed());
        }
        let mut live = slot.enter(request)?;
        world.pace.time(api, || {
            let made = self.call_by_name(&mut live, &call)?;
            drop(live);
            let body = called(&made, &world.world().zone);
            Ok(made.after.on(text(200, "application/json", body)))
        })
    }

    /// Ends the episode; a second call repeats the result.
    pub(super) fn grade(&self, slot: &Slot, request: &Incoming<'_>) -> Answer {
        let GradeRequest {} = request.json()?;
        let mut live = held(slot)?;
        let (grade, after) = self.judge(&mut live)?;
        Ok(after.on(reply(200, &grade)))
    }

    /// The grade of an episode, which has ended with it.
    pub(super) fn judge(&self, live: &mut Live) -> Result<(Json, After), Problem> {
        if let Some(grade) = &live.grade {
            return Ok((grade.clone(), After::default()));
        }
        let task = task_of(live)?;
        let unfit = |error| {
            Problem::new(500, format!("the checks of task {} do not fit its world: {error}", task.id))
        };
        let prepared = Prepared::new(&task.checks, &live.world.base).map_err(unfit)?;
        let Some(log) = self.judged_log(live)? else {
            let outgrown = Grade::failed(task.checks.goals.len(), self.outgrown().detail());
            return self.keep_grade(live, grade_reply(outgrown, &[], Vec::new(), None));
        };
        let goals = live.said.endings(log.len());
        let attempt = Attempt {
            base: &live.world.base,
            initial: live.session.initial(),
            last: live.session.state(),
            log: &log,
            goals: &goals,
        };
        let grade = prepared.grade(&attempt);
        let cause = exclusion(&task.needed, &log, live.world.world()).filter(|_| !grade.success);
        let shown = grade_reply(grade, &log, progress(&prepared, &attempt), cause);
        self.keep_grade(live, shown)
    }

    /// Keeps the grade of an episode, which has ended with it.
    fn keep_grade(&self, live: &mut Live, shown: GradeReply) -> Result<(Json, After), Problem> {
        let success = shown.success;
        let shown = serde_json::to_value(shown).map_err(|error| Problem::new(500, error.to_string()))?;
        let saved = self.note(live, &Event::Graded(shown.clone()))?;
        self.metrics.graded(success);
        live.grade = Some(shown.clone());
        Ok((shown, After::saving(saved)))
    }

    /// The user's reply to a message; null when they have nothing more to say.
    pub(super) fn message(&self, slot: &Slot, request: &Incoming<'_>) -> Answer {
        let request: MessageRequest = request.json()?;
        let (shown, after) = self.hear(&mut lock(slot), &request.content)?;
        Ok(after.on(reply(200, &shown)))
    }

    /// Ends the goal that is open, with its outcome; the user's next words open another.
    pub(super) fn finish(&self, slot: &Slot, request: &Incoming<'_>) -> Answer {
        let (shown, after) = self.end(&mut lock(slot), request.json()?)?;
        Ok(after.on(reply(200, &shown)))
    }

    /// Carries out a call of a tool of the conversation: status, body, and the steps that are left. None where the call is
    /// one of the world's own APIs.
    pub(super) fn converse(&self, live: &mut Live, call: &Call) -> Option<(u16, Json, After)> {
        let replied = match &*call.api {
            FINISH if live.finishes() => read_arguments(call).and_then(|end| self.end(live, end)),
            ASK_USER if live.takes_questions() => {
                let asked: Result<AskUser, Problem> = read_arguments(call);
                asked.and_then(|asked| self.hear(live, &asked.question))
            }
            _ => return None,
        };
        Some(match replied {
            Ok((shown, after)) => (200, json!(shown), after),
            Err(problem) => (problem.status(), problem.body(), After::default()),
        })
    }

    fn end(&self, live: &mut Live, end: Finish) -> Result<(MessageReply, After), Problem> {
        let task = task_of(live)?;
        live.takes_calls(&self.settings, &self.scale)?;
        let log = self.judged_log(live)?.ok_or_else(|| self.outgrown())?;
        live.said
            .check_finish(&end, &task.checks, &task.script, &log, &live.world.base)
            .map_err(|error| Problem::new(422, error.to_string()).with("parameter", error.member()))?;
        let (message, given) = Given::of(end);
        self.exchange(live, &task, (&message, given), &log)
    }

    fn hear(&self, live: &mut Live, said: &str) -> Result<(MessageReply, After), Problem> {
        live.takes_calls(&self.settings, &self.scale)?;
        let task = task_of(live)?;
        let log = self.judged_log(live)?.ok_or_else(|| self.outgrown())?;
        self.exchange(live, &task, (said, Given::default()), &log)
    }

    /// Has the user answer a message, which may end the open goal.
    fn exchange(
        &self,
        live: &mut Live,
        task: &TaskSpec,
        (said, given): (&str, Given),
        log: &[Arc<LogEntry>],
    ) -> Result<(MessageReply, After), Problem> {
        if live.said.exchanges().len() >= MAX_EXCHANGES {
            let detail = format!("the session has had {MAX_EXCHANGES} messages, expected fewer; grade it");
            return Err(Problem::new(429, detail).with("limit", MAX_EXCHANGES as u64));
        }
        let exchange = live.said.hear(&task.script, said, given, log, &live.world.base);
        let done = exchange.progress.over;
        // Another goal has opened, which asks for other facts.
        let opened = exchange.ends && !done && live.finishes();
        let finish = opened.then(|| ending::tool(&task.checks, exchange.progress.goal as usize));
        let shown = MessageReply { content: exchange.answer.clone(), done, finish };
        let saved = self.note(live, &Event::Said(exchange.clone()))?;
        live.said.push(exchange);
        live.weigh_all();
        Ok((shown, After::saving(saved)))
    }

    /// The task as a user would put it: never reference calls, checks or what the user will say later.
    pub(super) fn show_task(&self, slot: &Slot, _: &Incoming<'_>) -> Answer {
        let live = lock(slot);
        let task = task_of(&live)?;
        let mut tools = live.world.base.shown_tools(&task.visible);
        let finish = live.finish_tool();
        tools.extend(&finish);
        let (id, system) = (task.id.clone(), task.system.clone());
        let (user, tools) = (task.script.opening().to_owned(), tools.into_iter().cloned().collect());
        Ok(reply(200, &TaskView { id, system, user, tools }))
    }

    /// Every tool that the session of a task can come to call, for trainers that fix tools per class: the tools that
    /// searches would show one by one, in one list. Not in the agent API, where finding them is part of the task.
    pub(super) fn show_tools(&self, slot: &Slot, _: &Incoming<'_>) -> Answer {
        let live = lock(slot);
        let task = task_of(&live)?;
        let base = &live.world.base;
        let searches = task.visible.is_empty();
        let reachable = if searches { base.world().api_ids().collect() } else { task.visible.clone() };
        let mut tools = base.shown_tools(&reachable);
        if searches {
            tools.insert(0, base.tool_searcher_schema());
        }
        let finish = live.finish_tool();
        tools.extend(&finish);
        let (id, world) = (task.id.clone(), task.world.clone());
        Ok(reply(200, &Tools { id, world, searches, tools: tools.into_iter().cloned().collect() }))
    }
}

/// The arguments of a tool of the conversation as its own type.
fn read_arguments<T: DeserializeOwned>(call: &Call) -> Result<T, Problem> {
    let read = T::deserialize(Json::Object(call.arguments.clone()));
    read.map_err(|error| {
        Problem::new(422, format!("found {error}, expected arguments as the schema of `{}` says", call.api))
    })
}

/// The task of a session that has one.
pub(super) fn task_of(live: &Live) -> Result<Arc<TaskSpec>, Problem> {
    let none = || Problem::new(409, "the session has no task; create one with {\"task\": ...}");
    live.task.clone().ok_or_else(none)
}

/// The verdicts on the records after each call: how far the episode got, and when.
fn progress(prepared: &Prepared, attempt: &Attempt<'_>) -> Vec<Json> {
    let steps = prepared.progress(attempt, MAX_PROGRESS).into_iter().zip(attempt.log).enumerate();
    let shown = steps.map(|(position, (Progress { change, damage }, entry))| {
        json!({
            "call": position,
            "api": entry.call.api,
            "status": entry.reply.status,
            "change": change,
            "damage": damage,
        })
    });
    shown.collect()
}

/// The reply of a graded episode; `cause` is what excludes it.
fn grade_reply(grade: Grade, log: &[Arc<LogEntry>], progress: Vec<Json>, cause: Option<Cause>) -> GradeReply {
    let hindering = log.iter().enumerate().flat_map(|(call, entry)| {
        let hinders = entry.faults.iter().filter(|fault| fault.kind.hinders());
        hinders.map(move |fault| Hindrance { call, kind: fault.kind })
    });
    let faults: Vec<Hindrance> = hindering.collect();
    let credited = grade.credited_goals();
    let Grade { version, success, reward, components, goals, errors } = grade;
    let attribution = (!success).then_some(match cause {
        Some(Cause::World) => "world",
        Some(Cause::Fault) => "fault",
        None => "agent",
    });
    GradeReply {
        version,
        success,
        reward,
        components,
        goals,
        goal_rewards: credited.iter().map(|holds| f64::from(u8::from(*holds))).collect(),
        errors,
        progress,
        attribution,
        excluded: cause.is_some(),
        faults,
    }
}
