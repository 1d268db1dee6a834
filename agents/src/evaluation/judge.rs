//! Owns the judge of an episode in process: it holds the task, runs the session, and grades the agent's
//! actions.
//!
//! Its fields are private. An agent holds a [`LocalEnvironment`] as an [`Environment`], which gives
//! access to none of them.

use std::sync::{Arc, OnceLock};

use diorama_baselines::operation::{IN_PROCESS_URL, Operation};
use diorama_baselines::trace::Note;
use diorama_engine::Base;
use diorama_engine::fault::Faults;
use diorama_engine::session::{LogEntry, Session};
use diorama_grade::{Attempt, Grade, PreparedChecks};
use diorama_seeds::agent_tools::{self, CONFIRM, Confirmation, MAX_CONFIRMED_CALLS};
use diorama_seeds::ending;
use diorama_seeds::task::{Call, GoldCall};
use diorama_simulator::http::openapi::{document, reply_schema};
use diorama_user::Scene;
use diorama_user::conversation::{Conversation, FinishData};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::meter::Meter;
use crate::episode::{EpisodeError, Task, World};
use diorama_baselines::environment::{
    Answer, Budget, ConversationEntry, Environment, EnvironmentError, EnvironmentFuture, Finish, Reply, View,
};

/// Judge of the episodes of a task.
pub struct Judge {
    task: Task,
    world: Arc<World>,
    prepared: PreparedChecks,
}

/// The task itself, from which privileged agents are built. An agent under test never gets it.
#[derive(Clone, Copy)]
pub struct PrivilegedTask<'a> {
    pub(super) task: &'a Task,
    pub(super) world: &'a Arc<World>,
    /// Seed of the session.
    pub(super) seed: u64,
}

/// Graded episode.
pub struct JudgedEpisode {
    /// Grade of the episode.
    pub grade: Grade,
    /// The agent's message at the end of each goal.
    pub answers: Vec<String>,
    /// Log of the calls.
    pub log: Vec<Arc<LogEntry>>,
    /// Reason for which the environment ended the episode.
    pub stopped: Option<EnvironmentError>,
}

/// A conversation in this process.
pub struct LocalEnvironment<'a> {
    judge: &'a Judge,
    session: Session,
    conversation: Conversation,
    view: View,
    meter: Meter,
    /// OpenAPI document of the world, made on the first request.
    openapi: OnceLock<Json>,
}

impl Judge {
    /// Makes the judge of a task.
    ///
    /// # Errors
    /// Returns an error if the task's checks do not fit its world.
    pub fn new(mut task: Task, world: Arc<World>) -> Result<Self, EpisodeError> {
        task.tell_changes_by_goal(&world)?;
        let prepared = PreparedChecks::new(&task.checks, &world.base).map_err(|error| {
            EpisodeError::Column { row: task.id.clone(), column: "checks", what: error.to_string() }
        })?;
        Ok(Self { task, world, prepared })
    }

