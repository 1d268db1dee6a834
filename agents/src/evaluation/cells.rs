//! Shares of solved tasks by what the tasks are like, whose fault the failures are, and what the episodes took.

use std::collections::BTreeMap;
use std::fmt;

use diorama_llm::Usage;
use diorama_output::row::{Dialogue, ability_name};
use diorama_tested::trace::{Note, Step};
use serde::{Deserialize, Serialize};

use super::attribution::Attribution;
use super::judge::Judge;
use super::labelled::Share;
use super::retrieval::{Retrieval, Retrieved};
use crate::evaluation::batch::Episode;

/// A share with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Solved.
    pub solved: u64,
    /// Of so many episodes.
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
        let part = if share.all == 0 { 0.0 } else { share.of as f64 / share.all as f64 };
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

    /// A line of a table, with a name of so many columns.
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

/// A share of the episodes of one kind, and what they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellRate {
    /// The share.
    #[serde(flatten)]
    pub rate: Rate,
    /// Calls of an episode, the mean.
    pub calls: f64,
    /// Tokens of an episode, the mean.
    pub tokens: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    share: Share,
    calls: u64,
    tokens: u64,
}

impl Cell {
    fn merge(&mut self, other: &Self) {
        self.share.merge(&other.share);
        self.calls += other.calls;
        self.tokens += other.tokens;
    }
}

impl From<Cell> for CellRate {
    fn from(cell: Cell) -> Self {
        let mean = |sum: u64| if cell.share.all == 0 { 0.0 } else { sum as f64 / cell.share.all as f64 };
        Self { rate: cell.share.into(), calls: mean(cell.calls), tokens: mean(cell.tokens) }
    }
}

/// Adds episodes up by what their tasks are like.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    all: Cell,
    cells: BTreeMap<(&'static str, String), Cell>,
    attribution: BTreeMap<Attribution, u64>,
    /// Episodes that came to no end for want of a model or a server.
    unfinished: u64,
    masked: u64,
    credit: f64,
    usage: Usage,
    took_ms: Vec<u64>,
    retrieval: Retrieval,
    /// Notes of malformed replies and of ways that did not work, by role.
    malformed: BTreeMap<String, u64>,
    fell_back: BTreeMap<String, u64>,
}

/// What was added up.
#[derive(Clone, Debug, Serialize)]
pub struct Breakdown {
    /// Success with its interval.
    pub success_rate: Rate,
    /// Success by `ability`, `depth`, `phenomenon`, `pool` (APIs to tell apart), and `ability_and_phenomenon`.
    pub cells: BTreeMap<&'static str, BTreeMap<String, CellRate>>,
    /// Failed episodes, by whose fault they are.
    pub attribution: BTreeMap<Attribution, u64>,
    /// Episodes that came to no end for want of a model or a server; in no share.
    pub unfinished: u64,
    /// Failed episodes that say nothing of the agent: a fault of the simulator, or of the user; in no share.
    pub masked: u64,
    /// Partial credit: the share of the stages of an episode whose verdicts all hold, the mean over episodes.
    pub partial_credit: f64,
    /// What searches showed, where APIs have to be searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retrieval: Option<Retrieved>,
    /// Tokens of the episodes, masked and unfinished ones too.
    pub tokens: u64,
    /// What an episode took.
    pub effort: Effort,
    /// Replies that could not be read, by role.
    pub malformed: BTreeMap<String, u64>,
    /// Ways that were taken because another did not work, by role and way.
    pub fell_back: BTreeMap<String, u64>,
}

/// What an episode took: means over those in shares, and the times of those that waited for a model or a server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Effort {
    /// Calls.
    pub calls: f64,
    /// Tokens of the model, sent and received, as its server reports them.
    pub tokens: f64,
    /// Tokens that were sent, of all episodes.
    pub sent: u64,
    /// Tokens that came back, of all episodes.
    pub received: u64,
    /// Seconds, the median; none where nothing was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_p50: Option<f64>,
    /// Seconds that 95 of 100 episodes stay within.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_p95: Option<f64>,
}

/// Upper ends of the ranges that pools are told apart by.
const POOLS: [usize; 6] = [5, 10, 25, 50, 100, 250];

/// The range of a number of APIs: `6-10`.
fn pool_range(apis: usize) -> String {
    let above = POOLS.iter().position(|most| apis <= *most);
    let from = |at: usize| at.checked_sub(1).and_then(|before| POOLS.get(before)).map_or(1, |most| most + 1);
    match above.and_then(|at| Some((at, POOLS.get(at)?))) {
        Some((at, most)) => format!("{}-{most}", from(at)),
        None => format!("{} and more", from(POOLS.len())),
    }
}

