//! Episodes: the messages to the user, the ends of goals, and the final grade.

use std::sync::Arc;

use diorama_seeds::agent_tools::{ASK_USER, CONFIRM, Confirmation, MAX_CONFIRMED_CALLS};
use diorama_seeds::ending::{self, FINISH, Finish};
use diorama_seeds::task::Call;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::after::PendingSteps;
use super::live::Live;
use super::problem::{Kind, Problem};
use super::replies::{GradeReply, Hindrance, MessageReply};
use super::requests::AskUser;
use super::sessions::Sessions;
use super::store::Event;
use super::tasks::TaskSpec;
use diorama_engine::session::LogEntry;
use diorama_grade::{Attempt, Cause, Grade, PreparedChecks, Progress, exclusion};
use diorama_user::Scene;
use diorama_user::conversation::{Exchange, FinishData};

/// Maximum number of calls after which progress is judged.
const MAX_PROGRESS: usize = 200;
/// Maximum number of messages in an episode.
const MAX_EXCHANGES: usize = 1_000;

impl Sessions {
    /// Ends the episode and grades it. Later calls return the same grade.
    ///
    /// # Errors
    /// [`Kind::Conflict`] without a task. [`Kind::Failed`] if its checks do not fit its world.
    pub fn grade(&self, live: &mut Live) -> Result<(GradeReply, PendingSteps), Problem> {
        if let Some(grade) = &live.grade {
            return Ok((grade.clone(), PendingSteps::default()));
        }
        let task = live.task()?;
        let unfit = |error| {
            Problem::new(
                Kind::Failed,
                format!("the checks of task {} do not fit its world: {error}", task.id),
            )
        };
        let prepared = PreparedChecks::new(&task.checks, &live.world.base).map_err(unfit)?;
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

    /// Stores the grade of an episode.
    fn keep_grade(&self, live: &mut Live, grade: GradeReply) -> Result<(GradeReply, PendingSteps), Problem> {
        let saved = self.note(live, &Event::Graded(grade.clone()))?;
        self.metrics.graded(grade.success);
        live.grade = Some(grade.clone());
        Ok((grade, PendingSteps::saving(saved)))
    }

    /// Runs a conversation tool: returns its status, its body and the remaining steps. Returns none if the
    /// call is for an API of the world.
    pub(crate) fn converse(&self, live: &mut Live, call: &Call) -> Option<(u16, Json, PendingSteps)> {
        let replied = match &*call.api {
            FINISH if live.finishes() => read_arguments(call).and_then(|end| self.end_goal(live, end)),
            ASK_USER if live.takes_questions() => {
                let asked: Result<AskUser, Problem> = read_arguments(call);
                asked.and_then(|asked| self.hear(live, &asked.question))
            }
            CONFIRM if live.confirms() => {
                let asked: Result<Confirmation, Problem> = read_arguments(call);
                asked.and_then(|asked| self.confirm(live, &asked))
            }
            _ => return None,
        };
        Some(match replied {
            Ok((shown, after)) => (200, json!(shown), after),
            Err(problem) => (problem.status(), problem.body(), PendingSteps::default()),
        })
    }

    /// Ends the open goal with an outcome. The user's next message opens another goal.
    ///
    /// # Errors
    /// [`Kind::Conflict`] after the episode has ended. [`Kind::Invalid`] if the end does not fit the goal's
    /// schema; the agent may try again.
    pub fn end_goal(&self, live: &mut Live, end: Finish) -> Result<(MessageReply, PendingSteps), Problem> {
        let task = live.task()?;
        live.takes_calls(&self.settings, &self.scale)?;
        let log = self.judged_log(live)?.ok_or_else(|| self.outgrown())?;
        live.said.check_finish(&end, &task.checks, &task.script, &log, &live.world.base).map_err(
            |error| Problem::new(Kind::Invalid, error.to_string()).with("parameter", error.member()),
        )?;
        let (message, given) = FinishData::split(end);
        self.exchange(live, &task, (&message, given), &log)
    }

    /// Sends a message to the user and returns the answer.
    ///
    /// # Errors
    /// [`Kind::Conflict`] after the episode has ended, or without a task.
    pub fn hear(&self, live: &mut Live, said: &str) -> Result<(MessageReply, PendingSteps), Problem> {
        live.takes_calls(&self.settings, &self.scale)?;
        let task = live.task()?;
        let log = self.judged_log(live)?.ok_or_else(|| self.outgrown())?;
        self.exchange(live, &task, (said, FinishData::default()), &log)
    }

    /// Asks the user to confirm calls and returns the answer.
    ///
    /// # Errors
    /// [`Kind::Conflict`] after the episode has ended, or if no rule requires consent. [`Kind::Invalid`]
    /// without calls or with too many.
    pub fn confirm(
        &self,
        live: &mut Live,
        asked: &Confirmation,
    ) -> Result<(MessageReply, PendingSteps), Problem> {
        live.takes_calls(&self.settings, &self.scale)?;
        let task = live.task()?;
        if !live.confirms() {
            let detail = "no rule of the task asks for a yes of the user; make the calls, or ask in words";
            return Err(Problem::new(Kind::Conflict, detail));
        }
        if asked.calls.is_empty() || asked.calls.len() > MAX_CONFIRMED_CALLS {
            let expected = format!("one to {MAX_CONFIRMED_CALLS} calls");
            return Err(Problem::about("calls", &expected, asked.calls.len()));
        }
        check_room(live)?;
        let log = self.judged_log(live)?.ok_or_else(|| self.outgrown())?;
        let scene = Scene { log: &log, base: &live.world.base, clock: live.session.state().clock() };
        let exchange = live.said.confirm(&task.script, asked, scene);
        let content = exchange.answer.clone();
        let shown = MessageReply { content, done: false, ended: None, finish: None };
        self.keep_exchange(live, exchange, shown)
    }

    /// Sends a message to the user, whose answer may end the open goal.
    fn exchange(
        &self,
        live: &mut Live,
        task: &TaskSpec,
        (said, given): (&str, FinishData),
        log: &[Arc<LogEntry>],
    ) -> Result<(MessageReply, PendingSteps), Problem> {
        check_room(live)?;
        let scene = Scene { log, base: &live.world.base, clock: live.session.state().clock() };
        let exchange = live.said.hear(&task.script, said, given, scene);
        let done = exchange.progress.over;
        // The next goal asks for other facts, so its `finish` tool differs.
        let opened = exchange.ends && !done && live.finishes();
        let finish = opened.then(|| ending::tool(&task.checks, exchange.progress.goal as usize));
        let ended = exchange.keeps_open().then_some(false);
        let shown = MessageReply { content: exchange.answer.clone(), done, ended, finish };
        self.keep_exchange(live, exchange, shown)
    }

    /// Adds an exchange to the conversation.
    fn keep_exchange(
        &self,
        live: &mut Live,
        exchange: Exchange,
        shown: MessageReply,
    ) -> Result<(MessageReply, PendingSteps), Problem> {
        let saved = self.note(live, &Event::Said(exchange.clone()))?;
        live.said.push(exchange);
        live.weigh_all();
        Ok((shown, PendingSteps::saving(saved)))
    }
}

/// Refuses a message if the session has reached its limit of messages.
fn check_room(live: &Live) -> Result<(), Problem> {
    if live.said.exchanges().len() < MAX_EXCHANGES {
        return Ok(());
    }
    let detail = format!("the session has had {MAX_EXCHANGES} messages, expected fewer; grade it");
    Err(Problem::new(Kind::TooMany, detail).with("limit", MAX_EXCHANGES as u64))
}

/// Parses the arguments of a conversation tool.
fn read_arguments<T: DeserializeOwned>(call: &Call) -> Result<T, Problem> {
    let read = T::deserialize(Json::Object(call.arguments.clone()));
    read.map_err(|error| {
        Problem::new(
            Kind::Invalid,
            format!("found {error}, expected arguments as the schema of `{}` says", call.api),
        )
    })
}

/// Returns the verdicts on changes after each call.
fn progress(prepared: &PreparedChecks, attempt: &Attempt<'_>) -> Vec<Json> {
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

/// Builds the reply of a graded episode. `cause` is the reason for its exclusion.
fn grade_reply(grade: Grade, log: &[Arc<LogEntry>], progress: Vec<Json>, cause: Option<Cause>) -> GradeReply {
    let hindering = log.iter().enumerate().flat_map(|(call, entry)| {
        let hinders = entry.faults.iter().filter(|fault| fault.kind.hinders());
        hinders.map(move |fault| Hindrance { call, kind: fault.kind })
    });
    let faults: Vec<Hindrance> = hindering.collect();
    let credited = grade.credited_goals();
    let Grade { version, success, reward, components, goals, errors } = grade;
    let attribution = match cause {
        Some(Cause::World) => "world",
        Some(Cause::Fault) => "fault",
        None => "agent",
    };
    GradeReply {
        version,
        success,
        reward,
        components,
        goals,
        goal_rewards: credited.iter().map(|holds| f64::from(u8::from(*holds))).collect(),
        errors,
        progress,
        attribution: (!success).then(|| attribution.to_owned()),
        excluded: cause.is_some(),
        faults,
    }
}