    /// Opens an episode with the seed of a session.
    ///
    /// # Errors
    /// Returns an error if the task does not fit its world.
    pub fn open(&self, seed: u64, budget: Budget) -> Result<LocalEnvironment<'_>, EpisodeError> {
        self.open_under(&Faults::default(), seed, budget)
    }

    /// Opens an episode with injected faults.
    ///
    /// # Errors
    /// Returns an error if the task does not fit its world.
    pub fn open_under(
        &self,
        faults: &Faults,
        seed: u64,
        budget: Budget,
    ) -> Result<LocalEnvironment<'_>, EpisodeError> {
        let session = self.task.session(&self.world, seed)?.with_faults(faults.clone());
        let mut environment = LocalEnvironment {
            judge: self,
            session,
            conversation: Conversation::default(),
            view: View {
                system: self.task.system.clone(),
                conversation: vec![ConversationEntry::User(self.task.script.opening().to_owned())],
                tools: self.task.tools(&self.world)?,
                over: false,
            },
            meter: Meter::new(budget),
            openapi: OnceLock::new(),
        };
        environment.show_finish();
        Ok(environment)
    }

    /// Returns the task for a privileged agent.
    pub fn privileged(&self, seed: u64) -> PrivilegedTask<'_> {
        PrivilegedTask { task: &self.task, world: &self.world, seed }
    }

    /// Grades an episode that has ended. `stopped` is the environment's reason for an early end.
    pub fn grade(
        &self,
        environment: LocalEnvironment<'_>,
        stopped: Option<EnvironmentError>,
    ) -> JudgedEpisode {
        let log: Vec<Arc<LogEntry>> = environment.session.log().collect();
        let conversation = &environment.conversation;
        let goals = conversation.endings(log.len());
        let grade = self.prepared.grade(&Attempt {
            base: &self.world.base,
            initial: environment.session.initial(),
            last: environment.session.state(),
            log: &log,
            goals: &goals,
        });
        let ends = conversation.exchanges().iter().filter(|exchange| exchange.ends);
        let answers = ends.map(|exchange| exchange.said.clone()).collect();
        JudgedEpisode { grade, answers, log, stopped }
    }

    /// Returns the number of goals.
    pub fn goals(&self) -> usize {
        self.task.goals.len()
    }

    /// Returns the number of APIs among which an agent chooses: all APIs of the world if it searches,
    /// else the visible ones.
    pub fn pool(&self) -> usize {
        let shown = self.task.episode.visible.len();
        if shown == 0 { self.world.base.world().apis.len() } else { shown }
    }

    /// Returns the share of the goals whose verdicts all hold, in `0..=1`. A goal that asks for a change
    /// counts only if the episode made exactly the expected changes.
    pub fn credit(&self, grade: &Grade) -> f64 {
        if grade.success || grade.goals.is_empty() {
            return f64::from(u8::from(grade.success));
        }
        let credited = grade.credited_goals();
        credited.iter().filter(|holds| **holds).count() as f64 / credited.len() as f64
    }

    /// Returns the reference calls, with which measures compare an agent's calls.
    pub fn gold(&self) -> &[GoldCall] {
        &self.task.gold
    }

    /// Returns the frozen world of the episodes.
    pub(super) fn base(&self) -> &Base {
        &self.world.base
    }

    /// Returns the world of the episodes.
    pub(super) fn world(&self) -> &diorama_seeds::model::World {
        self.world.base.world()
    }

    /// Returns the task, for measures and reports.
    pub(crate) const fn task(&self) -> &Task {
        &self.task
    }
}

