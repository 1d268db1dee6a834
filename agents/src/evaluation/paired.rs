//! Owns the paired difference between two runs over the same episodes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Difference between two runs over the same episodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Number of pairs.
    pub pairs: u64,
    /// Pairs that both runs solved.
    pub both: u64,
    /// Pairs that only the first run solved.
    pub first_only: u64,
    /// Pairs that only the second run solved.
    pub second_only: u64,
    /// Pairs that neither run solved.
    pub neither: u64,
    /// Share of the second run less the share of the first, in `-1..=1`.
    pub difference: f64,
    /// Lower end of its 95 % interval: Wald's for paired shares, by the variance among tasks.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Two-sided p-value of the exact sign test over tasks: the probability of such a difference without
    /// a true one. With one trial of each task it is McNemar's.
    pub p: f64,
}

impl Difference {
    /// Returns the difference over pairs: the task, and two flags that are true if the first and the
    /// second run solved it. None without a pair.
    pub fn of<'a>(solved: impl IntoIterator<Item = (&'a str, (bool, bool))>) -> Option<Self> {
        let (mut both, mut first_only, mut second_only, mut neither) = (0, 0, 0, 0);
        // Number of pairs of each task, and the second run's lead. Pairs of one task are not independent.
        let mut tasks: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (task, pair) in solved {
            *match pair {
                (true, true) => &mut both,
                (true, false) => &mut first_only,
                (false, true) => &mut second_only,
                (false, false) => &mut neither,
            } += 1;
            let (pairs, more) = tasks.entry(task).or_default();
            *pairs += 1.0;
            *more += f64::from(i8::from(pair.1) - i8::from(pair.0));
        }
        let pairs = both + first_only + second_only + neither;
        let n = pairs as f64;
        let difference = (second_only as f64 - first_only as f64) / n;
        let apart = tasks.values().map(|(pairs, more)| (more - difference * pairs).powi(2));
        let half = 1.959_964 * apart.sum::<f64>().sqrt() / n;
        let count = |is: fn(f64) -> bool| tasks.values().filter(|(_, more)| is(*more)).count() as u64;
        (pairs > 0).then(|| Self {
            pairs,
            both,
            first_only,
            second_only,
            neither,
            difference,
            low: (difference - half).max(-1.0),
            high: (difference + half).min(1.0),
            p: sign_test(count(|more| more < 0.0), count(|more| more > 0.0)),
        })
    }
}

/// Returns twice the lower tail of a fair coin's binomial, at most 1.
fn sign_test(b: u64, c: u64) -> f64 {
    let (n, least) = (b + c, b.min(c));
    // The loop adds logarithms of binomial terms, because large counts would leave the range of floats.
    let mut term = -(n as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for k in 0..=least {
        sum += term.exp();
        term += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    (2.0 * sum).min(1.0)
}

/// The members of a stored episode that the comparison needs.
#[derive(Deserialize)]
struct Line {
    task: String,
    trial: u32,
    grade: EpisodeSuccess,
    #[serde(default)]
    faults: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    excluded: bool,
}

#[derive(Deserialize)]
struct EpisodeSuccess {
    success: bool,
}

/// Rank of an episode among those of its task and trial: first whether faults were injected, then whether it
/// counts, and is solved.
pub(crate) type Rank = (bool, Option<bool>);

/// Keeps the episode of the higher rank, so that episodes under faults take precedence over those without.
pub(crate) fn keep<K: Ord, E>(found: &mut BTreeMap<K, (Rank, E)>, key: K, rank: Rank, episode: E) {
    match found.entry(key) {
        Entry::Vacant(place) => _ = place.insert((rank, episode)),
        Entry::Occupied(mut kept) if kept.get().0 < rank => _ = kept.insert((rank, episode)),
        Entry::Occupied(_) => {}
    }
}

/// Returns the solved flags of a run's episodes by task and trial, without excluded ones. Episodes under
/// faults take precedence over those without.
///
/// # Errors
/// Returns an error if the file cannot be read, or holds something else.
pub fn solved(folder: &Path) -> std::io::Result<BTreeMap<(String, u32), bool>> {
    let file = BufReader::new(File::open(folder.join("episodes.jsonl"))?);
    let mut found = BTreeMap::new();
    for line in file.lines() {
        let Line { task, trial, grade, faults, excluded } =
            serde_json::from_str(&line?).map_err(std::io::Error::other)?;
        let rank = (!faults.is_empty(), (!excluded).then_some(grade.success));
        keep(&mut found, (task, trial), rank, ());
    }
    Ok(found.into_iter().filter_map(|(key, ((_, solved), ()))| Some((key, solved?))).collect())
}

#[cfg(test)]
mod tests {
    use super::{Difference, sign_test};

    #[test]
    fn pairs_tell_a_difference_from_chance() {
        let of_trials = |trials: usize, [both, first, second, neither]: [usize; 4]| {
            let all = [(true, true), (true, false), (false, true), (false, false)];
            let counts = [both, first, second, neither];
            let pairs =
                all.into_iter().zip(counts).flat_map(|(pair, count)| std::iter::repeat_n(pair, count));
            let pairs: Vec<(String, (bool, bool))> =
                pairs.enumerate().map(|(at, pair)| ((at / trials).to_string(), pair)).collect();
            Difference::of(pairs.iter().map(|(task, pair)| (&**task, *pair)))
        };
        let same = of_trials(1, [40, 10, 10, 40]).expect("pairs");
        assert_eq!((same.difference, same.p), (0.0, 1.0));
        let better = of_trials(1, [40, 2, 22, 36]).expect("pairs");
        assert!(
            (better.difference - 0.2).abs() < 1e-12 && better.low > 0.1 && better.high < 0.3,
            "{better:?}"
        );
        // The expected value is 2 * (1 + 24 + 276) / 2^24.
        assert!((better.p - 602.0 / 16_777_216.0).abs() < 1e-9, "{}", better.p);
        // Four trials of a task with equal results count as much as one.
        let alike = of_trials(4, [160, 8, 88, 144]).expect("pairs");
        assert_eq!((alike.pairs, alike.second_only, alike.p), (400, 88, better.p));
        assert!((alike.low - better.low).abs() < 1e-12 && (alike.high - better.high).abs() < 1e-12);
        assert!(sign_test(3000, 2000) < 1e-40 && sign_test(0, 0) == 1.0);
        assert_eq!(of_trials(1, [0, 0, 0, 0]), None);
    }
}
