//! Many episodes: what is written down of each, several at a time, and stored runs graded anew.

use std::sync::Arc;
use std::time::Instant;

use diorama_baselines::Agent;
use diorama_baselines::trace::{Note, Recording, Step, act_again};
use diorama_engine::fault::{Faults, Rule};
use diorama_grade::Grade;
use diorama_llm::{ChatModel, Usage};
use serde::{Deserialize, Serialize};

use super::attribution::{Attribution, attribute};
use super::judge::{Judge, Judged};
use super::remote::SessionServer;
use super::transcribed::{Answers, TranscribedEnvironment, Transcriber};
use crate::episode::EpisodeError;
use diorama_baselines::environment::{Budget, Environment, EnvironmentError};

/// Version of an episode's line.
pub const EPISODE_VERSION: u32 = 1;

/// One graded episode, as it is stored: one JSON object a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// [`EPISODE_VERSION`].
    pub episode: u32,
    /// The task: the row's id.
    pub task: String,
    /// The trial, from 0.
    pub trial: u32,
    /// The seed of the session.
    pub seed: u64,
    /// The agent.
    pub agent: String,
    /// The model, where it asks one.
    pub model: Option<String>,
    /// The author of each `finish`.
    pub answers: Answers,
    /// The verdict.
    pub grade: Grade,
    /// The cause of a failure.
    pub attribution: Option<Attribution>,
    /// Why the environment ended it, where it did.
    pub stopped: Option<EnvironmentError>,
    /// It failed, and the simulator or the simulated user is to blame: it is in no share.
    #[serde(default)]
    pub excluded: bool,
    /// The faults that were switched on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Rule>,
    /// Tokens of the model, sent and received.
    pub tokens: u64,
    /// How long it took, in milliseconds, where a model or a server was waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// The steps.
    pub steps: Vec<Step>,
}

impl Episode {
    /// Returns true where it came to no end for want of a model or a server, and says nothing of the agent.
    pub fn is_unfinished(&self) -> bool {
        self.stopped.as_ref().is_some_and(EnvironmentError::is_outage)
    }

    /// Returns true where it says something of the agent: it came to an end, and neither the simulator nor the user is to blame.
    pub fn counts(&self) -> bool {
        !self.is_unfinished() && !self.excluded
    }

    /// Tokens that the model's server reported.
    pub fn usage(&self) -> Usage {
        let asked = self.steps.iter().filter_map(|step| match step {
            Step::Noted(Note::Asked(asked)) => asked.usage,
            _ => None,
        });
        asked.fold(Usage::default(), Usage::plus)
    }

    /// Calls that were made.
    pub fn calls(&self) -> u64 {
        self.steps.iter().filter(|step| matches!(step, Step::Called { .. })).count() as u64
    }
}

/// How an episode is set up.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The row's id.
    pub task: String,
    /// The trial, from 0.
    pub trial: u32,
    /// The seed of the session.
    pub seed: u64,
    /// The limits of the episode.
    pub budget: Budget,
    /// The agent's name.
    pub agent: String,
    /// The model's.
    pub model: Option<String>,
}

/// Where an episode takes place.
#[derive(Default)]
pub struct Arena {
    /// The server that runs and grades it; this process where there is none.
    pub server: Option<Arc<SessionServer>>,
    /// The faults of calls.
    pub faults: Faults,
    /// The model that fills in `finish` from the agent's messages; the agent does where there is none.
    pub transcriber: Option<Arc<Transcriber>>,
}

impl Arena {
    /// Returns true where episodes wait for a server or a transcriber.
    pub const fn waits(&self) -> bool {
        self.server.is_some() || self.transcriber.is_some()
    }
}

/// Runs one episode in this process, grades it, and says what is to be stored of it.
///
/// # Errors
/// When the task does not fit its world.
pub async fn run(agent: &dyn Agent, judge: &Judge, setup: Setup) -> Result<(Episode, Judged), EpisodeError> {
    run_in(&Arena::default(), agent, judge, setup).await
}

