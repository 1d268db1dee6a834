//! Many episodes: what is written down of each, several at a time, and stored runs graded anew.

use std::sync::Arc;

use diorama_llm::ChatModel;
use diorama_simulator::grade::Grade;
use diorama_tested::Agent;
use diorama_tested::trace::{Recording, Step, act_again};
use serde::{Deserialize, Serialize};

use super::attribution::{Attribution, attribute};
use super::environment::{Answers, Budget, EnvironmentError};
use super::judge::{Judge, Judged};
use crate::episode::EpisodeError;

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
    /// How stages end.
    pub answers: Answers,
    /// The verdict.
    pub grade: Grade,
    /// Whose fault a failure is.
    pub attribution: Option<Attribution>,
    /// Why the environment ended it, where it did.
    pub stopped: Option<EnvironmentError>,
    /// Tokens of the model, sent and received.
    pub tokens: u64,
    /// What was done, step by step.
    pub steps: Vec<Step>,
}

impl Episode {
    /// Whether it came to no end for want of a model or a server, and says nothing of the agent.
    #[must_use]
    pub const fn is_unfinished(&self) -> bool {
        matches!(self.stopped, Some(EnvironmentError::Model { .. } | EnvironmentError::Transport { .. }))
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
    /// How stages end.
    pub answers: Answers,
    /// What may be used up.
    pub budget: Budget,
    /// The agent's name.
    pub agent: String,
    /// The model's.
    pub model: Option<String>,
}

/// Runs one episode, grades it, and says what is to be stored of it.
///
/// # Errors
/// When the task does not fit its world.
pub async fn run(agent: &dyn Agent, judge: &Judge, setup: Setup) -> Result<(Episode, Judged), EpisodeError> {
    let mut environment = judge.open(setup.seed, setup.answers, setup.budget)?;
    let (acted, steps) = {
        let mut recording = Recording::new(&mut environment);
        let acted = agent.act(&mut recording).await;
        (acted, recording.into_steps())
    };
    let stopped = acted.err().filter(|error| *error != EnvironmentError::Over);
    let judged = judge.grade(environment, stopped.clone());
    let attribution = attribute(judge, &judged, &steps);
    let Setup { task, trial, seed, answers, agent, model, .. } = setup;
    let episode = Episode {
        episode: EPISODE_VERSION,
        task,
        trial,
        seed,
        agent,
        model,
        answers,
        grade: judged.grade.clone(),
        attribution,
        stopped,
        tokens: tokens(&steps),
        steps,
    };
    Ok((episode, judged))
}

/// Grades a stored episode anew: what was done is done again, and no model is asked.
///
/// # Errors
/// When the task does not fit its world.
pub async fn regrade(stored: &Episode, judge: &Judge) -> Result<(Episode, Judged), EpisodeError> {
    // What the environment ended then was ended by a budget that is not kept; it is not reached again.
    let mut environment = judge.open(stored.seed, stored.answers, Budget::USUAL)?;
    let _ = act_again(&stored.steps, &mut environment).await;
    let judged = judge.grade(environment, stored.stopped.clone());
    let attribution = attribute(judge, &judged, &stored.steps);
    Ok((Episode { grade: judged.grade.clone(), attribution, ..stored.clone() }, judged))
}

fn tokens(steps: &[Step]) -> u64 {
    use diorama_tested::trace::Note;
    let asked = steps.iter().filter_map(|step| match step {
        Step::Noted(Note::Asked(asked)) => Some(asked.usage.map_or(0, diorama_llm::Usage::total)),
        _ => None,
    });
    asked.sum()
}

/// A chat model that several episodes share.
pub type SharedModel = Arc<dyn ChatModel>;
