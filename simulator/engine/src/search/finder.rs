//! `toolsearch/3`: what `ToolSearcher` finds. Integers only.
//!
//! Words are ranked by BM25 over an API's name (a word there counts 6), its search phrases (3), its description (2), its
//! domain (1) and its parameters (1). A word's count `c` in an API whose counts add up to `l`, on average `a`, is worth
//! `1024 · 22c / (10c + 3 + 9l/a)` times its rarity, `log2((2n + 2) / (2df + 1))` in 256ths. That ranking, the one by
//! `minilm-static-1` and needs are fused. The model sums integers, divides and takes one square root, all of which IEEE 754
//! rounds in one way only; its vectors are rounded to 16 bits, and the rest is integers: the same hits on every machine.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::entry::ApiEntry;
use super::fusion::Fusion;
use super::score::best_first;
use super::words::{log2, wanted, words};
use crate::embed::{EmbedError, StaticEmbedder, embedded};

/// The weights of a word in a name, in search phrases, in a description, in a domain's title and in parameters.
const WEIGHTS: [u64; 5] = [6, 3, 2, 1, 1];
/// The number of entries that count in each ranking.
const DEPTH: usize = 50;

/// An index of the APIs of one world for `ToolSearcher`.
#[derive(Debug)]
pub struct ToolFinder {
    /// The position at which each entry was given.
    given: Vec<usize>,
    /// Where each word stands, and what it is worth there.
    words: HashMap<String, Vec<(usize, i64)>>,
    fusion: Fusion,
    model: Arc<StaticEmbedder>,
}

impl ToolFinder {
    /// Indexes APIs.
    ///
    /// # Errors
    /// When the program was built with damaged model files.
    pub fn new(entries: Vec<ApiEntry>) -> Result<Self, EmbedError> {
        let (given, entries) = ApiEntry::sorted(entries);
        let model = embedded()?;
        Ok(Self { words: index(&entries), fusion: Fusion::new(&entries, &*model)?, model, given })
    }

    /// The APIs that fit keywords best by their positions among the entries given, best first, ties by name, with scores.
    #[must_use]
    pub fn found(&self, keywords: &str, limit: usize) -> Vec<(usize, u32)> {
        let mut scores: BTreeMap<usize, i64> = BTreeMap::new();
        for (position, worth) in wanted(keywords).iter().filter_map(|word| self.words.get(word)).flatten() {
            *scores.entry(*position).or_default() += worth;
        }
        let mut by_words: Vec<(i64, usize)> = scores.into_iter().map(|(at, score)| (score, at)).collect();
        by_words.retain(|(score, _)| *score > 0);
        best_first(&mut by_words);
        // The model in the program does not fail.
        let near = self.fusion.nearest(keywords, &*self.model, DEPTH, |_| true).unwrap_or_default();
        let mut by_words = by_words.into_iter().map(|(_, position)| position).take(DEPTH);
        let mut by_meaning = near.into_iter().map(|(_, position)| position);
        let fused = self.fusion.fused([&mut by_words, &mut by_meaning], true, |_| true);
        let best = fused.best.into_iter().take(limit);
        best.filter_map(|(score, at)| Some((*self.given.get(at)?, u32::try_from(score).ok()?))).collect()
    }
}

/// BM25's worth of each word in each entry.
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
