//! Shares of cases, with confidence intervals.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A count out of a total.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Share {
    /// Number of cases with the property.
    pub of: u64,
    /// Number of all cases.
    pub all: u64,
}

impl Share {
    /// Counts a case. `counts` is true if it has the property.
    pub fn add(&mut self, counts: bool) {
        self.of += u64::from(counts);
        self.all += 1;
    }

    /// Adds another share's counts.
    pub const fn merge(&mut self, other: &Self) {
        self.of += other.of;
        self.all += other.all;
    }

    /// Returns the Wilson interval at 95 % (Wilson 1927).
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        wilson(ratio(self.of as f64, self.all as f64), self.all as f64)
    }
}

/// Returns the Wilson interval at 95 % for a share `p` of `n` independent trials.
fn wilson(p: f64, n: f64) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    if n <= 0.0 {
        return (0.0, 1.0);
    }
    let scale = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

impl FromIterator<bool> for Share {
    fn from_iter<I: IntoIterator<Item = bool>>(all: I) -> Self {
        let mut share = Self::default();
        all.into_iter().for_each(|counts| share.add(counts));
        share
    }
}

impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", Rate::from(*self))
    }
}

/// A share with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Number of solved episodes.
    pub solved: u64,
    /// Number of all episodes.
    pub of: u64,
    /// The share, from 0 to 1.
    pub share: f64,
    /// Lower end of the Wilson interval at 95 %. For several trials per task, see [`Rate::of_tasks`].
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl From<Share> for Rate {
    fn from(share: Share) -> Self {
        let (low, high) = share.interval();
        let part = ratio(share.of as f64, share.all as f64);
        Self { solved: share.of, of: share.all, share: part, low, high }
    }
}

impl Rate {
    /// Returns the rate over the trials of tasks. Trials of one task are not independent. So the Wilson
    /// interval uses the number of independent trials with the same variation between tasks (Korn and
    /// Graubard 1998).
    #[must_use]
    pub fn of_tasks(tasks: &[Share]) -> Self {
        let mut whole = Share::default();
        tasks.iter().for_each(|task| whole.merge(task));
        let (n, p) = (whole.all as f64, ratio(whole.of as f64, whole.all as f64));
        let apart = |task: &Share| (task.of as f64 - p * task.all as f64).powi(2);
        let variance = ratio(tasks.iter().map(apart).sum(), n * n);
        let effective = match p > 0.0 && p < 1.0 {
            true if variance > 0.0 => (p * (1.0 - p) / variance).min(n),
            true => n,
            // If all trials ended alike, their variation is unknown, so only tasks count as independent.
            false => tasks.iter().filter(|task| task.all > 0).count() as f64,
        };
        let (low, high) = wilson(p, effective);
        Self { low, high, ..whole.into() }
    }

    /// Formats the share and its interval in per cent. Example: `61.5 % [52.0, 70.2]`.
    #[must_use]
    pub fn percent(&self) -> String {
        self.format_padded(0)
    }

    fn format_padded(&self, width: usize) -> String {
        let [share, low, high] = [self.share, self.low, self.high].map(|part| 100.0 * part);
        format!("{share:width$.1} % [{low:.1}, {high:.1}]")
    }

    /// Formats a line of a table. The name is padded to `columns`.
    #[must_use]
    pub fn line(&self, name: &str, columns: usize) -> String {
        format!("  {name:<columns$} {:>3} of {:>3} = {}\n", self.solved, self.of, self.format_padded(5))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {} = {}", self.solved, self.of, self.percent())
    }
}

/// Returns a part divided by the whole, or 0 if the whole is 0.
#[must_use]
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

#[cfg(test)]
mod tests {
    use super::{Rate, Share};

    #[test]
    fn trials_of_one_task_count_as_little_as_they_tell() {
        let tasks = |of: u64, all: u64, count: usize| vec![Share { of, all }; count];
        let width = |rate: Rate| rate.high - rate.low;
        // One trial per task gives the plain Wilson interval.
        let single = Rate::of_tasks(&[tasks(1, 1, 30), tasks(0, 1, 20)].concat());
        assert_eq!(single, Rate::from(Share { of: 30, all: 50 }));
        // Four trials that always end alike tell as much as one.
        let alike = Rate::of_tasks(&[tasks(4, 4, 30), tasks(0, 4, 20)].concat());
        assert_eq!((alike.solved, alike.of), (120, 200));
        assert!((alike.low - single.low).abs() < 1e-12 && (alike.high - single.high).abs() < 1e-12);
        assert!(width(alike) > 1.9 * width(Share { of: 120, all: 200 }.into()));
        // If all tasks are solved equally often, trials count as independent.
        assert_eq!(Rate::of_tasks(&tasks(2, 4, 50)), Rate::from(Share { of: 100, all: 200 }));
        // If all trials are solved, fifty tasks count, not two hundred trials.
        assert!(
            (width(Rate::of_tasks(&tasks(4, 4, 50))) - width(Share { of: 50, all: 50 }.into())).abs() < 1e-12
        );
        assert_eq!((Rate::of_tasks(&[]).low, Rate::of_tasks(&[]).high), (0.0, 1.0));
    }
}
