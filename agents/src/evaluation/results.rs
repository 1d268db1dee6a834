//! Owns the results of a run: measured episodes, grouped and averaged.

use std::collections::BTreeMap;

use diorama_llm::Usage;
use serde::{Deserialize, Serialize};

use super::attribution::Attribution;
use super::measures::{EpisodeMeasures, RECALL_CUTOFFS};
use super::shares::{Rate, Share, ratio};

/// Results of an agent over a set of tasks. Shares are in `0..=1`, without unfinished and excluded
/// episodes. A value is none if no episode measures it.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// Number of tasks.
    pub tasks: u64,
    /// Share of solved tasks, over all trials.
    pub success: f64,
    /// Success with its interval.
    pub success_rate: Rate,
    /// Share of episodes whose calls hold the reference APIs in order (RestGPT's correct-path rate).
    pub correct_path: Option<f64>,
    /// Mean number of calls beyond the reference calls, over solved tasks (RestGPT's Δ solution length).
    pub delta_solution_length: Option<f64>,
    /// Share of reference calls that agents made with the same arguments, up to renaming of tokens and
    /// keys of new records.
    pub call_accuracy: Option<f64>,
    /// Mean ROUGE-L (F1) of the final answer against the reference answer.
    pub rouge_l: Option<f64>,
    /// Errors by class, counted once per episode.
    pub errors: BTreeMap<String, u64>,
    /// pass^k: probability that k trials of a task are all solved, estimated without bias as in τ-bench.
    /// With c of n trials solved, it is the share of the k-subsets of the n that lie within the c. The mean
    /// is over the tasks with at least k counted trials.
    pub pass_k: BTreeMap<String, PassRate>,
    /// Share of reference calls whose API some search of the agent showed. None if agents need not search
    /// for APIs.
    pub shown_calls: Option<f64>,
    /// Success by ability.
    pub success_by_ability: BTreeMap<String, f64>,
    /// Success over tasks whose reference outcome is not a refusal.
    pub success_without_refusals: Option<f64>,
    /// Success over tasks with answers and without changes.
    pub success_answer_only: Option<f64>,
    /// Success over tasks whose goals are all refused.
    pub success_refused: Option<f64>,
    /// Probability that values of the right kind, picked from the replies to the right calls, are the
    /// facts. It is the mean over tasks with answers and without changes.
    pub chance_answer_only: Option<f64>,
    /// Success by `ability`, `depth`, `tag`, `pool` (APIs to tell apart), and `ability_and_tag`.
    pub cells: BTreeMap<&'static str, BTreeMap<String, CellRate>>,
    /// Failed episodes by cause, including excluded ones.
    pub attribution: BTreeMap<Attribution, u64>,
    /// Episodes in which a model or a server failed before the end.
    pub unfinished: u64,
    /// Failed episodes that the simulator or the simulated user caused.
    pub excluded: u64,
    /// Mean partial credit: the share of an episode's goals whose verdicts all hold.
    pub partial_credit: Option<f64>,
    /// Measures of searches, if agents must search for APIs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrieval: Option<RetrievalMeasures>,
    /// Tokens of the episodes, including excluded and unfinished ones.
    pub tokens: u64,
    /// Calls, tokens and seconds per episode.
    pub effort: Effort,
    /// Replies that could not be parsed, by role.
    pub malformed: BTreeMap<String, u64>,
    /// Fallbacks of agents, by role and way.
    pub fell_back: BTreeMap<String, u64>,
}

/// pass^k for one k.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PassRate {
    /// Value of pass^k, in `0..=1`.
    pub share: f64,
    /// Number of tasks with at least k counted trials.
    pub tasks: u64,
}

/// Success, calls and tokens of a group of episodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellRate {
    /// Success rate with its interval.
    #[serde(flatten)]
    pub rate: Rate,
    /// Mean number of calls per episode.
    pub calls: f64,
    /// Mean number of tokens per episode.
    pub tokens: f64,
}

/// Measures of searches over the episodes in which agents must search for APIs. Shares are in `0..=1`, by k.
#[derive(Clone, Debug, Serialize)]
pub struct RetrievalMeasures {
    /// Number of these episodes, without those whose reference calls no API.
    pub episodes: u64,
    /// Mean number of searches per episode.
    pub searches: f64,
    /// recall@k: mean share of the reference's APIs among the first k of any search.
    pub recall: BTreeMap<usize, f64>,
    /// completeness@k: share of episodes in which the first k of any search contain all of them (COMP@k of
    /// COLT, Qu et al. 2024).
    pub completeness: BTreeMap<usize, f64>,
}

