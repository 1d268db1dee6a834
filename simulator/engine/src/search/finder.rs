//! `toolsearch/3`, the search of `ToolSearcher`. Integers only.
//!
//! Words are ranked by BM25 over an API's name (weight 6), search phrases (3), description (2), domain (1)
//! and parameters (1). A word with weighted count `c`, in an API with weighted length `l` of average `a`,
//! scores `1024 · 22c / (10c + 3 + 9l/a)` times its rarity. The rarity is `log2((2n + 2) / (2df + 1))` in
//! 256ths. That ranking is fused with the ranking by `minilm-static-1` and with needs. The model sums
//! integers, divides and takes one square root. IEEE 754 rounds all of these uniquely. Its vectors are
//! rounded to 16 bits, and the rest is integers, so every machine finds the same hits.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::entry::ApiEntry;
use super::fusion::Fusion;
use super::score::best_first;
use super::words::{log2, wanted, words};
use crate::embed::{EmbedError, StaticEmbedder, embedded};

/// The weights of words in the name, search phrases, description, domain title and parameters.
const WEIGHTS: [u64; 5] = [6, 3, 2, 1, 1];
/// Number of entries of each ranking that count.
const DEPTH: usize = 50;

/// An index of one world's APIs for `ToolSearcher`.
#[derive(Debug)]
pub struct ToolFinder {
    /// The original position of each entry.
    given: Vec<usize>,
    /// For each word, the entries that contain it, with its score there.
    words: HashMap<String, Vec<(usize, i64)>>,
    fusion: Fusion,
    model: Arc<StaticEmbedder>,
}

impl ToolFinder {
    /// Indexes APIs.
    ///
    /// # Errors
    /// Returns an error if the program was built with damaged model files.
    pub fn new(entries: Vec<ApiEntry>) -> Result<Self, EmbedError> {
        let (given, entries) = ApiEntry::sorted(entries);
        let model = embedded()?;
        Ok(Self { words: index(&entries), fusion: Fusion::new(&entries, &*model)?, model, given })
    }

    /// Returns the original positions and scores of the APIs that fit keywords best. The best is first; ties
    /// are sorted by name.
    #[must_use]
    pub fn found(&self, keywords: &str, limit: usize) -> Vec<(usize, u32)> {
        let mut scores: BTreeMap<usize, i64> = BTreeMap::new();
        for (position, worth) in wanted(keywords).iter().filter_map(|word| self.words.get(word)).flatten() {
            *scores.entry(*position).or_default() += worth;
        }
        let mut by_words: Vec<(i64, usize)> = scores.into_iter().map(|(at, score)| (score, at)).collect();
        by_words.retain(|(score, _)| *score > 0);
        best_first(&mut by_words);
        // The compiled-in model does not fail.
        let near = self.fusion.nearest(keywords, &*self.model, DEPTH, |_| true).unwrap_or_default();
        let mut by_words = by_words.into_iter().map(|(_, position)| position).take(DEPTH);
        let mut by_meaning = near.into_iter().map(|(_, position)| position);
        let fused = self.fusion.fused([&mut by_words, &mut by_meaning], true, |_| true);
        let best = fused.best.into_iter().take(limit);
        best.filter_map(|(score, at)| Some((*self.given.get(at)?, u32::try_from(score).ok()?))).collect()
    }
}

/// Returns the BM25 score of each word in each entry.
fn index(entries: &[ApiEntry]) -> HashMap<String, Vec<(usize, i64)>> {
    let counts: Vec<BTreeMap<String, u64>> = entries.iter().map(counts).collect();
    let length = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>();
    let all: u64 = counts.iter().map(length).sum::<u64>().max(1);
    let number = entries.len() as u64;
    let mut places: HashMap<String, Vec<(usize, i64)>> = HashMap::new();
    for (position, counts) in counts.into_iter().enumerate() {
        let length = length(&counts);
        for (word, count) in counts {
            let worth = 1024 * 22 * count / (10 * count + 3 + 9 * length * number / all);
            places.entry(word).or_default().push((position, worth as i64));
        }
    }
    for places in places.values_mut() {
        let rarity = i64::from(log2(2 * number + 2)) - i64::from(log2(2 * places.len() as u64 + 1));
        places.iter_mut().for_each(|(_, worth)| *worth *= rarity);
    }
    places
}

fn counts(entry: &ApiEntry) -> BTreeMap<String, u64> {
    let texts = [&entry.api, &entry.phrases, &entry.description, &entry.domain_title, &entry.parameters];
    let mut counts = BTreeMap::new();
    for (text, weight) in texts.into_iter().zip(WEIGHTS) {
        for word in words(text) {
            *counts.entry(word).or_insert(0) += weight;
        }
    }
    counts
}