impl Cells {
    /// Adds an episode.
    pub fn add(&mut self, row: &Dialogue, judge: &Judge, episode: &Episode) {
        self.usage = self.usage.plus(episode.usage());
        self.took_ms.extend(episode.took_ms);
        for step in &episode.steps {
            match step {
                Step::Noted(Note::Malformed { role, .. }) => {
                    *self.malformed.entry(role.clone()).or_default() += 1;
                }
                Step::Noted(Note::FellBack { role, to, .. }) => {
                    *self.fell_back.entry(format!("{role}: {to}")).or_default() += 1;
                }
                _ => {}
            }
        }
        if episode.is_unfinished() {
            self.unfinished += 1;
            return;
        }
        if let Some(attribution) = episode.attribution {
            *self.attribution.entry(attribution).or_default() += 1;
        }
        if episode.masked {
            self.masked += 1;
            return;
        }
        self.credit += judge.credit(&episode.grade);
        self.retrieval.add(judge, &episode.steps);
        let mut cell = Cell { share: Share::default(), calls: episode.calls(), tokens: episode.tokens };
        cell.share.add(episode.grade.success);
        self.all.merge(&cell);
        for place in places(row, judge) {
            self.cells.entry(place).or_default().merge(&cell);
        }
    }

    /// Adds others; the order of adding does not matter but for rounding.
    pub fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        for (place, cell) in &other.cells {
            self.cells.entry(place.clone()).or_default().merge(cell);
        }
        for (attribution, count) in &other.attribution {
            *self.attribution.entry(*attribution).or_default() += count;
        }
        for (mine, theirs) in
            [(&mut self.malformed, &other.malformed), (&mut self.fell_back, &other.fell_back)]
        {
            for (name, count) in theirs {
                *mine.entry(name.clone()).or_default() += count;
            }
        }
        self.unfinished += other.unfinished;
        self.masked += other.masked;
        self.credit += other.credit;
        self.usage = self.usage.plus(other.usage);
        self.took_ms.extend(&other.took_ms);
        self.retrieval.merge(&other.retrieval);
    }

    /// The share of solved tasks so far.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.all.share.into()
    }

    /// Tokens so far.
    #[must_use]
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// What was added up so far.
    #[must_use]
    pub fn breakdown(&self) -> Breakdown {
        let mut cells: BTreeMap<&'static str, BTreeMap<String, CellRate>> = BTreeMap::new();
        for ((dimension, name), cell) in &self.cells {
            cells.entry(dimension).or_default().insert(name.clone(), (*cell).into());
        }
        let all = CellRate::from(self.all);
        let mut took_ms = self.took_ms.clone();
        took_ms.sort_unstable();
        let seconds = |share: f64| {
            let at = (took_ms.len() as f64 * share).ceil() as usize;
            took_ms.get(at.saturating_sub(1)).map(|ms| *ms as f64 / 1000.0)
        };
        Breakdown {
            success_rate: all.rate,
            cells,
            attribution: self.attribution.clone(),
            unfinished: self.unfinished,
            masked: self.masked,
            partial_credit: self.credit / (self.all.share.all.max(1)) as f64,
            retrieval: self.retrieval.retrieved(),
            tokens: self.usage.total(),
            effort: Effort {
                calls: all.calls,
                tokens: all.tokens,
                sent: self.usage.input_tokens,
                received: self.usage.output_tokens,
                seconds_p50: seconds(0.5),
                seconds_p95: seconds(0.95),
            },
            malformed: self.malformed.clone(),
            fell_back: self.fell_back.clone(),
        }
    }
}

/// The cells that a row's episodes count in.
fn places(row: &Dialogue, judge: &Judge) -> Vec<(&'static str, String)> {
    let ability = ability_name(row.ability);
    let mut places = vec![("depth", row.depth.to_string()), ("pool", pool_range(judge.pool()))];
    for phenomenon in &row.phenomena {
        places.push(("ability_and_phenomenon", format!("{ability} / {phenomenon}")));
        places.push(("phenomenon", phenomenon.clone()));
    }
    places.push(("ability", ability.to_owned()));
    places
}

#[cfg(test)]
mod tests {
    use super::pool_range;

    #[test]
    fn pools_are_told_apart_by_ranges_without_gaps() {
        let ranges: Vec<String> = [1, 5, 6, 25, 26, 250, 251, 4000].map(pool_range).into();
        assert_eq!(
            ranges,
            ["1-5", "1-5", "6-10", "11-25", "26-50", "101-250", "251 and more", "251 and more"]
        );
    }
}