/// Effort per episode: means over counted episodes, and durations of those that waited for a model or a
/// server.
#[derive(Clone, Debug, Serialize)]
pub struct Effort {
    /// Mean number of calls.
    pub calls: f64,
    /// Mean number of tokens, sent and received, as the model's server reports them.
    pub tokens: f64,
    /// Tokens sent by all episodes.
    pub sent: u64,
    /// Tokens received by all episodes.
    pub received: u64,
    /// Median duration in seconds. None if no episode waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_p50: Option<f64>,
    /// 95th percentile of the durations, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_p95: Option<f64>,
}

type Episodes<'a> = [&'a EpisodeMeasures];

impl Results {
    /// Groups and averages episodes. The trials of a task must be adjacent.
    pub fn of(all: &[EpisodeMeasures]) -> Self {
        let counted: Vec<&EpisodeMeasures> = all.iter().filter(|episode| episode.counts()).collect();
        let only = |keep: fn(&EpisodeMeasures) -> bool| -> Vec<&EpisodeMeasures> {
            counted.iter().copied().filter(|episode| keep(episode)).collect()
        };
        let (cell, usage) = (CellRate::of(&counted), usage(all));
        let answer_only = only(|episode| episode.chance.is_some());
        let mut groups: BTreeMap<&'static str, BTreeMap<String, Vec<&EpisodeMeasures>>> = BTreeMap::new();
        for episode in &counted {
            for (dimension, name) in &episode.groups {
                groups.entry(dimension).or_default().entry(name.clone()).or_default().push(episode);
            }
        }
        let cells: BTreeMap<_, BTreeMap<_, _>> = groups
            .into_iter()
            .map(|(dimension, groups)| {
                let cells = groups.into_iter().map(|(name, group)| (name, CellRate::of(&group)));
                (dimension, cells.collect())
            })
            .collect();
        let mut took_ms: Vec<u64> = all.iter().filter_map(|episode| episode.took_ms).collect();
        took_ms.sort_unstable();
        let seconds = |share: f64| {
            let at = (took_ms.len() as f64 * share).ceil() as usize;
            took_ms.get(at.saturating_sub(1)).map(|ms| *ms as f64 / 1000.0)
        };
        let searching = only(|episode| episode.searched.is_some_and(|_| episode.reference_calls > 0));
        let success = |episodes: &Episodes<'_>| mean_if_any(episodes, |episode| f64::from(episode.success));
        let by_ability = cells.get("ability").into_iter().flatten();
        Self {
            tasks: counted.chunk_by(|a, b| a.task == b.task).count() as u64,
            success: cell.rate.share,
            success_rate: cell.rate,
            correct_path: mean_if_any(&counted, |episode| f64::from(episode.correct_path)),
            delta_solution_length: mean_if_any(&only(|episode| episode.success), |episode| {
                episode.extra_calls as f64
            }),
            call_accuracy: Some(sum(&counted, |episode| episode.reference_calls as f64))
                .filter(|calls| *calls > 0.0)
                .map(|calls| sum(&counted, |episode| episode.matched_calls as f64) / calls),
            rouge_l: mean_if_any(&counted, |episode| episode.rouge_l),
            errors: counts(counted.iter().flat_map(|episode| episode.errors.iter().cloned())),
            pass_k: pass_k(&counted),
            shown_calls: (!searching.is_empty()).then(|| {
                let shown =
                    |episode: &EpisodeMeasures| episode.searched.map_or(0, |found| found.shown_calls) as f64;
                sum(&searching, shown) / sum(&searching, |episode| episode.reference_calls as f64)
            }),
            success_by_ability: by_ability.map(|(name, cell)| (name.clone(), cell.rate.share)).collect(),
            success_without_refusals: success(&only(|episode| !episode.has_refusal)),
            success_answer_only: success(&answer_only),
            success_refused: success(&only(|episode| episode.is_refused)),
            chance_answer_only: mean_if_any(&answer_only, |episode| episode.chance.unwrap_or(0.0)),
            cells,
            attribution: counts(
                all.iter().filter(|episode| !episode.unfinished).filter_map(|episode| episode.attribution),
            ),
            unfinished: all.iter().filter(|episode| episode.unfinished).count() as u64,
            excluded: all.iter().filter(|episode| !episode.unfinished && episode.excluded).count() as u64,
            partial_credit: mean_if_any(&counted, |episode| episode.credit),
            retrieval: retrieval_measures(&searching),
            tokens: usage.total(),
            effort: Effort {
                calls: cell.calls,
                tokens: cell.tokens,
                sent: usage.input_tokens,
                received: usage.output_tokens,
                seconds_p50: seconds(0.5),
                seconds_p95: seconds(0.95),
            },
            malformed: counts(all.iter().flat_map(|episode| episode.malformed.iter().cloned())),
            fell_back: counts(all.iter().flat_map(|episode| episode.fell_back.iter().cloned())),
        }
    }
}

