//! Shares of solved tasks by ability, depth and phenomenon, and whose fault the failures are.

use std::collections::BTreeMap;

use diorama_output::row::Dialogue;
use serde::Serialize;

use super::attribution::Attribution;
use super::labelled::Share;
use crate::evaluation::batch::Episode;

/// A share with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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

/// Adds episodes up by what their tasks are like.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    all: Share,
    cells: BTreeMap<(&'static str, String), Share>,
    attribution: BTreeMap<Attribution, u64>,
    /// Episodes that came to no end for want of a model or a server.
    unfinished: u64,
    tokens: u64,
    /// Notes of malformed replies and of ways that did not work, by role.
    malformed: BTreeMap<String, u64>,
    fell_back: BTreeMap<String, u64>,
}

/// What was added up.
#[derive(Clone, Debug, Serialize)]
pub struct Breakdown {
    /// Success with its interval.
    pub success_rate: Rate,
    /// Success by `ability`, `depth` and `phenomenon`.
    pub cells: BTreeMap<&'static str, BTreeMap<String, Rate>>,
    /// Failed episodes, by whose fault they are.
    pub attribution: BTreeMap<Attribution, u64>,
    /// Episodes that came to no end for want of a model or a server; in no share.
    pub unfinished: u64,
    /// Tokens of the episodes.
    pub tokens: u64,
    /// Replies that could not be read, by role.
    pub malformed: BTreeMap<String, u64>,
    /// Ways that were taken because another did not work, by role and way.
    pub fell_back: BTreeMap<String, u64>,
}

impl Cells {
    /// Adds an episode.
    pub fn add(&mut self, row: &Dialogue, episode: &Episode) {
        use diorama_tested::trace::{Note, Step};
        self.tokens += episode.tokens;
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
        let ability = serde_json::to_value(row.ability).ok();
        let ability = ability.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        let phenomena = row.phenomena.iter().map(|name| ("phenomenon", name.clone()));
        let cells = [("ability", ability), ("depth", row.depth.to_string())];
        let solved = u64::from(episode.grade.success);
        let count = |share: &mut Share| *share = Share { of: share.of + solved, all: share.all + 1 };
        count(&mut self.all);
        for cell in cells.into_iter().chain(phenomena) {
            count(self.cells.entry(cell).or_default());
        }
        if let Some(attribution) = episode.attribution {
            *self.attribution.entry(attribution).or_default() += 1;
        }
    }

    /// Adds others; the order of adding does not matter.
    pub fn merge(&mut self, other: &Self) {
        let add = |a: &mut Share, b: &Share| *a = Share { of: a.of + b.of, all: a.all + b.all };
        add(&mut self.all, &other.all);
        for (cell, share) in &other.cells {
            add(self.cells.entry(cell.clone()).or_default(), share);
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
        self.tokens += other.tokens;
    }

    /// What was added up so far.
    #[must_use]
    pub fn breakdown(&self) -> Breakdown {
        let mut cells: BTreeMap<&'static str, BTreeMap<String, Rate>> = BTreeMap::new();
        for ((dimension, name), share) in &self.cells {
            cells.entry(dimension).or_default().insert(name.clone(), (*share).into());
        }
        Breakdown {
            success_rate: self.all.into(),
            cells,
            attribution: self.attribution.clone(),
            unfinished: self.unfinished,
            tokens: self.tokens,
            malformed: self.malformed.clone(),
            fell_back: self.fell_back.clone(),
        }
    }
}
