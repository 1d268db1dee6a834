//! Two runs over the same episodes: what either solves that the other does not.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Pairs of episodes, counted by which of the two is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Both.
    pub both: u64,
    /// The first alone.
    pub first: u64,
    /// The second alone.
    pub second: u64,
    /// Neither.
    pub neither: u64,
}

/// What pairs come to.
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

impl Pairs {
    /// Adds a pair.
    pub const fn add(&mut self, first: bool, second: bool) {
        let count = match (first, second) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.first,
            (false, true) => &mut self.second,
            (false, false) => &mut self.neither,
        };
        *count += 1;
    }

    /// Adds others.
    pub const fn merge(&mut self, other: &Self) {
        self.both += other.both;
        self.first += other.first;
        self.second += other.second;
        self.neither += other.neither;
    }

    /// What they come to; none without a pair.
    #[must_use]
    pub fn difference(&self) -> Option<Difference> {
        let pairs = self.both + self.first + self.second + self.neither;
        let (n, b, c) = (pairs as f64, self.first as f64, self.second as f64);
        let difference = (c - b) / n;
        let half = 1.959_964 * ((b + c - (c - b).powi(2) / n).max(0.0)).sqrt() / n;
        (pairs > 0).then(|| Difference {
            pairs,
            both: self.both,
            first_only: self.first,
            second_only: self.second,
            neither: self.neither,
            difference,
            low: (difference - half).max(-1.0),
            high: (difference + half).min(1.0),
            p: mcnemar(self.first, self.second),
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

/// What is read of a stored episode here.
#[derive(Deserialize)]
struct Line {
    task: String,
    trial: u32,
    grade: Solved,
    #[serde(default)]
    faults: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    masked: bool,
}

#[derive(Deserialize)]
struct Solved {
    success: bool,
}

/// Which episodes of a run's folder are solved, by task and trial, without those that say nothing of the agent. Where a
/// run has episodes under faults, those are its own.
///
/// # Errors
/// When the file cannot be read, or holds something else.
pub fn solved(folder: &Path) -> std::io::Result<BTreeMap<(String, u32), bool>> {
    let file = BufReader::new(File::open(folder.join("episodes.jsonl"))?);
    let mut found: BTreeMap<(String, u32), (bool, Option<bool>)> = BTreeMap::new();
    for line in file.lines() {
        let Line { task, trial, grade, faults, masked } =
            serde_json::from_str(&line?).map_err(std::io::Error::other)?;
        let own = (!faults.is_empty(), (!masked).then_some(grade.success));
        let kept = found.entry((task, trial)).or_insert(own);
        *kept = (*kept).max(own);
    }
    Ok(found.into_iter().filter_map(|(key, (_, solved))| Some((key, solved?))).collect())
}

#[cfg(test)]
mod tests {
    use super::{Pairs, mcnemar};

    #[test]
    fn pairs_tell_a_difference_from_chance() {
        let same = Pairs { both: 40, first: 10, second: 10, neither: 40 }.difference().expect("pairs");
        assert_eq!((same.difference, same.p), (0.0, 1.0));
        let better = Pairs { both: 40, first: 2, second: 22, neither: 36 }.difference().expect("pairs");
        assert!(
            (better.difference - 0.2).abs() < 1e-12 && better.low > 0.1 && better.high < 0.3,
            "{better:?}"
        );
        // 2 * (1 + 24 + 276) / 2^24
        assert!((better.p - 602.0 / 16_777_216.0).abs() < 1e-9, "{}", better.p);
        assert!(mcnemar(3000, 2000) < 1e-40 && mcnemar(0, 0) == 1.0);
        assert_eq!(Pairs::default().difference(), None);
    }
}
