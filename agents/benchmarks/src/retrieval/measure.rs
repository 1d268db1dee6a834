//! Recall and completeness, with paired bootstrap intervals.

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// Counts of hits at which recall is taken.
pub const CUTS: [usize; 3] = [1, 5, 10];
/// Names of the measures: recall at each cut, then completeness at the last.
pub const MEASURES: [&str; CUTS.len() + 1] = ["recall_at_1", "recall_at_5", "recall_at_10", "complete_at_10"];
const RESAMPLES: usize = 2_000;

/// The measures of one search, by case.
#[derive(Clone, Debug, Default)]
pub struct SearchMeasures {
    cases: Vec<[f64; MEASURES.len()]>,
}

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The 2.5th percentile of the resampled means.
    pub low: f64,
    /// The 97.5th.
    pub high: f64,
}

impl SearchMeasures {
    /// Adds a case: positions of the APIs that answer it, and those found, best first.
    pub fn add(&mut self, gold: &BTreeSet<usize>, found: &[usize]) {
        let within = |cut: usize| {
            let hits = found.iter().take(cut).filter(|position| gold.contains(position)).count();
            hits as f64 / gold.len().max(1) as f64
        };
        let [one, five, ten] = CUTS.map(within);
        self.cases.push([one, five, ten, if ten >= 1.0 { 1.0 } else { 0.0 }]);
    }

    /// Returns each measure with its interval. With `baseline`, returns the difference to it in the same
    /// cases.
    #[must_use]
    pub fn intervals(&self, baseline: Option<&Self>) -> [Interval; MEASURES.len()] {
        std::array::from_fn(|at| {
            let value = |case: &[f64; MEASURES.len()]| case[at];
            let own = self.cases.iter().map(value);
            match baseline {
                Some(baseline) => {
                    let pairs = own.zip(baseline.cases.iter().map(value));
                    interval(&pairs.map(|(own, other)| own - other).collect::<Vec<f64>>())
                }
                None => interval(&own.collect::<Vec<f64>>()),
            }
        })
    }
}

/// Returns the bootstrap percentile interval of a mean. All measures use the same draws.
fn interval(values: &[f64]) -> Interval {
    let mean = |sum: f64| if values.is_empty() { 0.0 } else { sum / values.len() as f64 };
    let mut stream = ChaCha8Rng::seed_from_u64(0);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let draws = (0..values.len()).map(|_| values[stream.random_range(0..values.len())]);
            mean(draws.sum())
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means.get((share * RESAMPLES as f64) as usize).copied().unwrap_or(0.0);
    Interval { mean: mean(values.iter().sum()), low: at(0.025), high: at(0.975) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(found: &[&[usize]]) -> SearchMeasures {
        let mut measured = SearchMeasures::default();
        for found in found {
            measured.add(&BTreeSet::from([1, 2]), found);
        }
        measured
    }

    #[test]
    fn recall_counts_what_is_found_and_completeness_only_the_whole() {
        let all = measured(&[&[1, 2], &[1, 9], &[9, 8, 7, 6, 5, 4, 3, 2, 0, 1], &[]]);
        let means = all.intervals(None).map(|interval| interval.mean);
        assert_eq!(means, [0.25, 0.375, 0.625, 0.5]);
    }

    #[test]
    fn the_interval_of_a_difference_is_paired() {
        let better: Vec<&[usize]> = vec![&[1, 2]; 40];
        let worse: Vec<&[usize]> = vec![&[1, 9]; 40];
        let [_, _, at_10, _] = measured(&better).intervals(Some(&measured(&worse)));
        assert_eq!((at_10.mean, at_10.low, at_10.high), (0.5, 0.5, 0.5));
        let mixed: Vec<&[usize]> = [&[1, 2][..], &[9, 9]].repeat(20);
        let [_, _, at_10, _] = measured(&mixed).intervals(None);
        assert!(at_10.low > 0.3 && at_10.low < 0.5 && at_10.high > 0.5 && at_10.high < 0.7, "{at_10:?}");
    }
}
