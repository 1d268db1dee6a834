//! Owns the stored episodes: their form, their runs, and the regrading of stored runs.

use std::sync::Arc;
use std::time::Instant;

use diorama_baselines::Agent;
use diorama_baselines::trace::{Note, Recording, Step, act_again};
use diorama_engine::fault::{Faults, Rule};
use diorama_grade::Grade;
use diorama_llm::{ChatModel, Usage};
use serde::{Deserialize, Serialize};

use super::attribution::{Attribution, attribute};
use super::judge::{Judge, JudgedEpisode};
use super::remote::SessionServer;
use super::transcribed::{Answers, TranscribedEnvironment, Transcriber};
use crate::episode::EpisodeError;
use diorama_baselines::environment::{Budget, Environment, EnvironmentError};

/// Version of the episode format.
pub const EPISODE_VERSION: u32 = 1;

/// Graded episode as it is stored: one JSON object per line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Version of the format, [`EPISODE_VERSION`].
    pub episode: u32,
    /// Id of the task's row.
    pub task: String,
    /// Number of the trial, from 0.
    pub trial: u32,
    /// Seed of the session.
    pub seed: u64,
    /// Name of the agent.
    pub agent: String,
    /// Name of the model, if the agent asks one.
    pub model: Option<String>,
    /// Author of each `finish`.
    pub answers: Answers,
    /// Grade of the episode.
    pub grade: Grade,
    /// Cause of a failure.
    pub attribution: Option<Attribution>,
    /// Reason for which the environment ended the episode.
    pub stopped: Option<EnvironmentError>,
    /// True if the simulator or the simulated user caused the failure. The episode then counts in no
    /// share.
    #[serde(default)]
    pub excluded: bool,
    /// Injected faults of calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Rule>,
    /// Tokens of the model, sent and received.
    pub tokens: u64,
    /// Duration in milliseconds, if the episode waited for a model or a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// Steps of the agent.
    pub steps: Vec<Step>,
}

impl Episode {
    /// Returns true if a model or a server failed before the episode ended. It then shows nothing about
    /// the agent.
    pub fn is_unfinished(&self) -> bool {
        self.stopped.as_ref().is_some_and(EnvironmentError::is_outage)
    }

    /// Returns true if the episode ended, and neither the simulator nor the user caused its failure.
    pub fn counts(&self) -> bool {
        !self.is_unfinished() && !self.excluded
    }

    /// Returns the tokens that the model's server reported.
    pub fn usage(&self) -> Usage {
        let asked = self.steps.iter().filter_map(|step| match step {
            Step::Noted(Note::Asked(asked)) => asked.usage,
            _ => None,
        });
        asked.fold(Usage::default(), Usage::plus)
    }

    /// Returns the number of calls.
    pub fn calls(&self) -> u64 {
        self.steps.iter().filter(|step| matches!(step, Step::Called { .. })).count() as u64
    }
}

/// Setup of an episode.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Id of the task's row.
    pub task: String,
    /// Number of the trial, from 0.
    pub trial: u32,
    /// Seed of the session.
    pub seed: u64,
    /// Limits of the episode.
    pub budget: Budget,
    /// Name of the agent.
    pub agent: String,
    /// Name of the model.
    pub model: Option<String>,
}

/// Place and conditions of an episode.
#[derive(Default)]
pub struct Arena {
    /// Server that runs and grades the episode. None means this process.
    pub server: Option<Arc<SessionServer>>,
    /// Injected faults of calls.
    pub faults: Faults,
    /// Model that fills in `finish` from the agent's messages. None means that the agent fills it in.
    pub transcriber: Option<Arc<Transcriber>>,
}

impl Arena {
    /// Returns true if episodes wait for a server or a transcriber.
    pub const fn waits(&self) -> bool {
        self.server.is_some() || self.transcriber.is_some()
    }
}

/// Runs one episode in this process and grades it. Returns the episode to store, and its verdicts.
///
/// # Errors
/// Returns an error if the task does not fit its world.
pub async fn run(
    agent: &dyn Agent,
    judge: &Judge,
    setup: Setup,
) -> Result<(Episode, JudgedEpisode), EpisodeError> {
    run_in(&Arena::default(), agent, judge, setup).await
}

/// Runs one episode in `arena` and grades it. The verdict of a server takes precedence; the measures come
/// from the same steps in this process.
///
/// # Errors
/// Returns an error if the task does not fit its world, or if the server does not serve it.
pub async fn run_in(
    arena: &Arena,
    agent: &dyn Agent,
    judge: &Judge,
    setup: Setup,
) -> Result<(Episode, JudgedEpisode), EpisodeError> {
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

/// Lets the agent act to the end. Returns the environment's reason for an early end, and the steps.
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

/// Runs and grades an episode in a session of a server.
async fn over_http(
    server: &SessionServer,
    arena: &Arena,
    agent: &dyn Agent,
    judge: &Judge,
    setup: &Setup,
) -> Result<(JudgedEpisode, Vec<Step>), EpisodeError> {
    let opened = server.open(&setup.task, setup.seed, &arena.faults, setup.budget).await;
    let (stopped, steps, verdict) = match opened {
        Err(error @ EnvironmentError::Transport { .. }) => (Some(error), Vec::new(), None),
        Err(error) => return Err(EpisodeError::Server(error)),
        Ok(mut environment) => {
            let (stopped, steps) = recorded(agent, &mut environment, arena, setup).await;
            match server.grade(environment).await {
                Ok(grade) => (stopped, steps, Some(grade)),
                // Without a verdict the episode shows nothing about the agent.
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

/// Returns true if a failure shows nothing about the agent.
const fn is_excluded(attribution: Option<Attribution>) -> bool {
    matches!(attribution, Some(Attribution::Environment))
}

/// Grades a stored episode again: its steps are repeated, without a model.
///
/// # Errors
/// Returns an error if the task does not fit its world.
pub async fn regrade(stored: &Episode, judge: &Judge) -> Result<(Episode, JudgedEpisode), EpisodeError> {
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

/// Chat model that several episodes share.
pub type SharedModel = Arc<dyn ChatModel>;
