//! The episodes of stored runs, as the console reads them.

use serde_json::Value as Json;

use crate::rows::{Count, ReadError};
use crate::turns::Turn;

/// Stored runs of agents. The package that knows their files implements it.
pub trait Runs: Send + Sync {
    /// The runs in order. A run is asked for by its position.
    fn list(&self) -> &[RunSummary];

    /// The episodes of a run that a filter takes, in their order: how many, and those from `offset` on, at most `limit`.
    fn find(&self, run: usize, filter: &EpisodeFilter<'_>, offset: usize, limit: usize) -> EpisodePage;

    /// The episode at a position of a run; none where there is no such episode.
    ///
    /// # Errors
    /// When it cannot be read.
    fn episode(&self, run: usize, position: usize) -> Result<Option<Episode>, ReadError>;
}

/// A run as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// Where it is.
    pub name: String,
    /// The agent, and its model where it has one.
    pub agent: String,
    /// Success over all episodes that count.
    pub success: ShareInterval,
    /// Success by heading (`Domain`, `Ability`) and name.
    pub shares: Vec<(String, Vec<(String, ShareInterval)>)>,
    /// Failed episodes by where they went wrong first.
    pub failures: Vec<Count>,
    /// Episodes by class of error.
    pub errors: Vec<Count>,
    /// Short facts about it, by name: seed, trials, grader.
    pub facts: Vec<(String, String)>,
}

/// A share with its interval at 95 %; all from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShareInterval {
    /// Episodes that were solved.
    pub solved: u64,
    /// Episodes in all.
    pub of: u64,
    /// The share.
    pub share: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A filter of episodes. A member that is none takes all episodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EpisodeFilter<'a> {
    /// True for solved episodes, false for failed ones.
    pub success: Option<bool>,
    /// The step at which the episode failed.
    pub failure: Option<&'a str>,
    /// A class of error that the episode has.
    pub error: Option<&'a str>,
    /// A domain that the task calls.
    pub domain: Option<&'a str>,
}

/// A part of the episodes that a filter takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodePage {
    /// The number of episodes that the filter takes, on all pages.
    pub total: usize,
    /// The episodes of this page.
    pub episodes: Vec<EpisodeSummary>,
}

/// An episode in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodeSummary {
    /// Its position in the run.
    pub position: usize,
    /// The task.
    pub task: String,
    /// The trial, from 0.
    pub trial: u32,
    /// True if faults were switched on.
    pub is_faulty: bool,
    /// True if it was solved.
    pub success: bool,
    /// True if it failed and the agent had no fair chance, or if it came to no end.
    pub excluded: bool,
    /// Where it went wrong first.
    pub failure: Option<String>,
    /// Classes of its errors.
    pub errors: Vec<String>,
    /// The domains of its task, where the dataset is known.
    pub domains: Vec<String>,
    /// The number of calls.
    pub calls: u64,
    /// Tokens of the model.
    pub tokens: u64,
}

/// An episode with its verdict, and the reference beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Its line in the list.
    pub summary: EpisodeSummary,
    /// The verdict, as the admin API writes it.
    pub grade: Json,
    /// The agent's steps.
    pub turns: Vec<Turn>,
    /// The reference conversation, where the dataset is known.
    pub reference: Option<Vec<Turn>>,
}
