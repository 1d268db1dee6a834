//! Owns the episodes of stored runs in the form that the console reads.

use serde_json::Value as Json;

use crate::rows::{Count, ReadError};
use crate::turns::Turn;

/// Stored runs of agents. The package that reads their files implements it.
pub trait Runs: Send + Sync {
    /// Returns the runs in order. The position of a run identifies it.
    fn list(&self) -> &[RunSummary];

    /// Returns the number of a run's episodes that match a filter, and at most `limit` of them from `offset`
    /// on, in order.
    fn find(&self, run: usize, filter: &EpisodeFilter<'_>, offset: usize, limit: usize) -> EpisodePage;

    /// Returns the episode at a position of a run, or none if there is no such episode.
    ///
    /// # Errors
    /// Returns an error if the episode cannot be read.
    fn episode(&self, run: usize, position: usize) -> Result<Option<Episode>, ReadError>;

    /// Compares two runs over the episodes that both have, or returns none if they have none in common.
    fn compare(&self, first: usize, second: usize) -> Option<RunComparison>;
}

/// Difference of two runs over the same tasks and trials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunComparison {
    /// Episodes that both runs solved.
    pub both: u64,
    /// Episodes that only the first run solved.
    pub first_only: u64,
    /// Episodes that only the second run solved.
    pub second_only: u64,
    /// Episodes that neither run solved.
    pub neither: u64,
    /// Share of the second run less the share of the first, in `-1..=1`.
    pub difference: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Two-sided p-value of the sign test over tasks.
    pub p: f64,
    /// Episodes with different verdicts, in the order of the first run.
    pub differing: Vec<EpisodePair>,
}

/// An episode of two runs, by its position in each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodePair {
    /// Episode of the first run.
    pub first: EpisodeSummary,
    /// Episode of the second run.
    pub second: EpisodeSummary,
}

/// Summary of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// Location of the run.
    pub name: String,
    /// Name of the agent, with its model if it has one.
    pub agent: String,
    /// Success over all counted episodes.
    pub success: ShareInterval,
    /// Success by heading (`Domain`, `Ability`) and name.
    pub shares: Vec<(String, Vec<(String, ShareInterval)>)>,
    /// pass^k for each k from 2 on, over episodes without faults.
    pub pass_k: Vec<PassRate>,
    /// Failed episodes by their first cause.
    pub failures: Vec<Count>,
    /// Episodes by class of error.
    pub errors: Vec<Count>,
    /// Short facts by name: seed, trials, grader.
    pub facts: Vec<(String, String)>,
}

/// pass^k for one k: the probability that k trials of a task are all solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PassRate {
    /// Number of trials.
    pub k: u32,
    /// Value of pass^k, in `0..=1`.
    pub share: f64,
    /// Number of tasks with at least k counted trials.
    pub tasks: u64,
}

/// Share with its 95 % interval, all in `0..=1`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShareInterval {
    /// Number of solved episodes.
    pub solved: u64,
    /// Number of all episodes.
    pub of: u64,
    /// Value of the share.
    pub share: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Filter of episodes. A member that is none matches all episodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EpisodeFilter<'a> {
    /// True for solved episodes, false for failed ones.
    pub success: Option<bool>,
    /// First cause of the failure.
    pub failure: Option<&'a str>,
    /// A class of the episode's errors.
    pub error: Option<&'a str>,
    /// A domain that the task calls.
    pub domain: Option<&'a str>,
}

/// Page of the episodes that match a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodePage {
    /// Number of matching episodes on all pages.
    pub total: usize,
    /// Episodes of this page.
    pub episodes: Vec<EpisodeSummary>,
}

/// Episode in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodeSummary {
    /// Position of the episode in the run.
    pub position: usize,
    /// Id of the task.
    pub task: String,
    /// Number of the trial, from 0.
    pub trial: u32,
    /// True if the run injected faults.
    pub is_faulty: bool,
    /// True if the agent solved the task.
    pub success: bool,
    /// True if the episode is unfinished, or if the agent is not to blame for its failure.
    pub excluded: bool,
    /// First cause of the failure.
    pub failure: Option<String>,
    /// Classes of the errors.
    pub errors: Vec<String>,
    /// Domains of the task, if the dataset is known.
    pub domains: Vec<String>,
    /// Number of calls.
    pub calls: u64,
    /// Tokens of the model, sent and received.
    pub tokens: u64,
}

/// Episode with its verdict, and the reference beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Summary of the episode in the list.
    pub summary: EpisodeSummary,
    /// Grade in the form of the admin API.
    pub grade: Json,
    /// Steps of the agent.
    pub turns: Vec<Turn>,
    /// Reference conversation, if the dataset is known.
    pub reference: Option<Vec<Turn>>,
}
