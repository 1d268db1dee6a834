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
    /// Its interval at 95 % (Wald's for paired shares), the lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// McNemar's exact test, two-sided: how likely a difference of this size is where there is none.
    pub p: f64,
}

impl Difference {
    /// The difference over pairs: whether the first and the second is solved. None without a pair.
    #[must_use]
    pub fn of(solved: impl IntoIterator<Item = (bool, bool)>) -> Option<Self> {
        let (mut both, mut first_only, mut second_only, mut neither) = (0, 0, 0, 0);
        for pair in solved {
            *match pair {
                (true, true) => &mut both,
                (true, false) => &mut first_only,
                (false, true) => &mut second_only,
                (false, false) => &mut neither,
            } += 1;
        }
        let pairs = both + first_only + second_only + neither;
        let (n, b, c) = (pairs as f64, first_only as f64, second_only as f64);
        let difference = (c - b) / n;
        let half = 1.959_964 * ((b + c - (c - b).powi(2) / n).max(0.0)).sqrt() / n;
        (pairs > 0).then(|| Self {
            pairs,
            both,
            first_only,
            second_only,
            neither,
            difference,
            low: (difference - half).max(-1.0),
            high: (difference + half).min(1.0),
            p: mcnemar(first_only, second_only),
        })
    }
}

/// Twice the lower tail of a fair coin's binomial, at most 1.
fn mcnemar(b: u64, c: u64) -> f64 {
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
    use super::{Difference, mcnemar};

    #[test]
    fn pairs_tell_a_difference_from_chance() {
        let of = |both: usize, first: usize, second: usize, neither: usize| {
            let all = [(true, true), (true, false), (false, true), (false, false)];
            let counts = [both, first, second, neither];
            Difference::of(
                all.into_iter().zip(counts).flat_map(|(pair, count)| std::iter::repeat_n(pair, count)),
            )
        };
        let same = of(40, 10, 10, 40).expect("pairs");
        assert_eq!((same.difference, same.p), (0.0, 1.0));
        let better = of(40, 2, 22, 36).expect("pairs");
        assert!(
            (better.difference - 0.2).abs() < 1e-12 && better.low > 0.1 && better.high < 0.3,
            "{better:?}"
        );
        // 2 * (1 + 24 + 276) / 2^24
        assert!((better.p - 602.0 / 16_777_216.0).abs() < 1e-9, "{}", better.p);
        assert!(mcnemar(3000, 2000) < 1e-40 && mcnemar(0, 0) == 1.0);
        assert_eq!(of(0, 0, 0, 0), None);
    }
}