impl LocalEnvironment<'_> {
    /// Shows the tool that ends the open goal, and before it the one that asks for consent, where a rule wants it.
    fn show_finish(&mut self) {
        let goal = self.conversation.progress().goal as usize;
        if self.confirms() && !self.view.has_tool(CONFIRM) {
            self.view.tools.push(agent_tools::confirm());
        }
        self.view.replace_finish((!self.view.over).then(|| ending::tool(&self.judge.task.checks, goal)));
    }

    /// Returns true if a tool asks the user for consent to calls. An API of the world with that name
    /// takes precedence.
    fn confirms(&self) -> bool {
        self.judge.task.checks.confirms && self.judge.base().api_named(CONFIRM).is_none()
    }

    /// Asks the user to confirm calls.
    fn confirm(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        let asked = Confirmation::deserialize(Json::Object(call.arguments.clone()));
        let reply = match asked {
            Ok(asked) if (1..=MAX_CONFIRMED_CALLS).contains(&asked.calls.len()) && !self.view.over => {
                let log: Vec<Arc<LogEntry>> = self.session.log().collect();
                let (base, clock) = (&self.judge.world.base, self.session.state().clock());
                let exchange = self.conversation.confirm(
                    &self.judge.task.script,
                    &asked,
                    Scene { log: &log, base, clock },
                );
                let body = json!({"content": exchange.answer, "done": false});
                self.conversation.push(exchange);
                Reply { status: 200, body }
            }
            Ok(asked) => {
                let found = asked.calls.len();
                let detail =
                    format!("found {found} calls, expected one to {MAX_CONFIRMED_CALLS} of an open request");
                Reply { status: 422, body: json!({"detail": detail}) }
            }
            Err(error) => {
                let detail = format!("found {error}, expected arguments as the schema of `{CONFIRM}` says");
                Reply { status: 422, body: json!({"detail": detail}) }
            }
        };
        self.view.add_call(call, &reply);
        Ok(reply)
    }

    fn end(&mut self, end: &Finish) -> Result<Answer, EnvironmentError> {
        let Task { checks, script, .. } = &self.judge.task;
        let log: Vec<Arc<LogEntry>> = self.session.log().collect();
        if let Err(error) = self.conversation.check_finish(end, checks, script, &log, &self.judge.world.base)
        {
            // A refused end costs a step like any other.
            self.meter.take(&self.view, false)?;
            return Err(EnvironmentError::Refused { status: 422, detail: error.to_string() });
        }
        let (message, given) = FinishData::split(end.clone());
        self.hear(&message, given, &log)
    }

    fn make(&mut self, call: &Call) -> Result<Reply, EnvironmentError> {
        self.meter.take(&self.view, true)?;
        if call.api == CONFIRM && self.confirms() {
            return self.confirm(call);
        }
        let entry = self.session.call(call);
        // In process, a delay is charged to the budget without waiting.
        self.meter.charge(entry.faults.iter().map(|fault| fault.delay_ms).max().unwrap_or(0));
        let zone = &self.judge.world.base.world().zone;
        let reply = Reply { status: entry.reply.status, body: entry.reply.json_tree(zone) };
        self.view.add_call(call, &reply);
        Ok(reply)
    }

    fn hear(
        &mut self,
        words: &str,
        given: FinishData,
        log: &[Arc<LogEntry>],
    ) -> Result<Answer, EnvironmentError> {
        self.meter.take(&self.view, false)?;
        let script = &self.judge.task.script;
        let scene = Scene { log, base: &self.judge.world.base, clock: self.session.state().clock() };
        let exchange = self.conversation.hear(script, words, given, scene);
        let answer = Answer {
            words: exchange.answer.clone(),
            over: exchange.progress.over,
            keeps_open: exchange.keeps_open(),
        };
        self.view.add_message(words, &answer);
        let ends = exchange.ends;
        self.conversation.push(exchange);
        if ends {
            self.show_finish();
        }
        Ok(answer)
    }
}

impl Environment for LocalEnvironment<'_> {
    fn view(&self) -> &View {
        &self.view
    }

    fn budget(&self) -> Budget {
        self.meter.left()
    }

    fn call<'a>(&'a mut self, call: &'a Call) -> EnvironmentFuture<'a, Reply> {
        Box::pin(std::future::ready(self.make(call)))
    }

    fn say<'a>(&'a mut self, words: &'a str) -> EnvironmentFuture<'a, Answer> {
        let log: Vec<Arc<LogEntry>> = self.session.log().collect();
        Box::pin(std::future::ready(self.hear(words, FinishData::default(), &log)))
    }

    fn finish<'a>(&'a mut self, end: &'a Finish) -> EnvironmentFuture<'a, Answer> {
        Box::pin(std::future::ready(self.end(end)))
    }

    fn reply_schema(&self, api: &str) -> Option<Json> {
        let world = self.judge.world.base.world();
        let api = world.api_named(api).filter(|_| self.view.has_tool(api))?;
        let api = world.api(api);
        (!api.shows_nothing()).then(|| reply_schema(world, api))
    }

    fn operation(&self, api: &str) -> Option<Operation> {
        let world = self.judge.world.base.world();
        world.api_named(api).filter(|_| self.view.has_tool(api))?;
        Operation::find(self.openapi.get_or_init(|| document(world, IN_PROCESS_URL)), api)
    }

    fn note(&mut self, note: Note) -> Result<(), EnvironmentError> {
        self.meter.note(&note)
    }
}
