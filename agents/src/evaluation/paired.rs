//! The difference between two runs over the same episodes, in pairs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The difference between two runs over the same episodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Pairs.
    pub pairs: u64,
    /// Solved by both.
    pub both: u64,
    /// Solved by the first alone.
    pub first_only: u64,
    /// Solved by the second alone.
    pub second_only: u64,
    /// Solved by neither.
    pub neither: u64,
    /// The second's share less the first's, from -1 to 1.
    pub difference: f64,
    /// Its interval at 95 % (Wald's for paired shares, by how much tasks differ), the lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The exact sign test over tasks, two-sided: how likely a difference of this size is where there is none. With one trial of each
    /// task it is McNemar's.
    pub p: f64,
}

impl Difference {
    /// The difference over pairs: the task, and whether the first and the second is solved. None without a pair.
    pub fn of<'a>(solved: impl IntoIterator<Item = (&'a str, (bool, bool))>) -> Option<Self> {
        let (mut both, mut first_only, mut second_only, mut neither) = (0, 0, 0, 0);
        // Pairs of each task, and how many more the second solved. Pairs of one task are not independent.
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

/// Twice the lower tail of a fair coin's binomial, at most 1.
fn sign_test(b: u64, c: u64) -> f64 {
    let (n, least) = (b + c, b.min(c));
    // The logarithm of a binomial term, from the term before: large counts would leave the range of floats.
    let mut term = -(n as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for k in 0..=least {
        sum += term.exp();
        term += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    (2.0 * sum).min(1.0)
}

/// The part of a stored episode that is read here.
#[derive(Deserialize)]
struct Line {
    task: String,
    trial: u32,
    grade: Solved,
    #[serde(default)]
    faults: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    excluded: bool,
}

#[derive(Deserialize)]
struct Solved {
    success: bool,
}

/// The episodes of a run's folder by task and trial, and whether each is solved, without those that say nothing of the agent. Where a
/// run has episodes under faults, those are its own.
///
/// # Errors
/// When the file cannot be read, or holds something else.
pub fn solved(folder: &Path) -> std::io::Result<BTreeMap<(String, u32), bool>> {
    let file = BufReader::new(File::open(folder.join("episodes.jsonl"))?);
    let mut found: BTreeMap<(String, u32), (bool, Option<bool>)> = BTreeMap::new();
    for line in file.lines() {
        let Line { task, trial, grade, faults, excluded } =
            serde_json::from_str(&line?).map_err(std::io::Error::other)?;
        let own = (!faults.is_empty(), (!excluded).then_some(grade.success));
        let kept = found.entry((task, trial)).or_insert(own);
        *kept = (*kept).max(own);
    }
    Ok(found.into_iter().filter_map(|(key, (_, solved))| Some((key, solved?))).collect())
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
        // 2 * (1 + 24 + 276) / 2^24
        assert!((better.p - 602.0 / 16_777_216.0).abs() < 1e-9, "{}", better.p);
        // Four trials of each task that end alike tell as much as one.
        let alike = of_trials(4, [160, 8, 88, 144]).expect("pairs");
        assert_eq!((alike.pairs, alike.second_only, alike.p), (400, 88, better.p));
        assert!((alike.low - better.low).abs() < 1e-12 && (alike.high - better.high).abs() < 1e-12);
        assert!(sign_test(3000, 2000) < 1e-40 && sign_test(0, 0) == 1.0);
        assert_eq!(of_trials(1, [0, 0, 0, 0]), None);
    }
}
