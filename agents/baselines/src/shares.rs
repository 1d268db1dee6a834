//! Shares of cases, each with its confidence interval.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A count out of a total.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Share {
    /// Those that have the property.
    pub of: u64,
    /// The total.
    pub all: u64,
}

impl Share {
    /// Counts one more.
    pub fn add(&mut self, counts: bool) {
        self.of += u64::from(counts);
        self.all += 1;
    }

    /// Adds others.
    pub const fn merge(&mut self, other: &Self) {
        self.of += other.of;
        self.all += other.all;
    }

    /// Wilson's interval at 95 % (Wilson 1927).
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        const Z: f64 = 1.959_964;
        if self.all == 0 {
            return (0.0, 1.0);
        }
        let (n, p) = (self.all as f64, self.of as f64 / self.all as f64);
        let scale = 1.0 + Z * Z / n;
        let centre = (p + Z * Z / (2.0 * n)) / scale;
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
        ((centre - half).max(0.0), (centre + half).min(1.0))
    }
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
    /// Episodes that were solved.
    pub solved: u64,
    /// Episodes in all.
    pub of: u64,
    /// From 0 to 1.
    pub share: f64,
    /// Wilson's interval at 95 %, its lower end.
    pub low: f64,
    /// Its upper end.
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
    /// The share and its interval in percent: `61.5 % [52.0, 70.2]`.
    #[must_use]
    pub fn percent(&self) -> String {
        self.padded(0)
    }

    fn padded(&self, width: usize) -> String {
        let [share, low, high] = [self.share, self.low, self.high].map(|part| 100.0 * part);
        format!("{share:width$.1} % [{low:.1}, {high:.1}]")
    }

    /// A line of a table; the name is padded to `columns`.
    #[must_use]
    pub fn line(&self, name: &str, columns: usize) -> String {
        format!("  {name:<columns$} {:>3} of {:>3} = {}\n", self.solved, self.of, self.padded(5))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {} = {}", self.solved, self.of, self.percent())
    }
}

/// A part of a whole; 0 of an empty whole.
#[must_use]
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}
