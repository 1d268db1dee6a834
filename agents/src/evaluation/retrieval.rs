//! What the searches of episodes showed of the APIs that the reference calls: recall@k and whole-set completeness@k.

use std::collections::{BTreeMap, BTreeSet};

use diorama_simulator::engine::tools::TOOL_SEARCHER;
use diorama_tested::trace::Step;
use serde::Serialize;

use super::judge::Judge;

/// The cuts of a search's list that are looked at. A search finds five, and shows the API that issues a token after each that
/// needs one, so that 10 is all of it.
const CUTS: [usize; 4] = [1, 3, 5, 10];

/// Adds up what searches showed.
#[derive(Clone, Debug, Default)]
pub struct Retrieval {
    episodes: u64,
    recall: [f64; CUTS.len()],
    whole: [u64; CUTS.len()],
    searches: u64,
}

/// What searches showed, over the episodes in which APIs have to be searched for. Shares are from 0 to 1, by k.
#[derive(Clone, Debug, Serialize)]
pub struct Retrieved {
    /// Episodes in which APIs have to be searched for, and the reference calls some.
    pub episodes: u64,
    /// Searches of an episode, the mean.
    pub searches: f64,
    /// recall@k: the share of the reference's APIs that stand among the first k of any search, the mean over episodes.
    pub recall: BTreeMap<usize, f64>,
    /// completeness@k: the share of episodes in which all of them do (COMP@k of COLT, Qu et al. 2024).
    pub completeness: BTreeMap<usize, f64>,
}

impl Retrieval {
    /// Adds an episode.
    pub fn add(&mut self, judge: &Judge, steps: &[Step]) {
        let task = judge.task();
        let gold = task.gold.iter().map(|gold| &*gold.api).filter(|api| *api != TOOL_SEARCHER);
        let wanted: BTreeSet<&str> = gold.collect();
        if !task.episode.visible.is_empty() || wanted.is_empty() {
            return;
        }
        let lists: Vec<&Vec<String>> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Called { call, found, .. } if call.api == TOOL_SEARCHER => Some(found),
                _ => None,
            })
            .collect();
        self.episodes += 1;
        self.searches += lists.len() as u64;
        for (at, cut) in CUTS.iter().enumerate() {
            let shown: BTreeSet<&str> =
                lists.iter().flat_map(|list| list.iter().take(*cut)).map(String::as_str).collect();
            let hit = wanted.intersection(&shown).count();
            self.recall[at] += hit as f64 / wanted.len() as f64;
            self.whole[at] += u64::from(hit == wanted.len());
        }
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        self.episodes += other.episodes;
        self.searches += other.searches;
        for at in 0..CUTS.len() {
            self.recall[at] += other.recall[at];
            self.whole[at] += other.whole[at];
        }
    }

    /// What was added up; none where nothing had to be searched for.
    #[must_use]
    pub fn retrieved(&self) -> Option<Retrieved> {
        let of = |sum: f64| sum / self.episodes as f64;
        (self.episodes > 0).then(|| Retrieved {
            episodes: self.episodes,
            searches: of(self.searches as f64),
            recall: CUTS.into_iter().zip(self.recall.map(of)).collect(),
            completeness: CUTS.into_iter().zip(self.whole.map(|whole| of(whole as f64))).collect(),
        })
    }
}