/// Runs one episode where it is asked for, grades it, and says what is to be stored of it. A server's verdict is what
/// counts; the measures come from the same steps in this process.
///
/// # Errors
/// When the task does not fit its world, or the server does not serve it.
pub async fn run_in(
    arena: &Arena,
    agent: &dyn Agent,
    judge: &Judge,
    setup: Setup,
) -> Result<(Episode, Judged), EpisodeError> {
    let started = Instant::now();
    let waits = arena.waits() || setup.model.is_some();
    let (judged, steps) = match &arena.server {
        None => {
            let mut environment = judge.open_under(&arena.faults, setup.seed, setup.budget)?;
            let (acted, steps) = recorded(agent, &mut environment, arena, &setup).await;
            (judge.grade(environment, acted), steps)
        }
        Some(server) => over_http(server, arena, agent, judge, &setup).await?,
    };
    let attribution = attribute(judge, &judged, &steps);
    let Setup { task, trial, seed, agent, model, .. } = setup;
    let transcribed = arena.transcriber.is_some();
    let mut episode = Episode {
        episode: EPISODE_VERSION,
        task,
        trial,
        seed,
        agent,
        model,
        answers: if transcribed { Answers::Transcribed } else { Answers::Structured },
        grade: judged.grade.clone(),
        attribution,
        stopped: judged.stopped.clone(),
        excluded: is_excluded(attribution),
        faults: arena.faults.rules().to_vec(),
        tokens: 0,
        took_ms: waits.then(|| u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)),
        steps,
    };
    episode.tokens = episode.usage().total();
    Ok((episode, judged))
}

/// Acts to the end; what ended it, where that was not the agent, and the steps.
async fn recorded(
    agent: &dyn Agent,
    environment: &mut dyn Environment,
    arena: &Arena,
    setup: &Setup,
) -> (Option<EnvironmentError>, Vec<Step>) {
    let mut recording = Recording::new(environment);
    let acted = match arena.transcriber.clone() {
        Some(transcriber) => {
            let (row, attempt) = (setup.seed, setup.trial);
            agent.act(&mut TranscribedEnvironment::new(&mut recording, transcriber, row, attempt)).await
        }
        None => agent.act(&mut recording).await,
    };
    (acted.err().filter(|error| *error != EnvironmentError::Over), recording.into_steps())
}

/// Acts in a session of a server, which grades it.
async fn over_http(
    server: &SessionServer,
    arena: &Arena,
    agent: &dyn Agent,
    judge: &Judge,
    setup: &Setup,
) -> Result<(Judged, Vec<Step>), EpisodeError> {
    let opened = server.open(&setup.task, setup.seed, &arena.faults, setup.budget).await;
    let (stopped, steps, verdict) = match opened {
        Err(error @ EnvironmentError::Transport { .. }) => (Some(error), Vec::new(), None),
        Err(error) => return Err(EpisodeError::Server(error)),
        Ok(mut environment) => {
            let (stopped, steps) = recorded(agent, &mut environment, arena, setup).await;
            match server.grade(environment).await {
                Ok(grade) => (stopped, steps, Some(grade)),
                // Without a verdict the episode says nothing of the agent.
                Err(error) => (Some(EnvironmentError::Transport { what: error.to_string() }), steps, None),
            }
        }
    };
    let mut mirror = judge.open_under(&arena.faults, setup.seed, Budget::UNBOUNDED)?;
    let _ = act_again(&steps, &mut mirror).await;
    let mut judged = judge.grade(mirror, stopped);
    judged.grade = verdict.unwrap_or(judged.grade);
    Ok((judged, steps))
}

/// Returns true where a failure says nothing of the agent.
const fn is_excluded(attribution: Option<Attribution>) -> bool {
    matches!(attribution, Some(Attribution::Environment))
}

/// Grades a stored episode anew: what was done is done again, and no model is asked.
///
/// # Errors
/// When the task does not fit its world.
pub async fn regrade(stored: &Episode, judge: &Judge) -> Result<(Episode, Judged), EpisodeError> {
    let unfit = |error: diorama_engine::fault::RuleError| EpisodeError::Column {
        row: stored.task.clone(),
        column: "faults",
        what: error.to_string(),
    };
    let faults = Faults::new(stored.faults.clone()).map_err(unfit)?;
    let mut environment = judge.open_under(&faults, stored.seed, Budget::UNBOUNDED)?;
    let _ = act_again(&stored.steps, &mut environment).await;
    let judged = judge.grade(environment, stored.stopped.clone());
    let attribution = attribute(judge, &judged, &stored.steps);
    let grade = judged.grade.clone();
    Ok((Episode { grade, attribution, excluded: is_excluded(attribution), ..stored.clone() }, judged))
}

/// A chat model that several episodes share.
pub type SharedModel = Arc<dyn ChatModel>;