impl CellRate {
    fn of(group: &Episodes<'_>) -> Self {
        Self {
            rate: success_rate(group.iter().copied()),
            calls: mean(group, |episode| episode.calls as f64),
            tokens: mean(group, |episode| episode.usage.total() as f64),
        }
    }
}

/// Returns the share of solved episodes. Its interval treats the trials of a task as dependent.
pub fn success_rate<'a>(episodes: impl Iterator<Item = &'a EpisodeMeasures>) -> Rate {
    let mut tasks: BTreeMap<&str, Share> = BTreeMap::new();
    episodes.for_each(|episode| tasks.entry(&episode.task).or_default().add(episode.success));
    Rate::of_tasks(&tasks.into_values().collect::<Vec<_>>())
}

/// Returns the tokens of all episodes.
pub fn usage(all: &[EpisodeMeasures]) -> Usage {
    all.iter().map(|episode| episode.usage).fold(Usage::default(), Usage::plus)
}

fn sum(episodes: &Episodes<'_>, value: impl Fn(&EpisodeMeasures) -> f64) -> f64 {
    episodes.iter().fold(0.0, |sum, episode| sum + value(episode))
}

fn mean(episodes: &Episodes<'_>, value: impl Fn(&EpisodeMeasures) -> f64) -> f64 {
    ratio(sum(episodes, value), episodes.len() as f64)
}

/// Returns the mean over episodes, or none without episodes.
fn mean_if_any(episodes: &Episodes<'_>, value: impl Fn(&EpisodeMeasures) -> f64) -> Option<f64> {
    (!episodes.is_empty()).then(|| mean(episodes, value))
}

fn counts<K: Ord>(names: impl Iterator<Item = K>) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

fn pass_k(counted: &Episodes<'_>) -> BTreeMap<String, PassRate> {
    let tasks = counted
        .chunk_by(|a, b| a.task == b.task)
        .map(|trials| (trials.iter().filter(|trial| trial.success).count(), trials.len()));
    let rates = pass_rates(&tasks.collect::<Vec<_>>());
    (1..).map(|k: usize| k.to_string()).zip(rates).collect()
}

/// Returns pass^k for each k from 1 on, from the solved trials and all trials of each task. Tasks with fewer
/// than k trials do not count.
pub(crate) fn pass_rates(tasks: &[(usize, usize)]) -> Vec<PassRate> {
    let max_trials = tasks.iter().map(|(_, trials)| *trials).max().unwrap_or(0);
    let rate = |k: usize| {
        let enough: Vec<f64> = tasks
            .iter()
            .filter(|(_, trials)| *trials >= k)
            .map(|(solved, trials)| all_solved_share(k, *solved, *trials))
            .collect();
        let share = ratio(enough.iter().sum(), enough.len() as f64);
        PassRate { share, tasks: enough.len() as u64 }
    };
    (1..=max_trials).map(rate).collect()
}

/// Returns the share of the k-subsets of `n` trials that contain solved trials only.
fn all_solved_share(k: usize, solved: usize, n: usize) -> f64 {
    (0..k).map(|at| solved.saturating_sub(at) as f64 / (n - at).max(1) as f64).product()
}

fn retrieval_measures(searching: &Episodes<'_>) -> Option<RetrievalMeasures> {
    let by_cut = |value: fn(f64) -> f64| {
        let at = |at: usize| {
            mean(searching, |episode| {
                value(episode.searched.and_then(|found| found.recall).map_or(0.0, |recall| recall[at]))
            })
        };
        RECALL_CUTOFFS.into_iter().enumerate().map(|(index, cut)| (cut, at(index))).collect()
    };
    (!searching.is_empty()).then(|| RetrievalMeasures {
        episodes: searching.len() as u64,
        searches: mean(searching, |episode| episode.searched.map_or(0, |found| found.searches) as f64),
        recall: by_cut(|recall| recall),
        completeness: by_cut(|recall| f64::from(recall >= 1.0)),
    })
}

#[cfg(test)]
mod tests {
    use super::{PassRate, all_solved_share, pass_rates};

    #[test]
    fn pass_k_takes_all_trials_into_account() {
        assert_eq!(all_solved_share(1, 3, 4), 0.75);
        assert_eq!(all_solved_share(2, 3, 4), 0.5);
        assert_eq!(all_solved_share(4, 3, 4), 0.0);
        assert_eq!(all_solved_share(2, 2, 2), 1.0);
    }

    #[test]
    fn pass_k_is_over_tasks_with_enough_trials() {
        // Excluded trials leave two and one in two tasks, and those are solved.
        let rates = pass_rates(&[(3, 3), (2, 2), (1, 1), (0, 3)]);
        let expect = [(0.75, 4), (2.0 / 3.0, 3), (0.5, 2)].map(|(share, tasks)| PassRate { share, tasks });
        assert_eq!(rates, expect);
    }
}
